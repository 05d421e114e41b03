# SPDX-License-Identifier: BSD-3-Clause
"""One trace."""
import json
import os
from ctypes import POINTER, byref, c_char_p, c_uint64, c_void_p, cast
from typing import Any, Dict, Iterator, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _library as library
from ._library import Error, call, frame, text

BLOCK = 1 << 16  # events that are read at a time where it is not known how many there are


class Histogram(NamedTuple):
    """Times of one call site, or of the computations between two, in ns, over all ranks and visits."""

    count: int
    """how many values there are; if 0, all else is 0"""
    sum: int
    min: int
    max: int
    mean: float
    deviation: float
    max_rank: int
    """who had the largest one"""
    bins: numpy.ndarray
    """structured array in ascending order: count, min, max, mean, deviation. A value is in the bin with min <= value <= max."""


BIN = numpy.dtype([("count", "u8"), ("min", "u8"), ("max", "u8"), ("mean", "f8"), ("deviation", "f8")])
TOTALS = {"compute": 0, "elapsed": 1, "overhead": 2}


def open(path: Union[str, "os.PathLike[str]", bytes]) -> "Trace":
    """Opens a trace file, or one that is in memory (bytes). Raises spoor.Error if it is none, or damaged."""
    return Trace(path)


class Trace(library.Handle):
    """One trace: what all ranks of one MPI_COMM_WORLD did. Use it as a context manager, or close() it.

    Several threads may use one trace at the same time.
    """

    _close, _what = "close", "trace"

    def __init__(self, path: Union[str, "os.PathLike[str]", bytes]):
        if isinstance(path, bytes):
            self.path = None
            self._at = call("open_memory", b"trace", path, len(path))
        else:
            self.path = os.fspath(path)
            self._at = call("open", os.fsencode(self.path))

    def __repr__(self) -> str:
        return f"<spoor.Trace {self.path or 'in memory'}{': ' + str(self.ranks) + ' ranks' if self._at else ', closed'}>"

    # --- the job ---

    @property
    def meta(self) -> Dict[str, Any]:
        """The job's metadata (doc/metadata.md): "user", "job", "state", "hosts" ... They are what the job said of itself."""
        return json.loads(text(call("metadata", self._open)))

    @property
    def ranks(self) -> int:
        """How many ranks MPI_COMM_WORLD has."""
        return call("ranks", self._open)

    @property
    def threads(self) -> int:
        """The most threads that a rank has: 1 without MPI_THREAD_MULTIPLE."""
        return call("threads", self._open)

    def event_count(self, rank: int, thread: int = 0) -> int:
        """How many calls a thread of a rank made; 0 if there is none."""
        return call("thread_events", self._open, _number(rank), _number(thread))

    def host(self, rank: int) -> str:
        """The node of a rank, "" if it is not known."""
        return text(call("host", self._open, _number(rank)))

    @property
    def figures(self) -> Dict[str, float]:
        """The run in numbers, by name: "ranks", "events", "mpi_ns", "wait_ns", "parallel_efficiency" ... (doc/figures.md).

        Times are of all ranks together. What is not known is not there.
        """
        made = dict(library.columns("figures", self._open))
        return {name: float(value) for name, value in zip(made["figure"], made["value"])}

    # --- tables ---

    def sites(self) -> Any:
        """One row for each call site: an MPI function with its call path.

        Columns: site, function, name (where it is), path (frames from the innermost on, a line each), calls, ranks, ns (of
        all ranks), mean_ns, min_ns, max_ns, max_rank, bytes (passed on), unsized (calls of unknown size), wait_ns
        (estimated), wait_kind, unended_ns, imbalance (the most of a rank / the mean), late_rank (-1: none).
        """
        return frame("site_table", self._open)

    def matrix(self, what: str = "bytes", sparse: bool = True) -> Any:
        """Who sent how much to whom: (ranks, ranks), senders are rows.

        what: "bytes", "messages", "one_sided" (calls) or "one_sided_bytes". A scipy.sparse.coo_matrix of int64; with
        sparse=False a NumPy array.
        """
        made = dict(library.columns("matrix", self._open))
        if what not in made or what in ("sender", "receiver"):
            raise ValueError(f"what: {what!r} is none of bytes, messages, one_sided, one_sided_bytes")
        shape = (self.ranks, self.ranks)
        used = made[what] != 0
        at = made["sender"][used], made["receiver"][used]
        if sparse:
            import scipy.sparse
            return scipy.sparse.coo_matrix((made[what][used], at), shape=shape)
        out = numpy.zeros(shape, numpy.int64)
        out[at] = made[what][used]
        return out

    def acts(self, rank: int, thread: int = 0) -> Any:
        """What MPI did for a thread of a rank, in order: one row for each message, collective operation, communicator.

        Columns: event (its number), act, collective, comm (equal numbers are the same communicator on all ranks; -1: not
        known), peer (a rank of MPI_COMM_WORLD; -1: nobody, or not known), tag (-1: any), bytes (-1: not known), message (its
        number among those of the same sender, receiver, communicator and tag, so that a send and its receive have the
        same), began (the event in which it began).
        """
        self._check(rank, thread)
        return frame("acts", self._open, rank, thread)

    def totals(self) -> Any:
        """One row for each rank: rank, host, events, compute, elapsed, overhead (ns; NaN: not known). Of thread 0."""
        out: Dict[str, Any] = {
            "rank": numpy.arange(self.ranks, dtype=numpy.int64),
            "host": numpy.array([self.host(r) for r in range(self.ranks)], dtype=object),
            "events": numpy.array([self.event_count(r) for r in range(self.ranks)], dtype=numpy.int64),
        }
        for name, kind in TOTALS.items():
            out[name] = numpy.array([self._total(kind, r) for r in range(self.ranks)])
        try:
            import pandas
        except ImportError:
            return out
        return pandas.DataFrame(out)

    def _total(self, kind: int, rank: int) -> float:
        ns = c_uint64()
        return float(ns.value) if call("rank_total", self._open, kind, rank, 0, byref(ns)) == 0 else float("nan")

    # --- times ---

    def histogram(self, site: int, to: Optional[int] = None) -> Histogram:
        """Times of the calls of a site; with `to`, of the computations between it and the next site that came."""
        edge = library.CALLS
        if to is not None:
            edges = {call("edge_to", self._open, _number(site), e): e for e in range(call("site_edges", self._open, _number(site)))}
            if to not in edges:
                raise Error(f"site {to} never came after site {site}")
            edge = edges[to]
        h = library.Histogram()
        if call("time", self._open, _number(site), edge, byref(h)) != 0:
            raise Error(f"there is no site {site}: the trace has {call('sites', self._open)}")
        bins = numpy.zeros(h.bins, BIN)
        one = library.Bin()
        for i in range(h.bins):
            call("bin", byref(h), i, byref(one))
            bins[i] = (one.count, one.min, one.max, one.mean, one.deviation)
        return Histogram(h.count, h.sum, h.min, h.max, h.mean, h.deviation, h.max_rank, bins)

    def timing(self, rank: int, thread: int = 0) -> Optional[Tuple[int, float, int]]:
        """What is known of the times of a rank's single calls (`timing: full`): of how many of them, the largest relative
        error, and when the first one began, in ns since 1970 (UTC). None: they are not known."""
        known = library.Timing()
        if call("timing", self._open, _number(rank), _number(thread), byref(known)) != 0:
            return None
        return known.events, known.error, known.start

    # --- events ---

    def events(self, rank: int, columns: Sequence[str] = (), start: int = 0, count: Optional[int] = None, thread: int = 0,
               times: bool = False) -> Dict[str, numpy.ndarray]:
        """Calls of a thread of a rank, from number `start` on, at most `count`: a dict of arrays, one element a call.

        "site" (uint32, for sites()) is always there; for each name in `columns`, that argument (int64): "count", "dest",
        "tag", "status.MPI_SOURCE" ... Integers and ranks are themselves, objects their number (r3 is 3), arrays their
        length. spoor.ABSENT: the function has no such argument, or did not set it; spoor.UNKNOWN: lossy. What is less than
        both is a text, for name(). With times, "begin" and "end" (uint64, ns from the rank's first call), or spoor.NO_TIME:
        only traces with `timing: full` have them.
        """
        self._check(rank, thread)
        left = max(0, self.event_count(rank, thread) - start)
        n = left if count is None else min(count, left)
        walk = _Walk(self, rank, thread, columns, times)
        try:
            walk.skip(start)
            return walk.read(n)
        finally:
            walk.end()

    def blocks(self, rank: int, columns: Sequence[str] = (), size: int = BLOCK, thread: int = 0,
               times: bool = False) -> Iterator[Dict[str, numpy.ndarray]]:
        """The same in pieces of at most `size` calls, for traces that do not fit into memory."""
        self._check(rank, thread)
        walk = _Walk(self, rank, thread, columns, times)
        try:
            while True:
                block = walk.read(size)
                if len(block["site"]) == 0:
                    return
                yield block
        finally:
            walk.end()

    def name(self, value: int) -> Optional[str]:
        """The text of a value of events() that is a constant or a text ("MPI_ANY_SOURCE"); None if it is a number."""
        if value >= library.NAMED_END:
            return None
        found = call("value_name", self._open, int(value))
        return None if found is None else text(found)

    def function(self, site: int) -> str:
        """The MPI function of a site."""
        found = call("site_function", self._open, _number(site))
        if found is None:
            raise Error(f"there is no site {site}: the trace has {call('sites', self._open)}")
        return text(found)

    def _check(self, rank: int, thread: int) -> None:
        if not 0 <= rank < self.ranks:
            raise Error(f"rank {rank} does not exist: the trace has {self.ranks} ranks")
        if not 0 <= thread < self.threads:
            raise Error(f"rank {rank} has no thread {thread}: the trace has at most {self.threads} a rank")

    # --- why it took so long ---

    def why(self) -> Dict[str, Any]:
        """What is said first of the run, and where its time went: a dict.

        "outcome": one word, as in doc/glossary.md ("efficient", "imbalance", "deadlock"); "verdict": what it waited for in the
        end, "" if it came to its end; "causes": causes(); "split": shares of the ranks' time (0 to 1) by an ideal network:
        "computation", "imbalance", "serialisation", "transfer"; {} if that is not known; "run_ns", "lost_ns" (of all ranks),
        "ideal_ns": NaN if they are not known.
        """
        made = {name: column[0] for name, column in library.columns("outcome", self._open)}
        parts = ("computation", "imbalance", "serialisation", "transfer")
        out: Dict[str, Any] = {name: made[name] for name in ("outcome", "verdict")}
        out.update((name, float(made[name])) for name in ("run_ns", "lost_ns", "ideal_ns"))
        out["split"] = {name: float(made[name]) for name in parts} if made["played"] else {}
        out["causes"] = self.causes()
        return out

    def causes(self) -> Any:
        """One row for each cause of lost time, most first: each lost second belongs to one cause, at one place.

        Columns: cause ("imbalance", "small-messages" ...; doc/glossary.md), share (of the ranks' time), ns (of all ranks),
        place (where, in words), ranks (who computes longer: "2,5-7"; ""), behind and site (what is computed between calls of
        these, or the calls of site; -1: not known), wait_site (where most of it is waited), place_ns (of ns, at this place),
        ranks_ns and others_ns (what one of those ranks computes there, and one of the others), busy (ranks that compute at a
        time), calls, bytes. No rows: it is not known how long ranks computed.
        """
        return frame("causes", self._open)

    def what_if(self) -> Any:
        """One row for each change with which the run was simulated, the one that saves most first.

        Columns: change ("even", "packed" ...; doc/man/what-if.md), saved (part of the run, 0 to 1; negative: it takes longer),
        run_ns (with it), base_ns (simulated without it), cause and place (that it removes). No rows: it cannot be simulated.
        """
        return frame("what_if", self._open)

    def waits(self) -> Any:
        """One row for each call site at which ranks waited for others.

        Columns: site, function, name, late_sender_ns, late_receiver_ns, collective_ns, unended_ns (in calls that never ended),
        exact (1: from the times of all events; 0: estimated from histograms).
        """
        return frame("waits", self._open)

    def waits_for(self) -> Any:
        """Who waits for whom: one row for each pair of ranks and call site, most first.

        Columns: waiter, late (the rank that it waits for), site (where it waits), waits (how often), ns. It is what ranks wait
        for what others compute first, on an ideal network. Raises spoor.Error if the trace cannot be played: it must be whole
        and lossless, with one thread a rank.
        """
        return frame("waits_for", self._open)

    def critical_path(self) -> Any:
        """The computations on which the length of the run hangs, on an ideal network, in order of time.

        Columns: rank, begin_ns (from the end of MPI_Init on), ns, behind and site (it computes between calls of these). What is
        shorter here makes the run shorter. Raises spoor.Error as waits_for().
        """
        return frame("critical_path", self._open)

    def compare(self, other: "Trace") -> Any:
        """The call sites of this run (a) and another one (b) side by side, as `spoor diff`: those that differ most come first.

        Columns: function, name, match ("exact", "line", "function"; "none": only one run has it), differs ("calls": in what it
        does; "time"; ""), change_ns (b - a, of a rank in the mean); then of a and of b, with the suffix _a or _b: site, calls,
        ranks, bytes, ns, wait_ns, compute_ns (before its calls).
        """
        return frame("compare", self._open, other._open)

    def compare_causes(self, other: "Trace") -> Any:
        """Why the other run (b) took longer than this one (a), or less: the largest difference comes first.

        Columns: cause (or "computation"), ns_a, ns_b, change_ns (of a rank in the mean), place (where the worse one has most of
        it). The sum of change_ns is how much longer b took. No rows: it is not known.
        """
        return frame("compare_causes", self._open, other._open)

    # --- for other tools ---

    def to_hatchet(self) -> Any:
        """The call paths with their times as a hatchet.GraphFrame, for Hatchet and Thicket."""
        import hatchet
        root: Dict[str, Any] = {"frame": {"name": "program"}, "metrics": {"time": 0.0, "calls": 0}, "children": []}
        for site in self.sites().itertuples():
            node = root
            for name in reversed(site.path.split("\n") + [site.function] if site.path else [site.function]):
                node = _child(node, name)
            node["metrics"] = {"time": site.ns / 1e9, "calls": site.calls}
        return hatchet.GraphFrame.from_literal([root])


def _child(node: Dict[str, Any], name: str) -> Dict[str, Any]:
    for child in node["children"]:
        if child["frame"]["name"] == name:
            return child
    node["children"].append({"frame": {"name": name}, "metrics": {"time": 0.0, "calls": 0}, "children": []})
    return node["children"][-1]


def _number(n: int) -> int:
    """A number that the library says does not exist, if it is none."""
    return n if 0 <= n < 2 ** 32 - 1 else 2 ** 32 - 2


class _Walk:
    """Events in blocks."""

    def __init__(self, trace: Trace, rank: int, thread: int, columns: Sequence[str], times: bool):
        self.trace, self.columns, self.times = trace, list(columns), times
        if "site" in self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError("columns: each argument once; 'site' is always there")
        self.at = call("walk_begin_thread", trace._open, rank, thread)

    def end(self) -> None:
        at, self.at = self.at, None
        if at is not None:
            call("walk_end", at)

    def skip(self, n: int) -> None:
        # times are known only if they are asked for from the first event on
        unused = numpy.empty(BLOCK if self.times else 0, numpy.uint64)
        while n > 0:
            done = call("walk_block", self.at, byref(library.Block(room=min(n, BLOCK), begin=unused.ctypes.data if self.times else None)))
            if done == 0:
                return
            n -= done

    def read(self, n: int) -> Dict[str, numpy.ndarray]:
        out: Dict[str, numpy.ndarray] = {"site": numpy.empty(n, numpy.uint32)}
        for name in self.columns:
            out[name] = numpy.empty(n, numpy.int64)
        for name in ("begin", "end") if self.times else ():
            out[name] = numpy.empty(n, numpy.uint64)
        k = len(self.columns)
        names = (c_char_p * k)(*[c.encode() for c in self.columns])
        values = (c_void_p * k)(*[out[c].ctypes.data for c in self.columns])
        block = library.Block(n, out["site"].ctypes.data, out["begin"].ctypes.data if self.times else None,
                              out["end"].ctypes.data if self.times else None, k, cast(names, POINTER(c_char_p)),
                              cast(values, POINTER(c_void_p)))
        done = call("walk_block", self.at, byref(block)) if n else 0
        return {name: array[:done] for name, array in out.items()} if done < n else out
