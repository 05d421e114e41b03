# SPDX-License-Identifier: BSD-3-Clause
"""tap - prints TAP for tests in Python

    import tap
    tap.ok(1 + 1 == 2, "adds", "this is shown if not")
    tap.done()
"""
import os
import sys

SOURCE = os.environ.get("SPOOR_SOURCE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("SPOOR_BUILD") or os.getcwd()

_count = 0
_failed = 0


def ok(condition, title, *diagnostics):
    """One test point. The diagnostics (texts of any number of lines) are printed if it fails."""
    global _count, _failed
    _count += 1
    print(f"{'ok' if condition else 'not ok'} {_count} - {title}")
    if not condition:
        _failed += 1
        for text in diagnostics:
            for line in str(text).splitlines():
                print(f"# {line}")
    sys.stdout.flush()
    return bool(condition)


def equal(got, expected, title):
    return ok(got == expected, title, f"got      {got!r}", f"expected {expected!r}")


def skip(title, reason):
    global _count
    _count += 1
    print(f"ok {_count} - {title} # SKIP {reason}", flush=True)


def skip_all(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def done():
    """Prints the plan and exits."""
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed else 0)
