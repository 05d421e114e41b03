#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_away - the trace of golden/1.0-away.spoor: that of 1.0-killed.spoor (make.py), with time off the processor (AWAY)

    make_away.py FILE
"""
import sys

from make import CHUNKS, WHOLE, container, each, number, same, uint

# between visits of site 1, of all three ranks; between sites 1 and 2, of ranks 0 and 1; before MPI_Init, of all; without a core, of rank 2
AWAY = (uint(2) + uint(1, 1) + WHOLE + each(number(3072), number(3200), number(3328)) + uint(1, 2) + uint(1, 2, 2) + same(number(5120))
        + uint(1) + WHOLE + each(number(104), number(112), number(3072)) + uint(1) + uint(1, 4, 2) + same(number(40)))

if __name__ == "__main__":
    with open(sys.argv[1], "wb") as f:
        f.write(container({**{k: v for k, v in CHUNKS.items() if k not in ("MEAN", "FACT")}, "AWAY": AWAY, **{k: CHUNKS[k] for k in ("MEAN", "FACT")}}))
