# SPDX-License-Identifier: BSD-3-Clause
"""standard - which send is whose receive, by the MPI standard alone: from the events of all ranks, as `spoor dump` prints them

    messages(events, size)     events[rank]: a list of lines "12 MPI_Isend count=1 ..."
                               -> [((rank, event that began the send), (rank, event that completed the receive)), ...]

What it rests on, and nothing else:
  - MPI 4.1, 3.5: of two messages from one process to another, in one communicator and with one tag, the one that was sent first is received by
    the receive that was posted first. So, with the sources and tags that statuses tell, the n-th of one is the n-th of the other.
  - 3.8.2: MPI_Mprobe and MPI_Improbe take a message like a receive that is posted then. MPI_Probe takes nothing.
  - 3.9: a persistent request is posted by each MPI_Start. 3.7.3: a request that MPI_Request_free frees is done all the same.
  - 7.4, 7.6: how MPI_Comm_split orders ranks, which ranks are the other group of an intercommunicator, in which order they merge.
Communicators are made in one order by all ranks (as the test programs do): the n-th call of one rank is that of all.
"""
import collections
import math
import re

WORD = re.compile(r'([\w.]+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
MAKES = {"MPI_Comm_dup": "newcomm", "MPI_Cart_create": "comm_cart", "MPI_Comm_split": "newcomm", "MPI_Intercomm_create": "newintercomm", "MPI_Intercomm_merge": "newintracomm"}


def parse(line):
    _, function, *_ = line.split(" ", 2)
    return function, dict(WORD.findall(line))


def items(text):
    return text[1:-1].split(",") if text not in ("[]", "-") else []


class Comm:
    """Groups as lists of ranks of MPI_COMM_WORLD; of an intercommunicator two. Equal on all ranks that are in it."""
    def __init__(self, name, *groups):
        self.name, self.groups = name, groups

    def own(self, rank):
        return next(g for g in self.groups if rank in g)

    def peers(self, rank):
        return self.groups[0] if len(self.groups) == 1 else next(g for g in self.groups if rank not in g)


def communicators(calls, size):
    """By rank and symbol."""
    known = [{"MPI_COMM_WORLD": Comm("world", list(range(size))), "MPI_COMM_SELF": Comm(("self", r), [r])} for r in range(size)]
    made = [[c for c in mine if c[0] in MAKES] for mine in calls]
    for n in range(len(made[0])):
        for rank in range(size):
            function, words = made[rank][n]
            symbol = words[MAKES[function]]
            if symbol.startswith("MPI_") or symbol in known[rank]:
                continue
            others = [made[r][n][1] for r in range(size)]
            if function == "MPI_Comm_split":
                parent = known[rank][words["comm"]]
                groups = [sorted((r for r in g if others[r]["color"] == words["color"]), key=lambda r: int(others[r]["key"])) for g in parent.groups]
            elif function == "MPI_Cart_create":  # 8.5.1: without `reorder`, as they were
                assert words["reorder"] == "0", words
                groups = [known[rank][words["comm_old"]].groups[0][:math.prod(map(int, items(words["dims"])))]]
            elif function == "MPI_Comm_dup":
                groups = known[rank][words["comm"]].groups
            elif function == "MPI_Intercomm_create":
                local = known[rank][words["local_comm"]].groups[0]
                leader = local[int(words["local_leader"])]
                other = known[leader][others[leader]["peer_comm"]].groups[0][int(others[leader]["remote_leader"])]
                remote = known[other][others[other]["local_comm"]].groups[0]
                groups = [local, remote]
            else:
                parent = known[rank][words["intercomm"]]
                low = sorted(parent.groups, key=lambda g: int(others[g[0]]["high"]))
                groups = [low[0] + low[1]]
            new = Comm((n, frozenset(map(tuple, groups))), *groups)
            for r in {r for g in groups for r in g}:
                known[r][made[r][n][1][MAKES[function]]] = new
    return known


class Rank:
    """Follows one rank's calls: what it sent and what it received, by channel."""
    def __init__(self, rank, known):
        self.rank, self.known = rank, known
        self.sent = collections.defaultdict(list)   # (comm, from, to, tag) -> events
        self.taken = []                             # [posted, channel or None, event that completed it]
        self.live, self.matched = {}, {}

    def comm(self, words):
        return self.known[words["comm"]]

    def send(self, n, comm, dest, tag):
        if dest != "MPI_PROC_NULL":
            self.sent[comm.name, self.rank, comm.peers(self.rank)[int(dest)], tag].append(n)

    def post(self):
        self.taken.append([len(self.taken), None, None])
        return self.taken[-1]

    def receive(self, n, entry, comm, source, tag):
        if source not in ("-", "MPI_PROC_NULL") and tag != "-":
            entry[1] = (comm.name, comm.peers(self.rank)[int(source)], self.rank, tag)
            entry[2] = n

    def start(self, n, request):
        if request not in self.live:  # of something that is no message
            return
        kind, comm, words, _ = self.live[request]
        entry = None
        if kind == "send":
            self.send(n, comm, words["dest"], words["tag"])
        elif kind == "recv" and words["source"] != "MPI_PROC_NULL":  # its status is rank 0 and tag 0 in MPICH before 4.2
            entry = self.post()
        self.live[request] = (kind, comm, words, entry)

    def complete(self, n, request, source, tag):
        kind, comm, words, entry = self.live.get(request, (None, None, None, None))
        if kind == "recv" and entry:
            self.receive(n, entry, comm, source, tag)
        if kind == "mrecv":
            entry[2] = n
        if "persistent" not in words if words else False:
            del self.live[request]
        elif words:
            self.live[request] = (kind, comm, words, None)

    def event(self, n, function, words):
        if "error" in words:
            return
        function = function[:-2] if function.endswith("_c") else function  # with counts of 64 bits
        if function in ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend"):
            self.send(n, self.comm(words), words["dest"], words["tag"])
        elif function in ("MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend"):
            self.live[words["request"]] = ("send", self.comm(words), words, None)
            self.start(n, words["request"])
        elif function in ("MPI_Send_init", "MPI_Ssend_init", "MPI_Rsend_init", "MPI_Bsend_init", "MPI_Recv_init"):
            kind = "recv" if function == "MPI_Recv_init" else "send"
            self.live[words["request"]] = (kind, self.comm(words), {**words, "persistent": True}, None)
        elif function == "MPI_Irecv":
            self.live[words["request"]] = ("recv", self.comm(words), words, None)
            self.start(n, words["request"])
        elif function in ("MPI_Start", "MPI_Startall"):
            for request in items(words["requests"]) if "requests" in words else [words["request"]]:
                self.start(n, request)
        elif function in ("MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"):
            if function != "MPI_Recv":
                self.send(n, self.comm(words), words["dest"], words["sendtag"])
            if words["source"] != "MPI_PROC_NULL":
                self.receive(n, self.post(), self.comm(words), words["status.MPI_SOURCE"], words["status.MPI_TAG"])
        elif function in ("MPI_Mprobe", "MPI_Improbe"):
            if words.get("flag", "1") == "1" and words["message"].startswith("m"):
                self.matched[words["message"]] = self.post()
                self.receive(n, self.matched[words["message"]], self.comm(words), words["status.MPI_SOURCE"], words["status.MPI_TAG"])
        elif function == "MPI_Mrecv" and words["message"] in self.matched:
            self.matched.pop(words["message"])[2] = n
        elif function == "MPI_Imrecv":
            self.live[words["request"]] = ("mrecv", None, words, self.matched.pop(words["message"]))
        elif function == "MPI_Request_free":
            self.live.pop(words["request"], None)
        elif function in ("MPI_Wait", "MPI_Test"):
            if words.get("flag", "1") == "1":
                self.complete(n, words["request"], words["status.MPI_SOURCE"], words["status.MPI_TAG"])
        elif function in ("MPI_Waitany", "MPI_Testany"):
            if words.get("flag", "1") == "1" and words["index"] != "MPI_UNDEFINED":
                self.complete(n, items(words["requests"])[int(words["index"])], words["status.MPI_SOURCE"], words["status.MPI_TAG"])
        elif function in ("MPI_Waitall", "MPI_Testall", "MPI_Waitsome", "MPI_Testsome"):
            if words.get("flag", "1") == "1":
                requests, sources, tags = items(words["requests"]), items(words["statuses.MPI_SOURCE"]), items(words["statuses.MPI_TAG"])
                which = [int(i) for i in items(words["indices"])] if "indices" in words else range(len(requests))
                for i, k in enumerate(which):
                    self.complete(n, requests[k], sources[i], tags[i])


def messages(events, size):
    calls = [[parse(line) for line in events[rank]] for rank in range(size)]
    known = communicators(calls, size)
    sent, pairs = collections.defaultdict(list), []
    received = collections.defaultdict(list)
    for rank in range(size):
        follow = Rank(rank, known[rank])
        for n, (function, words) in enumerate(calls[rank]):
            follow.event(n, function, words)
        sent.update(follow.sent)
        for _, channel, n in follow.taken: # in the order in which they were posted
            if channel:
                received[channel].append(n)
    for channel, ends in received.items():
        _, source, dest, _ = channel
        pairs += [((source, a), (dest, b)) for a, b in zip(sent[channel], ends)]
        assert len(sent[channel]) >= len(ends), (channel, sent[channel], ends)
    left = sum(len(ends) for ends in sent.values()) - len(pairs)
    return sorted(pairs), left
