# SPDX-License-Identifier: BSD-3-Clause
"""An archive: the traces of many jobs."""
import os
from contextlib import nullcontext
from ctypes import byref
from datetime import datetime
from typing import Any, Dict, Optional, Union

from . import _library as library
from ._library import Error, call, frame
from ._trace import Trace

Time = Union[None, int, float, str, datetime]


def _seconds(when: Time) -> int:
    """Seconds since 1970; 0: no limit. A text is ISO 8601; without a zone it is local time."""
    if when is None:
        return 0
    if isinstance(when, str):
        when = datetime.fromisoformat(when)
    return int(when.timestamp() if isinstance(when, datetime) else when)


class Archive(library.Handle):
    """The index of an archive, brought up to date when it is opened. Without a path, the site's archive.

    Anybody may open it: those who may not read the site's index get one of their own traces. Root may not.
    """

    _close, _what = "archive_close", "archive"

    def __init__(self, path: Union[None, str, "os.PathLike[str]"] = None):
        self._at = call("archive_open", None if path is None else os.fsencode(path))

    def jobs(self, *, since: Time = None, until: Time = None, limit: int = 0, user: Optional[str] = None, state: Optional[str] = None,
             exe: Optional[str] = None, account: Optional[str] = None, partition: Optional[str] = None, job_name: Optional[str] = None,
             node: Optional[str] = None, jobs: Optional[str] = None) -> Any:
        """One row for each trace, the newest first.

        Columns: job, trace ("12.0"), user, state (Slurm's word), reason, exe, application, job_name, account, partition,
        start_ns and end_ns (since 1970, UTC), ranks, nodes, size (bytes of the file), mpi (share of the ranks' time, 0 to
        1; NaN: not known), path.

        Texts are lists of globs, separated by commas: user="alice,bob", exe="*halo*". jobs: "12", "12-15". since and until
        are of the start: a datetime, seconds since 1970, or "2026-03-31T12:00" (local time). limit: this number of the
        newest; 0: all.
        """
        return frame("jobs", self._open, byref(_filter(since, until, limit, user=user, state=state, exe=exe, account=account,
                                                          partition=partition, job_name=job_name, node=node, jobs=jobs)))

    def aggregate(self, by: str = "user", *, since: Time = None, until: Time = None, **conditions: Optional[str]) -> Any:
        """Sums over traces, as `spoor aggregate` has them: one row for each of what they are by.

        by: "user", "account", "partition", "executable", "application", "job", "node", "month", "function", "site", or "all".
        Times are node hours, shares 0 to 1 (doc/activity.md). conditions: as of jobs().
        """
        return frame("aggregate", self._open, by.encode(), byref(_filter(since, until, 0, **_known("aggregate", conditions))))

    def trend(self, *, since: Time = None, until: Time = None, **conditions: Optional[str]) -> Any:
        """One row for each application and number of ranks, as `spoor trend`: what takes longer than it did comes first.

        Columns: application, ranks, runs, median_s (of the last 20 runs), last_s, last_ns (start of the last one, since 1970),
        change (0.3: 30 % longer since then; 0: none), since_ns, cause and at (the call that takes longer, and where it is),
        before_s and after_s (what that takes). Without since: of 180 days. conditions: as of jobs().
        """
        return frame("trends", self._open, byref(_filter(since, until, 0, **_known("trend", conditions))))

    def runs(self, exe: str, **conditions: Any) -> Any:
        """The runs of a program, the oldest first: jobs() of it, with "start" (a date, UTC) and "elapsed_s"."""
        import pandas
        runs = self.jobs(exe=exe, **conditions)
        runs["start"] = pandas.to_datetime(runs["start_ns"])
        runs["elapsed_s"] = (runs["end_ns"] - runs["start_ns"]) / 1e9
        return runs.sort_values("start_ns", ignore_index=True)

    def open(self, trace: Any) -> Trace:
        """The trace of a row of jobs(), or of a name of its column `trace`."""
        if isinstance(trace, str):
            found = self.jobs(jobs=trace, limit=1)
            if len(found) == 0:
                raise Error(f"{trace}: no such trace in the archive")
            return Trace(found["path"][0])
        return Trace(trace.path)

    def compare(self, a: Any, b: Any) -> Any:
        """The call sites of two runs side by side: Trace.compare() of two traces, rows of jobs(), or names of traces."""
        with self._trace(a) as first, self._trace(b) as second:
            return first.compare(second)

    def compare_causes(self, a: Any, b: Any) -> Any:
        """Why b took longer than a: Trace.compare_causes() of two traces, rows of jobs(), or names of traces."""
        with self._trace(a) as first, self._trace(b) as second:
            return first.compare_causes(second)

    def _trace(self, run: Any) -> Any:
        return nullcontext(run) if isinstance(run, Trace) else self.open(run)


CONDITIONS = {"user", "state", "exe", "account", "partition", "job_name", "node", "jobs"}


def _known(function: str, conditions: Dict[str, Optional[str]]) -> Dict[str, Optional[str]]:
    wrong = set(conditions) - CONDITIONS
    if wrong:
        raise TypeError(f"{function}() has no condition {sorted(wrong)[0]!r}")
    return conditions


def _filter(since: Time, until: Time, limit: int, **texts: Optional[str]) -> library.Filter:
    out = library.Filter(since=_seconds(since), until=_seconds(until), limit=limit)
    for name, value in texts.items():
        setattr(out, name, None if value is None else value.encode())
    return out
