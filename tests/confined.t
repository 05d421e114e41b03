#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# confined - programs without descriptors, memory, disk, rights or system calls to spare: they do the same under the tracer, and are traced, or it is said why not
"""Each row runs `programs/confined` untraced and traced, with the same limits: output, exit status and the file that it writes must be the same. Then there
is a trace with exactly the calls of a run without limits, or one that has lost something, or a note that says why there is none."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

PROGRAM = os.path.join(tap.BUILD, "tests/programs/confined")
SLOW_DISK = os.path.join(tap.BUILD, "tests/tools/slowdisk.so")
WAITS = os.path.join(tap.BUILD, "tests/tools/waits.so")
RANKS = 2
# mpirun's own files, which are those of its ranks, too, are not what is full or gone here
MCA = [*launch.MCA, "--mca", "orte_tmpdir_base", "/tmp"]
# Shared memory is files that are too large for small limits.
TCP = [*(m.replace("vader", "tcp") for m in MCA), "--mca", "btl_tcp_if_include", "lo"]
APART = ["sh", "-c", 'exec "$@" 2>"$0/$OMPI_COMM_WORLD_RANK"']
VARIES = re.compile(rb"\[[\w.-]+:\d+\]|\[\d+,\d+\]|0x[0-9a-f]+")


class Run:
    """One run. `under` is a piece of shell that is done in each rank before the program; {file} in the arguments is a file of the program's own, {spool} the
    folder of the traces, which is made in `on`."""

    def __init__(self, arguments, under=":", traced=True, ranks=RANKS, settings=(), on=None, preload="", mca=MCA, environment=None):
        folder = tempfile.mkdtemp(prefix="confined-")
        os.chmod(folder, 0o755)
        self.trace, file = os.path.join(folder, "trace.spoor"), os.path.join(folder, "file")
        spool = '"$(echo "$TMPDIR"/spoor-run.*)"' if traced else f'"{folder}/spool"'
        os.makedirs(os.path.join(folder, "spool"))
        os.makedirs(os.path.join(folder, "errors"))
        words = " ".join(spool if a == "{spool}" else f'"{file}"' if a == "{file}" else a for a in arguments)
        script = under + f'\n{preload}exec "$0" {words}'
        before = [launch.spoor(), "run", *settings, "-o", self.trace, "--"] if traced else []
        done = launch.mpirun(ranks, [*APART, os.path.join(folder, "errors"), "sh", "-c", script, PROGRAM], before=before, mca=mca, timeout=90,
                             environment={"TMPDIR": on or folder, **(environment or {})})
        self.status, self.output, self.said = done.returncode, sorted(done.stdout.splitlines()), done.stderr.decode(errors="replace")
        self.errors = b""
        for rank in sorted(os.listdir(os.path.join(folder, "errors"))):
            with open(os.path.join(folder, "errors", rank), "rb") as f:
                self.errors += VARIES.sub(b"", f.read())
        self.file = None
        if os.path.exists(file):
            with open(file, "rb") as f:
                self.file = f.read()
        self.folder = folder

    def dump(self, rank):
        return subprocess.run([launch.spoor(), "dump", self.trace, "--rank", str(rank)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout

    def verify(self):
        return subprocess.run([launch.spoor(), "verify", self.trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def compare(title, plain, traced, file=True):
    for what in ("status", "output", "errors") + ("file",) * file:
        a, b = getattr(plain, what), getattr(traced, what)
        if not tap.ok(a == b, f"{title}: the same {what}", f"untraced {a!r:.800}", f"traced   {b!r:.800}", traced.said[-800:]):
            return False
    return True


base = {}  # ranks -> dumps of a run without limits


def check(title, arguments, expected, under=":", ranks=RANKS, on=None, settings=(), file=True, mca=MCA, environment=None):
    """expected: "exact", "less" (a trace, and it can be read), or the pattern of a note."""
    plain = Run(arguments, under, False, ranks, on=on, mca=mca)
    if on:
        subprocess.run(["mount", "-o", "remount,rw", on], check=True)
    traced = Run(arguments, under, True, ranks, settings, on=on, mca=mca, environment=environment)
    compare(title, plain, traced, file)
    if expected in ("exact", "less"):
        done = traced.verify()
        good = tap.ok(done.returncode == 0, f"{title}: there is a trace", done.stdout.decode(errors="replace"), traced.said[-1500:])
        if good and expected == "exact":
            if ranks not in base:
                free = Run(["nothing"], ranks=ranks)
                base[ranks] = [free.dump(rank) for rank in range(ranks)]
                shutil.rmtree(free.folder)
            dumps = [traced.dump(rank) for rank in range(ranks)]
            tap.ok(dumps == base[ranks], f"{title}: with all calls", *(f"rank {r}: {len(d.splitlines())} lines, expected {len(base[ranks][r].splitlines())}" for r, d in enumerate(dumps)))
    else:
        tap.ok(re.search(expected, traced.said) is not None, f"{title}: a note says why there is no trace", traced.said)
        tap.ok(not os.path.exists(traced.trace), f"{title}: there is none")
    for run in (plain, traced):
        shutil.rmtree(run.folder, ignore_errors=True)


def descriptors():
    check("nothing", ["nothing"], "exact")
    for closed, how in (("standard output", ">&-"), ("standard input", "<&-"), ("standard error", "2>&-"), ("all three", "<&- >&- 2>&-")):
        check(f"{closed} closed", ["streams", "{file}"], "exact", f"exec {how}")
    check("a descriptor that is closed twice", ["double-close", "{file}"], "less")
    check("no descriptor left", ["no-descriptors"], "less")
    check("all files closed", ["close-files"], "exact")
    papi = os.path.join(tap.BUILD, "tests/papi")
    check("counters of PAPI, which keeps descriptors", ["descriptors"], "exact", settings=["--counters=PAPI_TOT_INS"], ranks=1, environment={"LD_LIBRARY_PATH": papi})


def limits():
    for kib, expected in ((0, "no trace"), (100, "ulimit -f"), (400, "less")):
        check(f"files of {kib} KiB", ["nothing"], expected, f"ulimit -f {2 * kib}", mca=TCP)
    check("files of no bytes after MPI_Init", ["late-file-size", "{file}", "0"], "less")
    check("files of 1,000 bytes when the trace is written", ["late-file-size", "{file}", "1000"], "less")
    peak = max(int(line.split()[1]) for line in Run(["peak"], traced=False).output if line.startswith(b"peak"))
    check("address space for what is needed and little more", ["take", "{file}", "8"], "only map .*ulimit", f"ulimit -v {peak + (16 << 10)}")
    check("address space for 1 GiB more", ["take", "{file}", "900"], "exact", f"ulimit -v {peak + (1 << 20)}")
    check("data for 1 GiB more", ["take", "{file}", "900"], "exact", f"ulimit -d {peak + (1 << 20)}")
    check("no memory to lock", ["nothing"], "exact", "ulimit -l 0")
    check("all memory locked", ["memory-lock"], "less", "ulimit -l unlimited")
    check("a stack of 256 KiB", ["nothing"], "exact", "ulimit -s 256")
    check("one second of CPU", ["cpu"], "less", "ulimit -t 1", ranks=1)
    check("32 open files", ["nothing"], "exact", "ulimit -n 32")
    if os.geteuid() == 0:
        check("another user's rights, and no further process, after MPI_Init", ["user"], "less")
        check("another root folder after MPI_Init", ["root-folder", "/var/empty" if os.path.isdir("/var/empty") else "/mnt"], "less")


def stacks():
    """A thread's first calls, each of another function, use little of its stack."""
    plain, traced = (Run(["stack", "{file}", "1024"], traced=t, ranks=1) for t in (False, True))
    compare("a thread's stack", plain, traced, False)
    a, b = int(plain.file), int(traced.file)
    tap.ok(b <= a + 6144, f"a thread's stack: {a} bytes untraced, {b} traced: no more than 6 KiB more")
    check("a thread that is cancelled", ["cancel"], "less", ranks=1)
    check("threads with 64 KiB of stack", ["stack", "{file}", "64"], "less", ranks=1, file=False)


def filters():
    for when, filtered in (("before MPI_Init", "filter"), ("after MPI_Init", "late-filter")):
        check(f"system calls refused, {when}", [f"{filtered}-errno"], "exact")
        check(f"system calls that kill, {when}", [f"{filtered}-kill"], "exact")
    check("system calls that kill, MPI_THREAD_MULTIPLE", ["filter-kill-threads"], "less")
    # Waiting for a rank that does not come is 500 sleeps of 2 ms (preload/tree.c).
    for filtered in ("filter-errno", "filter-kill"):
        traced = Run([filtered], preload=f'LD_PRELOAD="$LD_PRELOAD:{WAITS}" ')
        slept = [int(n) for n in re.findall(rb"slept (\d+) times", traced.errors)]
        tap.ok(len(slept) == RANKS and max(slept) < 50, f"{filtered}: ranks do not wait for each other in MPI_Finalize", f"{slept} sleeps", traced.said[-800:])
        shutil.rmtree(traced.folder)


def spools():
    check("the spool is renamed", ["rename", "{spool}"], "no trace|cannot")
    check("the spool is removed", ["remove", "{spool}"], "no trace|cannot")
    if os.geteuid() != 0:
        tap.skip("full and read-only spools", "only root can mount them")
        return
    for title, size, then, expected in (("full", "64k", ":", "No space left|no trace"), ("full when more is needed", "900k", ":", "No space left"),
                                        ("read-only", "4m", 'mount -o remount,ro "$TMPDIR"', "no trace|Read-only")):
        place = tempfile.mkdtemp(prefix="confined-spool-")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "none", place], check=False).returncode != 0:
            tap.skip(f"a spool that is {title}", "a tmpfs cannot be mounted")
            continue
        check(f"a spool that is {title}", ["nothing"], expected, then, on=place, ranks=1)
        subprocess.run(["umount", place], check=False)
        os.rmdir(place)


def disk():
    """A disk on which nothing is ever synced does not hold MPI_Finalize."""
    traced = Run(["nothing"], preload=f'LD_PRELOAD="$LD_PRELOAD:{SLOW_DISK}" ')
    done = traced.verify()
    tap.ok(traced.status == 0 and done.returncode == 0, "a disk that does not sync: the program ends, and there is a trace", traced.said, done.stdout.decode())
    shutil.rmtree(traced.folder)


def main():
    which = sys.argv[1:] or ["descriptors", "limits", "stacks", "filters", "spools", "disk"]
    for name in which:
        globals()[name]()
    tap.done()


if __name__ == "__main__":
    main()
