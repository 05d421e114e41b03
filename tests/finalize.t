#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# finalize - ranks that come to MPI_Finalize far apart, on nodes whose clocks are: the output is as without spoor, and there is one whole trace
#
# The nodes are this one, by other names. SPOOR_APART=all takes all distances in time, up to 30 s.
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import mpich_programs  # noqa: E402
import tap  # noqa: E402

RANKS, DAY, HOUR = 4, 86400, 3600
SECONDS = ("0.5", "2", "12", "30") if os.environ.get("SPOOR_APART") == "all" else ("0.5", "12")
# nodes, how far the second one's clock is ahead (s)
NODES = ((1, 0), (2, 0), (2, HOUR), (2, -10 * DAY))
# ranks 2 and 3 are of another node
NAMES = """rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
[ $NODES = 1 ] || export SLURMD_NODENAME=node$((rank / 2)) OMPI_COMM_WORLD_LOCAL_SIZE=2 MPI_LOCALNRANKS=2
[ $rank -lt 2 ] || LD_PRELOAD=$CLOCK${CLOCK:+${LD_PRELOAD:+:}}$LD_PRELOAD
exec "$@"
"""
UCX = ["--mca", "mpi_yield_when_idle", "1", "--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]


def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)


class Library:
    def __init__(self, mpi, how, compiler, mca):
        self.mpi, self.compiler, self.mca = mpi, compiler, mca
        self.title = f"{mpi}, {how}"

    def is_there(self, folder):
        """Does the program run with it? It is compiled."""
        self.program = os.path.join(folder, re.sub(r"\W+", "-", self.title))
        if self.compiler and run(self.compiler, "-O1", "-g", "-w", "-o", self.program, os.path.join(launch.PROGRAMS, "late.c")).returncode == 0:
            status, _, said = play(self, 1, 0, 0, "0", folder)
            if status == 0:
                return True
            print("#", *said, sep="\n# ")
        tap.skip(self.title, "it does not run")
        return False


LIBRARIES = (Library("openmpi", "ob1", mpich_programs.made("MPICC"), launch.MCA), Library("openmpi", "ucx", mpich_programs.made("MPICC"), UCX),
             Library("mpich", "its own", mpich_programs.made("MPICH_CC"), launch.MCA))


def play(library, nodes, clock, who, seconds, folder, trace=None):
    """Status and output of a run; traced into this file, if one is named."""
    command = launch.command(RANKS, ["sh", os.path.join(folder, "names"), library.program, str(who), seconds],
                             before=[launch.spoor(), "run", "--deadline=60", "-o", trace, "--"] if trace else [], mca=library.mca)
    with tempfile.TemporaryDirectory(prefix="mpi-", dir=folder, ignore_cleanup_errors=True) as own:
        env = dict(os.environ, OMPI_MCA_orte_tmpdir_base=own, NODES=str(nodes), CLOCK=os.path.join(folder, f"ahead{clock}.so") if clock else "")
        env.update({**launch.ENVIRONMENT, "UCX_LOG_LEVEL": "warn", "FI_LOG_LEVEL": "warn"})
        done = launch.run_for(200, command, folder, env, None)
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if not line.startswith("tracer: ")]  # `spoor run` itself says so
    return done.returncode, sorted(done.stdout.decode().splitlines()), sorted(said)


def both(library, nodes, clock, who, seconds, folder):
    trace = tempfile.mktemp(suffix=".spoor", dir=folder)
    return play(library, nodes, clock, who, seconds, folder), play(library, nodes, clock, who, seconds, folder, trace), trace


def check(title, plain, traced, trace):
    # numbers of processes and times
    said = [[re.sub(r"\d+\.\d+|\[[^]]*:\d+:?\d*:?\d*\]", "N", line) for line in lines] for lines in (plain[2], traced[2])]
    tap.ok(plain[0] == 0 and traced[:2] == plain[:2] and said[0] == said[1], f"{title}: output and exit status", plain, traced)
    shown = run(launch.spoor(), "show", "--json", trace).stdout
    last = run(launch.spoor(), "show", "--last", trace).stdout
    ranks = json.loads(shown).get("ranks") if shown.startswith("{") else None
    tap.ok(ranks == RANKS and "not in this trace" not in last and run(launch.spoor(), "verify", trace).returncode == 0, f"{title}: one trace of all",
           shown[:500], last[:500])


def main():
    with tempfile.TemporaryDirectory(prefix="finalize-t-") as folder, concurrent.futures.ThreadPoolExecutor(6) as pool:
        os.chmod(folder, 0o711)
        with open(os.path.join(folder, "names"), "w", encoding="ascii") as f:
            f.write(NAMES)
        for clock in {clock for _, clock in NODES if clock}:
            run(mpich_programs.made("CC"), "-shared", "-fPIC", f"-DAHEAD_NS={clock}000000000LL", "-o", os.path.join(folder, f"ahead{clock}.so"),
                os.path.join(tap.SOURCE, "tests/ahead.c"))
        for mpi in ("openmpi", "mpich"):  # what launch.command asks
            os.environ["SPOOR_TEST_MPI"] = mpi
            jobs, there = [], [x for x in LIBRARIES if x.mpi == mpi and x.is_there(folder)]
            for library, (nodes, clock), seconds in itertools.product(there, NODES, SECONDS):
                title = f"{library.title}, {nodes} node{'s' * (nodes > 1)}{f', clocks {clock} s apart' if clock else ''}, {seconds} s late"
                jobs.append((title, pool.submit(both, library, nodes, clock, 3, seconds, folder)))
            for title, job in jobs:
                check(title, *job.result())
    tap.done()


main()
