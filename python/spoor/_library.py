# SPDX-License-Identifier: BSD-3-Clause
"""The C library: its functions and structures, as lib/spoor.h declares them. Nothing here says what a trace means."""
import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Optional, Sequence, Tuple

import numpy

API = 4
ERROR_SIZE = 512
CALLS = 0xFFFFFFFF
NAMED_END = -(2 ** 63) + 2 ** 32  # SPOOR_VALUE_ABSENT; what is less is a text
ABSENT = NAMED_END
UNKNOWN = NAMED_END + 1
NO_TIME = 2 ** 64 - 1


class Error(Exception):
    """What libspoor says: what is wrong, where, and what was expected."""


class Block(Structure):
    _fields_ = [("room", c_uint64), ("site", c_void_p), ("begin", c_void_p), ("end", c_void_p), ("columns", c_uint32),
                ("names", POINTER(c_char_p)), ("values", POINTER(c_void_p))]


class Histogram(Structure):
    _fields_ = [("count", c_uint64), ("sum", c_uint64), ("min", c_uint64), ("max", c_uint64), ("mean", c_double),
                ("deviation", c_double), ("min_rank", c_uint32), ("min_thread", c_uint32), ("max_rank", c_uint32),
                ("max_thread", c_uint32), ("min_visit", c_uint64), ("max_visit", c_uint64), ("bins", c_uint32),
                ("reserved", c_void_p)]


class Bin(Structure):
    _fields_ = [("count", c_uint64), ("min", c_uint64), ("max", c_uint64), ("mean", c_double), ("deviation", c_double)]


class Timing(Structure):
    _fields_ = [("events", c_uint64), ("error", c_double), ("start", c_int64)]


class Filter(Structure):
    _fields_ = [(name, c_char_p) for name in ("user", "state", "exe", "account", "partition", "job_name", "node", "jobs")] + [
        (name, c_int64) for name in ("since", "until", "limit")]


# Result, then arguments. Those that end in an error text have `str` for it.
FUNCTIONS = {
    "version": (c_char_p,),
    "api": (c_int,),
    "open": (c_void_p, c_char_p, str),
    "open_memory": (c_void_p, c_char_p, c_char_p, c_size_t, str),
    "close": (None, c_void_p),
    "metadata": (c_char_p, c_void_p),
    "ranks": (c_uint32, c_void_p),
    "threads": (c_uint32, c_void_p),
    "thread_events": (c_uint64, c_void_p, c_uint32, c_uint32),
    "host": (c_char_p, c_void_p, c_uint32),
    "sites": (c_uint32, c_void_p),
    "site_function": (c_char_p, c_void_p, c_uint32),
    "site_edges": (c_uint32, c_void_p, c_uint32),
    "edge_to": (c_uint32, c_void_p, c_uint32, c_uint32),
    "time": (c_int, c_void_p, c_uint32, c_uint32, POINTER(Histogram)),
    "bin": (c_int, POINTER(Histogram), c_uint32, POINTER(Bin)),
    "rank_total": (c_int, c_void_p, c_int, c_uint32, c_uint32, POINTER(c_uint64)),
    "timing": (c_int, c_void_p, c_uint32, c_uint32, POINTER(Timing)),
    "walk_begin_thread": (c_void_p, c_void_p, c_uint32, c_uint32, str),
    "walk_end": (None, c_void_p),
    "walk_block": (c_int64, c_void_p, POINTER(Block), str),
    "value_name": (c_char_p, c_void_p, c_int64),
    "table_rows": (c_uint64, c_void_p),
    "table_columns": (c_uint32, c_void_p),
    "table_name": (c_char_p, c_void_p, c_uint32),
    "table_type": (c_int, c_void_p, c_uint32),
    "table_integers": (c_void_p, c_void_p, c_uint32),
    "table_numbers": (c_void_p, c_void_p, c_uint32),
    "table_texts": (c_void_p, c_void_p, c_uint32, POINTER(c_size_t)),
    "table_free": (None, c_void_p),
    "site_table": (c_void_p, c_void_p, str),
    "figures": (c_void_p, c_void_p, str),
    "matrix": (c_void_p, c_void_p, str),
    "acts": (c_void_p, c_void_p, c_uint32, c_uint32, str),
    "outcome": (c_void_p, c_void_p, str),
    "causes": (c_void_p, c_void_p, str),
    "what_if": (c_void_p, c_void_p, str),
    "waits": (c_void_p, c_void_p, str),
    "waits_for": (c_void_p, c_void_p, str),
    "critical_path": (c_void_p, c_void_p, str),
    "compare": (c_void_p, c_void_p, c_void_p, str),
    "compare_causes": (c_void_p, c_void_p, c_void_p, str),
    "archive_open": (c_void_p, c_char_p, str),
    "archive_close": (None, c_void_p),
    "jobs": (c_void_p, c_void_p, POINTER(Filter), str),
    "aggregate": (c_void_p, c_void_p, c_char_p, POINTER(Filter), str),
    "trends": (c_void_p, c_void_p, POINTER(Filter), str),
}


def _load() -> ctypes.CDLL:
    path = os.environ.get("SPOOR_LIBRARY", "libspoor.so.1")
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"{path} is not there: install the package spoor, or set SPOOR_LIBRARY to its path ({e})") from None
    if not hasattr(library, "spoor_api") or library.spoor_api() < API:
        raise ImportError(f"{path} is older than this package: install the package spoor of the same version")
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, "spoor_" + name)
        function.restype = result
        function.argtypes = [ctypes.c_char_p if a is str else a for a in arguments]
    return library


_loaded: Optional[ctypes.CDLL] = None


def call(name: str, *arguments: Any) -> Any:
    """Calls spoor_NAME. If that takes an error text, and fails, raises what it says."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    function = getattr(_loaded, "spoor_" + name)
    if FUNCTIONS[name][-1] is not str:
        return function(*arguments)
    error = ctypes.create_string_buffer(ERROR_SIZE)
    result = function(*arguments, error)
    if result is None or (isinstance(result, int) and result < 0):
        raise Error(error.value.decode("utf-8", "replace"))
    return result


def text(value: Optional[bytes]) -> str:
    """A text of the library; bytes that are not UTF-8 become U+FFFD."""
    return "" if value is None else value.decode("utf-8", "replace")


class Handle:
    """What is closed once: by close(), at the end of a `with`, or when nobody has it any more."""

    _close = ""  # the function that does it
    _what = ""
    _at: Optional[int] = None

    def close(self) -> None:
        """Gives it back. Arrays and data frames that were made of it stay valid."""
        at, self._at = self._at, None
        if at is not None:
            call(self._close, at)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if self._at is not None and call is not None:
            self.close()

    @property
    def _open(self) -> int:
        if self._at is None:
            raise Error(f"the {self._what} is closed")
        return self._at


Column = Tuple[str, Any]


def _column(table: int, i: int, rows: int) -> Any:
    kind = call("table_type", table, i)
    if kind == 2:
        size = c_size_t()
        at = call("table_texts", table, i, ctypes.byref(size))
        words = ctypes.string_at(at, size.value - 1).decode("utf-8", "replace").split("\0") if size.value else []
        out = numpy.empty(rows, dtype=object)
        out[:] = words
        return out
    at = call("table_integers" if kind == 0 else "table_numbers", table, i)
    dtype = numpy.int64 if kind == 0 else numpy.float64
    if not at or not rows:
        return numpy.empty(0, dtype)
    return numpy.frombuffer(ctypes.string_at(at, rows * 8), dtype).copy()


def columns(name: str, *arguments: Any) -> Sequence[Column]:
    """The columns of a table that the library makes, and their names."""
    table = call(name, *arguments)
    try:
        rows = call("table_rows", table)
        return [(text(call("table_name", table, i)), _column(table, i, rows)) for i in range(call("table_columns", table))]
    finally:
        call("table_free", table)


def frame(name: str, *arguments: Any) -> Any:
    """The same as a pandas.DataFrame, or without pandas as a dict of arrays."""
    made = dict(columns(name, *arguments))
    try:
        import pandas
    except ImportError:
        return made
    return pandas.DataFrame(made, copy=False)
