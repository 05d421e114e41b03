#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# keys - each keyval that the standard predefines is recorded by its name, in C and in Fortran, with Open MPI and MPICH, and is replayed
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

COMM = ["MPI_TAG_UB", "MPI_HOST", "MPI_IO", "MPI_WTIME_IS_GLOBAL", "MPI_UNIVERSE_SIZE", "MPI_APPNUM", "MPI_LASTUSEDCODE"]
WIN = ["MPI_WIN_BASE", "MPI_WIN_SIZE", "MPI_WIN_DISP_UNIT", "MPI_WIN_CREATE_FLAVOR", "MPI_WIN_MODEL"]

C = """#include <mpi.h>
#include <stddef.h>
int main(int argc, char **argv)
{{
	void *value;
	int flag, own, room[4];
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &own, NULL);
	MPI_Win_create(room, sizeof room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
{comm}{win}	MPI_Comm_get_attr(MPI_COMM_WORLD, own, &value, &flag);
	MPI_Comm_free_keyval(&own);
	MPI_Win_free(&win);
	return MPI_Finalize();
}}
"""
FORTRAN = """      program keys
      {use}
      implicit none
      {include}
      integer(kind=MPI_ADDRESS_KIND) :: value, bytes
      integer :: ierr, own, room(4)
      {handle} :: win
      logical :: flag
      call MPI_Init(ierr)
      value = 0
      bytes = 16
      call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, own, value, ierr)
      call MPI_Win_create(room, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
{comm}{win}      call MPI_Comm_get_attr(MPI_COMM_WORLD, own, value, flag, ierr)
      call MPI_Comm_free_keyval(own, ierr)
      call MPI_Win_free(win, ierr)
      call MPI_Finalize(ierr)
      end program
"""
USES = {"mpi": ("use mpi", "", "integer"), "mpi_f08": ("use mpi_f08", "", "type(MPI_Win)"), "mpif.h": ("", "include 'mpif.h'", "integer")}


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def known():
    """All that the tracer's table has are asked for here."""
    with open(os.path.join(tap.SOURCE, "preload/mpi.table"), encoding="utf-8") as f:
        line = re.search(r"^role keyval .*(\n\t.*)*", f.read(), re.M).group(0)
    tap.equal(sorted(re.findall(r"MPI_\w+", line)), sorted([*COMM, *WIN, "MPI_KEYVAL_INVALID"]), "the table has the keyvals of the standard")


def there(compiler, folder, language, key):
    """Newer libraries lack those that the standard has removed."""
    path = os.path.join(folder, "there.c" if language == "C" else "there.f90")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#include <mpi.h>\nint key = {key};\n" if language == "C" else
                f"      subroutine there\n      use mpi\n      implicit none\n      print *, {key}\n      end subroutine\n")
    return run(compiler, "-c", "-w", path, "-o", path + ".o").returncode == 0


def source(language, comm, win):
    if language == "C":
        return C.format(comm="".join(f"\tMPI_Comm_get_attr(MPI_COMM_WORLD, {key}, &value, &flag);\n" for key in comm),
                        win="".join(f"\tMPI_Win_get_attr(win, {key}, &value, &flag);\n" for key in win))
    use, include, handle = USES[language]
    return FORTRAN.format(use=use, include=include, handle=handle,
                          comm="".join(f"      call MPI_Comm_get_attr(MPI_COMM_WORLD, {key}, value, flag, ierr)\n" for key in comm),
                          win="".join(f"      call MPI_Win_get_attr(win, {key}, value, flag, ierr)\n" for key in win))


def compiled(compiler, path, language, comm, win):
    with open(path + (".c" if language == "C" else ".f90"), "w", encoding="ascii") as f:
        f.write(source(language, comm, win))
    return run(compiler, "-g", "-w", f.name, "-o", path)


def check(folder, mpi, compiler, language):
    title = f"{language}, {mpi}"
    path = os.path.join(folder, f"keys-{mpi}-{language}".replace(".", "-"))
    comm, win = COMM, WIN
    said = compiled(compiler, path, language, comm, win)
    if said.returncode:
        comm, win = ([key for key in keys if there(compiler, folder, language, key)] for keys in (COMM, WIN))
        tap.ok(len(comm) >= 5 and len(win) == 5, f"{title}: the library has the keyvals", comm, win)
        said = compiled(compiler, path, language, comm, win)
    if not tap.ok(said.returncode == 0, f"{title}: a program that asks for all compiles", said.stdout):
        return
    trace = path + ".spoor"
    done = launch.mpirun(2, [path], before=[launch.spoor(), "run", "-o", trace, "--"])
    tap.ok(done.returncode == 0, f"{title}: it runs", done.stderr.decode(errors="replace"))
    dump = run(launch.spoor(), "dump", "--rank", "1", trace).stdout
    tap.equal(re.findall(r"_get_attr .*?_keyval=(\S+)", dump), [*comm, *win, "k0"], f"{title}: each is recorded by its name")
    launcher = launch.command(2, [])
    at = launcher.index("-n")
    done = run(launch.spoor(), "replay", "--check", trace, "--", *launcher[:at], *launcher[at + 2:])
    tap.ok(done.returncode == 0 and "equal: 2 ranks" in done.stdout, f"{title}: it is replayed", done.stdout)


def main():
    os.environ["SPOOR_REPLAY"] = os.path.join(tap.BUILD, "spoor-replay")
    known()
    with tempfile.TemporaryDirectory(prefix="keys-t-") as folder:
        for mpi, c, fortran in (("openmpi", "MPICC", "MPIFC"), ("mpich", "MPICH_CC", "MPICH_FC")):
            os.environ["SPOOR_TEST_MPI"] = mpi
            for language in ("C", *USES):
                compiler = mpich_programs.made(c if language == "C" else fortran)
                if compiler:
                    check(folder, mpi, compiler, language)
    tap.done()


main()
