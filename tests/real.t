#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# real - exact traces of programs as distributions have them (LAMMPS, mpi4py), and of the mini-applications
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
PROGRAMS = launch.PROGRAMS
SCALAPACK = launch.SCALAPACK
APPS = ("halo2d", "halo3d", "wavefront", "multigrid", "cg", "adi", "fft", "sort", "ocean", "amr", "farm")


def exact(title, program, *options, ranks=4, needs=None):
    if needs and not os.path.exists(needs):
        tap.skip(f"{title}, {ranks} ranks", f"{needs} is not there")
        return
    done = subprocess.run([sys.executable, EXACT, "-n", str(ranks), "--timeout", "400", *options, "--", *program],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tap.ok(done.returncode == 0, f"{title}, {ranks} ranks", done.stdout.decode(errors="replace"))


def main():
    folder = tempfile.mkdtemp(prefix="real-t-")
    try:
        mpi4py = "/usr/lib/python3/dist-packages/mpi4py"
        for ranks in (2, 4):
            exact("mpi4py, all of its interface", ["/usr/bin/python3", os.path.join(PROGRAMS, "walk.py"), os.path.join(folder, "walk")],
                  ranks=ranks, needs=mpi4py)
        program = launch.compiled(folder, "mpicxx", "plus.cc", "-std=c++17")
        exact("C++", [program], needs=program)
        program = launch.compiled(folder, "mpicc", "solve.c", "-I/usr/include/hypre", "-lHYPRE", "-lm")
        exact("hypre", [program], ranks=8, needs=program)
        program = launch.petsc(folder)
        exact("PETSc", [program], needs=program)
        if os.path.exists(SCALAPACK):
            for name, data in (("xdqr", "QR.dat"), ("xdinv", "INV.dat"), ("xdtrd", "TRD.dat")):
                shutil.copy(os.path.join(SCALAPACK, data), folder)
                exact(f"ScaLAPACK's {name}", [os.path.join(SCALAPACK, name)], "--chdir", folder)
        else:
            tap.skip("ScaLAPACK's tests", "scalapack-mpi-test is not installed")
        exact("LAMMPS", ["lmp", "-in", os.path.join(PROGRAMS, "in.lj"), "-log", "none"], "--chdir", folder, ranks=8, needs="/usr/bin/lmp")
        exact("mpi4py", ["/usr/bin/python3", os.path.join(PROGRAMS, "pack.py")], needs="/usr/lib/python3/dist-packages/mpi4py")
        for app in APPS:
            exact(f"mini-application {app}", [os.path.join(tap.BUILD, "bench/apps", app), "10"])
        for app in ("halo3d", "multigrid", "amr"):
            exact(f"mini-application {app}", [os.path.join(tap.BUILD, "bench/apps", app), "3"], ranks=16)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
