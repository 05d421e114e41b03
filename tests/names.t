#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# names - a program may have a function of each name that libc has, and a handler that calls MPI at any instant
#
# The program defines all names of libc's functions that none of its libraries imports, and that are not called without
# spoor. It ends when one of them is called. It runs as without spoor, and its trace is whole.
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

FOLDER = os.environ["TMPDIR"]
SPOOR = os.path.join(tap.BUILD, "spoor")
KINDS = [("Open MPI", "mpicc.openmpi", ["mpirun", "--oversubscribe", "-n", "2"]), ("MPICH", "mpicc.mpich", ["mpiexec.mpich", "-n", "2"])]

RING = """
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, size, got = -1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 20; i++)
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i, &got, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return got != (rank + size - 1) % size;
}
"""
# A thread that allocates all the time is interrupted by a handler that calls MPI.
HANDLER = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile sig_atomic_t calls;
static void on_alarm(int s)
{
	int rank, size;
	(void)s;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (calls++ % 2)
		MPI_Comm_size(MPI_COMM_WORLD, &size);
}
int main(int argc, char **argv)
{
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	MPI_Init(&argc, &argv);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (calls < 300) {
		void *p[64];
		for (int i = 0; i < 64; i++)
			p[i] = malloc(16 + (size_t)i * 40 % 3000);
		for (int i = 0; i < 64; i++)
			free(p[i]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	MPI_Finalize();
	return 0;
}
"""


def symbols(option, path):
    done = subprocess.run(["nm", "-D", option, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, text=True)
    for line in done.stdout.splitlines():
        kind, name = line.split()[-2:]
        if not name.endswith("@GLIBC_PRIVATE") and not name.endswith("@@GLIBC_PRIVATE"):
            yield kind, name.split("@")[0]


def loaded_by(program):
    """The libraries that the program is linked with, as ldd has them."""
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, check=True, text=True).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", listed)))


def write_names(path, names):
    """Assembler that defines them: each tells its number to `taken`."""
    with open(path, "w", encoding="utf-8") as file:
        for i, name in enumerate(names):
            file.write(f'.globl "{name}"\n.type "{name}",@function\n"{name}":\n\tmov ${i}, %edi\n\tjmp taken_name\n')
        file.write(".section .note.GNU-stack,\"\",@progbits\n")


TAKEN = """
void taken_name(int number);
void taken_name(int number)
{
	char text[16] = "name        \\n";
	for (int i = 10; number; number /= 10)
		text[i--] = (char)('0' + number % 10);
	__asm__ volatile("syscall" : : "a"(1), "D"(2), "S"(text), "d"(13) : "rcx", "r11", "memory");
	__asm__ volatile("syscall" : : "a"(231), "D"(99) : "rcx", "r11", "memory");
	__builtin_unreachable();
}
"""


def build(compiler, name, text, *more):
    source = os.path.join(FOLDER, f"{name}.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    program = os.path.join(FOLDER, f"{name}-{compiler}")
    subprocess.run([compiler, "-O1", "-fno-builtin", "-w", "-rdynamic", "-o", program, source, *more], check=True)
    return program


def run(start, program, trace=None):
    command = ([SPOOR, "run", "-f", "-o", trace, "--"] if trace else []) + start + [program]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True, timeout=120, env=ENV)
    except subprocess.TimeoutExpired:
        return "it hangs"
    return (done.returncode, done.stdout)


ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def good(trace):
    done = subprocess.run([SPOOR, "verify", trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    return done.returncode == 0 and "good: 2 ranks" in done.stdout


for kind, compiler, start in KINDS:
    if subprocess.run(["which", compiler], stdout=subprocess.DEVNULL, check=False).returncode:
        tap.skip(f"{kind}: names of libc", "it is not installed")
        continue
    plain = build(compiler, "ring", RING)
    libraries = loaded_by(plain)
    libc = next(path for path in libraries if "/libc.so" in path)
    others = {name for path in [plain, *libraries] for option in ("--undefined-only",) for _, name in symbols(option, path)}
    own = {name for path in [plain] for _, name in symbols("--defined-only", path)}
    names = sorted({name for symbol, name in symbols("--defined-only", libc) if symbol in "TWi"} - others - own)
    for _ in range(100):  # what plug-ins call is called without spoor, too
        write_names(os.path.join(FOLDER, "names.s"), names)
        program = build(compiler, "names", RING + TAKEN, os.path.join(FOLDER, "names.s"))
        called = {names[int(n)] for n in re.findall(r"name +(\d+)", str(run(start, program)))}
        if not called:
            break
        names = [name for name in names if name not in called]
    tap.ok(len(names) > 1000 and ("flock" in names or kind == "MPICH"), f"{kind}: {len(names)} names of libc's functions are nobody's")
    for title, one in (("a program with all these names", program), ("a handler that interrupts malloc", build(compiler, "handler", HANDLER))):
        trace = os.path.join(FOLDER, "names.spoor")
        if os.path.exists(trace):
            os.unlink(trace)
        expected, got = run(start, one), run(start, one, trace)
        tap.equal(got, expected, f"{kind}: {title} runs as without spoor")
        tap.ok(expected[0] == 0 and good(trace), f"{kind}: {title}: its trace is whole", *([names[int(n)] for n in re.findall(r"name +(\d+)", str(got))] if one == program else []))
tap.done()
