# SPDX-License-Identifier: BSD-3-Clause
"""launch - runs MPI programs on this machine, with more ranks than cores, for tests

    launch.mpirun(4, ["./program"])                              as it is
    launch.mpirun(4, ["./program"], flatlog="flatlog.so", folder="logs")     with the flat logger in front
    launch.mpirun(4, ["./program"], before=["spoor", "run", "-o", "x.spoor", "--"])

What jobs have preloaded is launch.preload(); shell scripts get its path from `python3 tests/launch.py`.
"""
import collections
import glob
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get("SPOOR_BUILD") or os.getcwd()
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
SCALAPACK = "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests"

# Busy waiting without yielding makes runs with more ranks than cores many times longer. Where ranks are reordered for a graph (topo treematch),
# Open MPI 4.1 hangs in one of some twenty runs of programs/comms on a busy machine, traced or not.
MCA = ["--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader", "--mca", "pml", "ob1", "--mca", "topo", "basic"]

# Of programs that spawn: shared memory reaches only the own world.
WORLDS_MCA = ["--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo", "--mca", "pml", "ob1"]

# What newer libraries are told where older ones need nothing. Open MPI 5's launcher: more ranks than cores, not bound to one. UCX, which Open MPI and
# MPICH of Debian 13 load: no words of its own, with numbers of processes, for a program that crashes.
ENVIRONMENT = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
               "UCX_HANDLE_ERRORS": "none", "UCX_LOG_LEVEL": "fatal"}

# The libraries' own faults, as they are without spoor, too; with the release, and what tests do about it:
# - Open MPI 4.1.4: a process that ends runs code of an unloaded component, in one of some hundred runs (crashed_at_exit).
# - Open MPI 4.1.4: MPI_Dist_graph_create hangs now and then where ranks are reordered (MCA: topo basic).
# - Open MPI 5.0.7: MPI_Win_test leaves its count of completions, for which the next MPI_Win_wait of the window waits for ever
#   (programs/windows.c waits before it tests).
# - Open MPI 5.0.7: MPI_Comm_set_name writes beyond the first name of MPI_COMM_WORLD, and MPI_Finalize aborts (programs/confined.c names a type).
# - Open MPI 5.0.7: `mpirun A : B` crashes, whatever A and B are, and where a program spawns (skipped in situations.t, spawn.t).
# - Open MPI 5.0.7: mpirun now and then puts a null byte before the output of a job that aborts (same.t and chain.t leave them out).
# - Open MPI 5.0.7: MPI_Finalize waits for ever in a process that became a daemon: the child of fork has no thread of PMIx (skipped in harm.t).
# - MPICH 4.2.1: MPI_Request_get_status of a request of MPI-IO may let it go when it is complete, and the next call with it aborts (replay/wait_test.c
#   does not ask).
# - Slurm 22.05: the default fence lets ranks out too early (tests/cluster: ring).


def spoor(build=BUILD):
    """The spoor command of this build, else the installed one."""
    for name in ("spoor", "cmd/spoor"):
        path = os.path.join(build, name)
        if os.path.isfile(path):
            return path
    return shutil.which("spoor") or "spoor"


def preload(build=BUILD):
    """What jobs have preloaded, of this build: the one place that says which file it is."""
    return os.path.abspath(os.path.join(build, ".libs", "libspoor-gate.so"))


def command(ranks, program, flatlog=None, before=(), mca=MCA):
    """The command line. The flat logger is put in front of what is preloaded in the ranks only. With SPOOR_TEST_MPI=mpich in the environment
    it is MPICH's launcher."""
    front = ["sh", "-c", 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"', os.path.abspath(flatlog)] if flatlog else []
    if os.environ.get("SPOOR_TEST_MPI") == "mpich":
        return [*before, "mpiexec.hydra", "-n", str(ranks), *front, *program]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [*before, "mpirun", "--oversubscribe", *root, "-n", str(ranks), *mca, *front, *program]


def crashed_at_exit(said):
    """Is this what Open MPI 4.1 does once in some hundred runs on a busy machine, traced or not: while a process ends, a thread of its own runs code
    of a component that is unloaded already? Its handler then finds no frames to print."""
    return b"Signal: Segmentation fault" in said and b"Address not mapped" in said and b"[ 0] " not in said


def mpirun(ranks, program, flatlog=None, folder=None, before=(), cwd=None, timeout=120, environment=None, mca=MCA):
    """Returns the completed process, output captured as bytes; its status is 124 if it took too long. Once more where Open MPI crashed at its end."""
    done = mpirun_once(ranks, program, flatlog, folder, before, cwd, timeout, environment, mca)
    if done.returncode not in (0, 124) and crashed_at_exit(done.stderr):
        if "-o" in before and os.path.exists(before[list(before).index("-o") + 1]):
            os.unlink(before[list(before).index("-o") + 1])
        done = mpirun_once(ranks, program, flatlog, folder, before, cwd, timeout, environment, mca)
    return done


def mpirun_once(ranks, program, flatlog, folder, before, cwd, timeout, environment, mca):
    # all jobs of a user share a folder, and of two that begin at a time one may fail: "A call to mkdir ... File exists"
    with tempfile.TemporaryDirectory(prefix="mpi-", ignore_cleanup_errors=True) as own:
        os.chmod(own, 0o711)
        env = dict(os.environ, OMPI_MCA_orte_tmpdir_base=own, PRTE_MCA_prte_tmpdir_base=own, **(environment or {}))
        return run_for(timeout, command(ranks, program, flatlog, before, mca), cwd, env, folder)


def run_for(timeout, words, cwd, env, folder):
    if folder:
        env["FLATLOG_DIR"] = os.path.abspath(folder)
    process = subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpirun ends its ranks
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, 124, out, err + b"launch: took too long\n")
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def counts(folder, rank):
    """What the flat logger counted (FLATLOG_COUNTS): function -> calls. Empty if the rank did not come to its end."""
    path = os.path.join(folder, f"{rank}.counts")
    if not os.path.exists(path):
        return collections.Counter()
    with open(path, encoding="ascii") as f:
        return collections.Counter({line.split()[0]: int(line.split()[1]) for line in f})


def compiled(folder, compiler, source, *options):
    """The path of a program; where it does not compile, because something is not installed, one that is not there."""
    path = os.path.join(folder, source.split(".")[0])
    try:
        subprocess.run([compiler, "-O1", "-g", "-w", "-o", path, os.path.join(PROGRAMS, source), *options],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        pass
    return path


def flatlog_command(folder, *compiler):
    """The command that compiles the flat logger of another MPI library: folder/flatlog.so. compiler: with options, if it needs any."""
    source = os.path.join(os.path.dirname(PROGRAMS), "flatlog")
    with open(os.path.join(folder, "wrappers.c"), "wb") as f:
        subprocess.run([sys.executable, os.path.join(source, "generate.py"), os.path.join(source, "calls.table"), *compiler], stdout=f, check=True)
    # Functions that only Fortran needs, and this ABI does not have: gcc 14 would stop at them.
    permitted = ["-Wno-error=implicit-function-declaration", "-Wno-error=int-conversion"]
    return [*compiler, "-std=gnu11", "-O0", "-g", "-w", *permitted, "-fPIC", "-shared", "-I" + os.path.dirname(os.path.dirname(PROGRAMS)), "-I" + source,
            "-o", os.path.join(folder, "flatlog.so"), os.path.join(folder, "wrappers.c"),
            *(p for p in glob.glob(os.path.join(source, "*.c")) if os.path.basename(p) != "sample.c"), "-ldl", "-lpthread"]


def petsc(folder):
    """The path of the PETSc program; one that is not there without PETSc: in PETSC_DIR, else where Debian has it."""
    places = [os.environ["PETSC_DIR"]] if "PETSC_DIR" in os.environ else sorted(glob.glob("/usr/lib/petscdir/petsc3.*/*-real"))
    place = places[-1] if places else "/nonexistent"
    library = "-lpetsc_real" if os.path.exists(os.path.join(place, "lib/libpetsc_real.so")) else "-lpetsc"
    return compiled(folder, "mpicc", "poisson.c", "-I" + os.path.join(place, "include"), "-L" + os.path.join(place, "lib"),
                    "-Wl,-rpath," + os.path.join(place, "lib"), "-Wl,--allow-shlib-undefined", library, "-lm")


def dumps_of_both(folder):
    """Traces of a program in which the library decides nothing: folder/comms under MPICH's launcher, and Open MPI's. Also what dump says of each
    rank. SPOOR_TEST_MPI is MPICH's then."""
    traces = []
    for mpi, program in (("mpich", os.path.join(folder, "comms")), ("", os.path.join(BUILD, "tests/programs/comms"))):
        os.environ["SPOOR_TEST_MPI"] = mpi
        traces.append(os.path.join(folder, f"comms-{mpi or 'openmpi'}.spoor"))
        mpirun(4, [program], before=[spoor(), "run", "-o", traces[-1], "--"])
    os.environ["SPOOR_TEST_MPI"] = "mpich"
    return traces, [[subprocess.run([spoor(), "dump", t, "--rank", str(r)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                    check=False).stdout for r in range(4)] for t in traces]


if __name__ == "__main__":
    print(preload())
