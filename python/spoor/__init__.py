# SPDX-License-Identifier: BSD-3-Clause
"""Traces of MPI jobs, and archives of them, as arrays and data frames.

    import spoor
    t = spoor.open("halo.spoor")
    t.sites().nlargest(10, "ns")[["function", "name", "calls", "ns", "wait_ns"]]
    spoor.Archive().jobs(since="2026-01-01", user="alice")

All times are in nanoseconds, and ranks are those of MPI_COMM_WORLD, unless a docstring says otherwise. Whatever libspoor
refuses is a `spoor.Error` with its text: what is wrong, where, and what was expected. `help(spoor.Trace)` and
doc/python.md say what there is.
"""
from ._archive import Archive
from ._extrap import to_extrap
from ._library import ABSENT, NO_TIME, UNKNOWN, Error, call, text
from ._trace import Histogram, Trace, open

__version__ = "0.1.0"
__all__ = ["ABSENT", "Archive", "Error", "Histogram", "NO_TIME", "Trace", "UNKNOWN", "library_version", "open", "to_extrap"]


def library_version() -> str:
    """The version of the loaded libspoor."""
    return text(call("version"))
