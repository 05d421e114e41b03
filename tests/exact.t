#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# exact - what spoor dumps is exactly what was called: every test program, random programs, HPCC
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
PROGRAMS = os.path.join(tap.BUILD, "tests/programs")

# HPCC small enough for 8 ranks on 2 cores: all of its tests, with tiny matrices.
HPCC = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
120          Ns
1            # of NBs
16           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
4            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200 10000 30000 values of N
0            number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64 values of NB
"""


def exact(title, program, *options, ranks=4):
    done = subprocess.run([sys.executable, EXACT, "-n", str(ranks), *options, "--", *program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    said = done.stdout.decode(errors="replace")
    if done.returncode == 2 and "did not come to MPI_Finalize" in said and "--partial" in options:
        tap.skip(f"{title}, {ranks} ranks", "no trace is made of ranks that were killed")
    else:
        tap.ok(done.returncode == 0, f"{title}, {ranks} ranks", said)


def own(name):
    return os.path.join(PROGRAMS, name)


def main():
    folder = tempfile.mkdtemp(prefix="exact-t-")
    try:
        for ranks in (4, 8):
            for name in ("pt2pt", "farm", "halo", "persistent", "collectives", "comms", "inter", "types", "objects", "errors",
                         "windows", "many"):
                exact(name, [own(name)], ranks=ranks)
            exact("files", [own("files"), os.path.join(folder, "file")], ranks=ranks)
            for name in ("fixed", "modern"):
                if os.path.exists(own(name)):
                    exact(f"{name} (Fortran)", [own(name)], ranks=ranks)
                else:
                    tap.skip(f"{name} (Fortran), {ranks} ranks", "no Fortran compiler")
        for name in ("pt2pt", "farm", "halo", "persistent"):
            exact(f"{name}, statuses ignored", [own(name)], "--leave")
        exact("modern (Fortran), statuses ignored", [own("modern")], "--leave")
        for name in ("comms", "inter", "types", "objects", "errors"):
            exact(f"{name}, the same without the judge", [own(name)], "--alone")
        exact("threads", [own("threads")], "--unordered")
        for seed in range(1, 7):
            exact(f"random program {seed}", [own("random"), str(seed), "400"], ranks=3 + seed % 4)
        exact("a single rank", [own("collectives")], ranks=1)
        exact("nothing but init and finalize", [own("ends"), "empty"])
        exact("children of fork", [own("ends"), "fork"])
        exact("exit status 3", [own("ends"), "exit3"], "--status", "3")
        exact("abort: every rank until it was killed", [own("ends"), "abort"], "--status", "7", "--partial")
        hpcc = shutil.which("hpcc")
        if hpcc:
            with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="ascii") as f:
                f.write(HPCC)
            exact("HPCC", [hpcc], "--chdir", folder, "--timeout", "240", ranks=8)
        else:
            tap.skip("HPCC, 8 ranks", "hpcc is not installed")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
