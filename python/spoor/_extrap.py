# SPDX-License-Identifier: BSD-3-Clause
"""Runs with different numbers of ranks as the text that Extra-P reads."""
import os
from contextlib import ExitStack
from typing import Dict, List, Sequence, Tuple, Union

from ._library import Error
from ._trace import Trace

Run = Union[Trace, str, "os.PathLike[str]"]


def to_extrap(runs: Sequence[Run], path: Union[str, "os.PathLike[str]"]) -> int:
    """Writes the text input of Extra-P for runs of one program: traces, or their files. Returns the number of regions.

    The parameter p is the number of ranks; runs of equal size are repetitions. A region is a call site that all runs have (as
    compare() finds it), and "computation"; the metrics are "time" (s, of a rank in the mean) and "visits" (of a rank).
    """
    with ExitStack() as opened:
        traces = [run if isinstance(run, Trace) else opened.enter_context(Trace(run)) for run in runs]
        if not traces:
            raise Error("Extra-P needs runs: there are none")
        traces.sort(key=lambda t: t.ranks)
        regions: Dict[str, List[Tuple[float, float]]] = {"computation": [(t.figures["compute_ns"] / t.ranks, 1.0) for t in traces]}
        names = {int(s): f"{f}->{n}" for s, f, n in zip(*(traces[0].sites()[c] for c in ("site", "function", "name")))}
        for t in traces:
            both = traces[0].compare(t)
            for site, ns, calls in zip(*(both[c] for c in ("site_a", "ns_b", "calls_b"))):
                if site >= 0 and calls > 0:
                    regions.setdefault(f"{names[int(site)]} (site {site})", []).append((ns / t.ranks, calls / t.ranks))
        whole = {name: values for name, values in regions.items() if len(values) == len(traces)}
        sizes = sorted({t.ranks for t in traces})
        with open(path, "w", encoding="utf-8") as out:
            out.write("PARAMETER p\nPOINTS " + " ".join(f"({n})" for n in sizes) + "\n")
            for k, (metric, scale) in enumerate((("time", 1e-9), ("visits", 1.0))):
                for name, values in whole.items():
                    out.write(f"\nREGION {' '.join(name.split())}\nMETRIC {metric}\n")
                    for n in sizes:
                        out.write("DATA " + " ".join(f"{v[k] * scale:.9g}" for v, t in zip(values, traces) if t.ranks == n) + "\n")
        return len(whole)
