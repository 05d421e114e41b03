# SPDX-License-Identifier: BSD-3-Clause
"""Pictures, with matplotlib. Each function returns the axes it drew on; `ax` says on which it is to draw.

    from spoor import plot
    plot.matrix(t).figure.savefig("matrix.png")
"""
from typing import Any, Optional

import numpy

from ._library import NO_TIME, Error
from ._trace import Trace

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


def _axes(ax: Optional[Any]) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot
    return matplotlib.pyplot.subplots(layout="constrained")[1]


def _unit(largest: float) -> Any:
    return next((u for u in UNITS if largest >= u[0]), UNITS[-1])


def _ranks(*axes: Any) -> None:
    """These are ranks: there is none between two."""
    for axis in axes:
        axis.get_major_locator().set_params(integer=True)


def matrix(trace: Trace, what: str = "bytes", ax: Optional[Any] = None) -> Any:
    """Who sent how much to whom, senders from top to bottom; white is nothing."""
    import matplotlib.colors
    ax = _axes(ax)
    cells = trace.matrix(what, sparse=False).astype(float)
    cells[cells == 0] = numpy.nan
    log = numpy.nanmax(cells, initial=1) > 100 * numpy.nanmin(cells, initial=numpy.inf)
    norm = matplotlib.colors.LogNorm() if log else matplotlib.colors.Normalize(vmin=0)
    image = ax.imshow(cells, norm=norm, interpolation="nearest", cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label=what.replace("_", " "))
    _ranks(ax.xaxis, ax.yaxis)
    ax.set(xlabel="receiver (rank)", ylabel="sender (rank)", title=f"{what.replace('_', ' ').capitalize()} from rank to rank")
    return ax


def histogram(trace: Trace, site: int, to: Optional[int] = None, ax: Optional[Any] = None) -> Any:
    """How long the calls of a site took; with `to`, the computations between it and the next site."""
    ax = _axes(ax)
    h = trace.histogram(site, to)
    unit, name = _unit(h.max)
    widths = numpy.maximum((h.bins["max"] - h.bins["min"]) / unit, max(h.max / unit, 1e-9) / 500)
    ax.bar(h.bins["min"] / unit, h.bins["count"], widths, align="edge")
    what = trace.function(site) if to is None else f"computation between {trace.function(site)} and {trace.function(to)}"
    ax.set(xlabel=f"time ({name})", ylabel="calls", title=f"{what} (site {site})")
    return ax


def imbalance(trace: Trace, ax: Optional[Any] = None) -> Any:
    """How long each rank computed, and how long it was in MPI. The dashed line is the mean computation."""
    ax = _axes(ax)
    ranks = trace.totals()
    compute, elapsed = numpy.asarray(ranks["compute"]), numpy.asarray(ranks["elapsed"])
    unit, name = _unit(numpy.nanmax(elapsed, initial=0))
    ax.bar(ranks["rank"], compute / unit, label="computation", width=0.9)
    ax.bar(ranks["rank"], (elapsed - compute) / unit, bottom=compute / unit, label="in MPI", width=0.9, alpha=0.6)
    if numpy.isfinite(compute).any():
        ax.axhline(numpy.nanmean(compute) / unit, linestyle="--", color="black", linewidth=1)
    _ranks(ax.xaxis)
    ax.set(xlabel="rank", ylabel=f"time ({name})", title="Where each rank's time went")
    ax.legend()
    return ax


def timeline(trace: Trace, ranks: Optional[Any] = None, start: int = 0, count: int = 200, ax: Optional[Any] = None) -> Any:
    """The calls of ranks over time: `count` of each, from number `start` on. The trace needs `timing: full`.

    Times are from the start of the first rank, by the clocks of the nodes.
    """
    ax = _axes(ax)
    names: dict = {}
    ranks = list(range(trace.ranks) if ranks is None else ranks)
    starts = {rank: known[2] for rank in ranks for known in [trace.timing(rank)] if known}
    for rank in ranks:
        e = trace.events(rank, start=start, count=count, times=True)
        known = e["begin"] != NO_TIME
        if not known.any():
            raise Error("the trace has no times of single calls: they need `timing: full`")
        for site in numpy.unique(e["site"][known]):
            names.setdefault(trace.function(int(site)), len(names))
        color = [f"C{names[trace.function(int(s))] % 10}" for s in e["site"][known]]
        begin = e["begin"][known].astype(float) + starts[rank] - min(starts.values())
        spans = numpy.stack((begin, (e["end"][known] - e["begin"][known]).astype(float)), axis=1) / 1e6
        ax.broken_barh(spans.tolist(), (rank - 0.4, 0.8), facecolors=color)
    for function, i in names.items():
        ax.plot([], [], linewidth=6, color=f"C{i % 10}", label=function)
    _ranks(ax.yaxis)
    ax.invert_yaxis()
    ax.set(xlabel="time since the first call of all (ms)", ylabel="rank", title="Calls over time")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    return ax


def _visits(trace: Trace, site: int) -> Any:
    """The computation of each rank (rows) before each of its visits of a site (columns), in ns, from the visit before on."""
    rows = []
    for rank in range(trace.ranks):
        e = trace.events(rank, times=True)
        if len(e["site"]) == 0 or (e["end"] == NO_TIME).any():
            raise Error("the trace has no times of single calls: they need `timing: full`")
        computed = numpy.cumsum(numpy.diff(e["begin"].astype(float), prepend=0) - numpy.diff(e["end"].astype(float), prepend=0)
                                + (e["end"] - e["begin"]).astype(float))
        rows.append(numpy.diff(computed[e["site"] == site]))
    steps = min(len(row) for row in rows)
    return numpy.array([row[:steps] for row in rows])


def steps(trace: Trace, site: Optional[int] = None, ax: Optional[Any] = None) -> Any:
    """How unevenly ranks compute from step to step: the most, the mean, and the least of a rank.

    A step ends where a rank comes to `site`; by default the collective call, or else the call, with most time of those that all
    ranks make equally often. The trace needs `timing: full`.
    """
    ax = _axes(ax)
    if site is None:
        sites = trace.sites()
        alike = sites[(sites["ranks"] == trace.ranks) & (sites["calls"] % trace.ranks == 0) & (sites["calls"] > 2 * trace.ranks)]
        together = alike[alike["wait_kind"] == "collective"]
        chosen = together if len(together) else alike
        if len(chosen) == 0:
            raise Error("there is no call that all ranks make in each step: say which with site=")
        site = int(chosen.nlargest(1, "ns")["site"].iloc[0])
    computed = _visits(trace, site)
    unit, name = _unit(numpy.max(computed, initial=0))
    number = numpy.arange(1, computed.shape[1] + 1)
    ax.fill_between(number, computed.min(axis=0) / unit, computed.max(axis=0) / unit, alpha=0.3, label="least to most")
    ax.plot(number, computed.mean(axis=0) / unit, label="mean of the ranks")
    _ranks(ax.xaxis)
    ax.set(xlabel=f"step (visits of {trace.function(site)}, site {site})", ylabel=f"computation ({name})", title="Imbalance by step", ylim=(0, None))
    ax.legend()
    return ax


def scaling(jobs: Any, ax: Optional[Any] = None) -> Any:
    """Elapsed time against ranks of the runs in a frame of Archive.jobs(); the dashed line is ideal strong scaling."""
    ax = _axes(ax)
    elapsed = (jobs["end_ns"] - jobs["start_ns"]) / 1e9
    best = elapsed.groupby(jobs["ranks"]).median()
    ax.loglog(jobs["ranks"], elapsed, ".", alpha=0.5, label="runs")
    ax.loglog(best.index, best, "-", label="median")
    if len(best):
        ax.loglog(best.index, best.iloc[0] * best.index[0] / best.index, "--", color="black", linewidth=1, label="ideal")
    ax.set(xlabel="ranks", ylabel="elapsed (s)", title="Scaling")
    ax.legend()
    return ax
