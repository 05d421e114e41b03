# SPDX-License-Identifier: BSD-3-Clause
"""otf2 - how many bytes the events of a rank would have in an OTF2 file, from the lines of `spoor dump`

OTF2 keeps every event. Score-P, which most write it with, records for an MPI call that the function is entered and left,
and in between a record for each message or collective operation that it began or completed. Sizes, as written by OTF2 3.0.2
(measured with its library):

    timestamp                9 bytes; here: one for Enter, one for Leave, none for what is in between
    Enter, Leave             1 byte, and the number of the function (2 bytes)
    MpiSend, MpiRecv         2 bytes, and peer, communicator, tag, length in bytes
    MpiIsend, MpiIrecv       the same and a request number
    request only             1 byte and a request number (MpiIrecvRequest, MpiIsendComplete)
    collective               6 bytes for begin, operation and communicator, and root, two lengths
    a number                 1 byte if it is 0 or undefined, else 1 byte and as many as it has

It is a low estimate: Score-P takes a timestamp for the records in between as well (9 bytes more each), definitions and
the anchor file are not counted, an element of a derived datatype counts as 8 bytes. There are no call paths in it."""

PAIR = 2 * (9 + 3)
REQUEST = 3  # their numbers count up in each rank; nearly all have two bytes

SENDS = {"MPI_" + name for name in ("Send", "Bsend", "Ssend", "Rsend", "Sendrecv", "Sendrecv_replace")}
ISENDS = {"MPI_" + name for name in ("Isend", "Ibsend", "Issend", "Irsend")}
RECEIVES = {"MPI_" + name for name in ("Recv", "Mrecv", "Sendrecv", "Sendrecv_replace")}
IRECEIVES = {"MPI_Irecv", "MPI_Imrecv"}
COLLECTIVES = {"MPI_" + name for name in (
    "Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Allgather", "Allgatherv", "Scatter", "Scatterv",
    "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan")}


def number(text):
    """Bytes of a number as spoor prints it: a named constant is an undefined one."""
    if not text.isdigit() or text == "0":
        return 1
    return 1 + (int(text).bit_length() + 7) // 8


def elements(values, *names):
    """The length of a message, by the first of these parameters that is there."""
    for name in names:
        if values.get(name, "-").isdigit():
            return number(str(8 * int(values[name])))
    return 3


def listed(values, name):
    text = values.get(name, "-")
    return text[1:-1].split(",") if text.startswith("[") else []


def message(values, peer, tag, *length):
    """A record of a message; none if there is nobody there (MPI_PROC_NULL)."""
    if not values.get(peer, "").isdigit():
        return 0
    return 2 + number(values[peer]) + 2 + number(values.get(tag, "0")) + elements(values, *length)


def completed(values):
    """What Wait* and Test* completed: a receive has a status, a send has none."""
    if values.get("flag") == "0":
        return 0
    if "requests" not in values or "index" in values:
        sources, tags, counts = [values.get("status.MPI_SOURCE", "-")], [values.get("status.MPI_TAG", "0")], ["8"]
    else:
        sources, tags, counts = (listed(values, "statuses." + n) for n in ("MPI_SOURCE", "MPI_TAG", "count"))
    size = 0
    for source, tag, count in zip(sources, tags, counts):
        if source == "-":
            size += 1 + REQUEST
        elif source.isdigit():
            size += 2 + number(source) + 2 + number(tag) + number(count) + REQUEST
    return size


def event(text):
    """Bytes of one event: a line of `spoor dump` without its number."""
    function, _, rest = text.partition(" ")
    values = dict(word.partition("=")[::2] for word in rest.split(" "))
    size = PAIR
    if function in SENDS:
        size += message(values, "dest", "tag", "count", "sendcount")
    elif function in ISENDS:
        size += message(values, "dest", "tag", "count") + (REQUEST if values.get("dest", "").isdigit() else 0)
    elif function in IRECEIVES:
        size += 1 + REQUEST
    elif function in COLLECTIVES:
        size += 6 + number(values.get("root", "-")) + elements(values, "count", "sendcount") + elements(values, "count", "recvcount")
    elif function.startswith(("MPI_Wait", "MPI_Test")) and function != "MPI_Test_cancelled":
        size += completed(values)
    if function in RECEIVES:
        size += message(values, "status.MPI_SOURCE", "status.MPI_TAG", "status.count")
    return size
