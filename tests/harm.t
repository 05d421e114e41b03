#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# harm - kinds of processes, of which a site has thousands: each does with spoor what it does without, and those that should be are traced
#
# The rows are in tests/harm/rows.py. `tests/harm.t WORD...` runs those whose names have one of the words in them, and says what they do without spoor.
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "harm"))
import launch  # noqa: E402
import rows  # noqa: E402
import tap  # noqa: E402


def needs_nothing():
    """What is preloaded into processes that have another C library, or an older one, needs no library and no version of anything."""
    said = subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", launch.preload()], stdout=subprocess.PIPE, text=True, check=False).stdout
    tap.ok("Dynamic section" in said and "(NEEDED)" not in said and "Version needs" not in said, "the gate needs nothing", said)


def main(words):
    folder = tempfile.mkdtemp(prefix="harm-t-")
    os.chmod(folder, 0o755)
    chosen = [row for row in rows.ROWS if not words or any(word in row.name for word in words)]
    try:
        for row, differences, plain in rows.results(rows.Matrix(folder), chosen):
            if isinstance(differences, str):
                tap.skip(row.name, differences)
                continue
            tap.ok(not differences, row.name, *differences)
            if words:
                print(f"# without spoor: {plain!r}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not words:
        needs_nothing()
    tap.done()


main(sys.argv[1:])
