#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# libc-names - programs and libraries may have functions and variables of every name that libc and the loader have: they run as without spoor
#
# All names at once. Names by which a program fails without spoor, since libc itself asks for them, are found by halving and left
# out; some are fatal only together with others.
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
# What the program that asks is made of, in assembly, too: its main calls nothing of libc's, and ends at once.
MAIN = """
int main(int argc)
{
	long rv;
	__asm__ volatile("syscall" : "=a"(rv) : "0"(1L), "D"(1L), "S"("ran\\n"), "d"(4L) : "rcx", "r11", "memory");
	__asm__ volatile("syscall" : "=a"(rv) : "0"(231L), "D"(argc + 4L) : "rcx", "r11", "memory");
	return (int)rv;
}
"""
# of the files that begin a program
START = {"main", "_start", "_init", "_fini", "__libc_start_main", "__data_start", "data_start"}
SIZES = (1, 4, 8, 32)
BEHIND = 8192  # more than libc's and the loader's largest have


def exported(path):
    """Names of functions and of variables."""
    functions, variables = set(), set()
    for line in subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        name = name.split("@")[0]
        if kind in "TWi":
            functions.add(name)
        elif kind in "BDRV":
            variables.add(name)
    shown = subprocess.run(["readelf", "--wide", "--dyn-syms", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    each_threads = set(re.findall(r" TLS .* ([^\s@]+)(?:@\S+)?$", shown, re.M))  # the linker refuses another kind of these
    return functions, variables - each_threads


def definitions(functions, variables):
    """In assembly: functions that end the program when they are called, variables that hold no address and are of another size. libc takes a
    variable to be as large as its own: what it finds behind one is the same, whatever others there are."""
    text = [".text"] + [f".globl {n}\n.type {n},@function\n{n}: ud2\n.size {n},2" for n in functions] + [".data"]
    for n in variables:
        size = SIZES[sum(map(ord, n)) % len(SIZES)]  # the same whatever others there are
        text.append(f".balign 8\n.globl {n}\n.type {n},@object\n{n}: .fill {BEHIND},1,0x41\n.size {n},{size}")
    return "\n".join(text) + '\n.section .note.GNU-stack,"",@progbits\n'


def made(folder, functions, variables, library):
    """A program that has the names, itself or in a library that is searched before libc."""
    path, source = os.path.join(folder, "program"), os.path.join(folder, "names.s")
    with open(source, "w", encoding="ascii") as f:
        f.write(definitions(functions, variables))
    commands = [["cc", "-rdynamic", "-o", path, os.path.join(folder, "main.o"), source]]
    if library:
        so = os.path.join(folder, "names.so")
        commands = [["cc", "-shared", "-nostdlib", "-o", so, source], ["cc", "-o", path, os.path.join(folder, "main.o"), "-Wl,--no-as-needed", so]]
    for command in commands:
        subprocess.run(command, check=True)
    return path


def outcome(path, gate=""):
    """Status, output, and what is in the spool."""
    with tempfile.TemporaryDirectory() as spool:
        done = subprocess.run([path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=100,
                              env={"LD_PRELOAD": gate, "SLURM_SPOOR_HANDOFF": f"1;mode=lossless;spool={spool}"})
        return done.returncode, done.stdout, os.listdir(spool)


def culprits(names, fails):
    """The names by which it fails, alone or together with others: in this order, each is the first with which it does."""
    found, low = [], 0
    while fails(names):
        high = len(names)  # of those up to here, it fails; up to low, it does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(names[:middle]) else (middle, high)
        found.append(names[high - 1])
        names = names[:high - 1] + names[high:]
    return found


def check(folder, title, functions, variables, library):
    def parts(names):
        return [n for n in names if n in functions], [n for n in names if n in variables]

    def plain_fails(names):
        return outcome(made(folder, *parts(names), library))[0] != 5

    names = sorted(functions | variables)
    left_out = culprits(names, plain_fails)
    names = [n for n in names if n not in left_out]
    tap.ok(len(names) > 2000 and len(left_out) < 60, f"{title}: {len(names)} names", *left_out)
    path = made(folder, *parts(names), library)
    plain = outcome(path)
    tap.equal(plain[:2], (5, b"ran\n"), f"{title}: it runs")
    if not tap.equal(outcome(path, launch.preload()), plain, f"{title}: as without"):
        print("#", *culprits(names, lambda some: outcome(made(folder, *parts(some), library), launch.preload())[0] != 5))


def main():
    functions, variables = set(), set()
    for path in (f"{LIBRARIES}/libc.so.6", f"{LIBRARIES}/ld-linux-x86-64.so.2"):
        f, v = exported(path)
        functions |= f - START
        variables |= v - START
    variables -= functions
    with tempfile.TemporaryDirectory(prefix="libc-names-") as folder:
        with open(os.path.join(folder, "main.c"), "w", encoding="ascii") as f:
            f.write(MAIN)
        subprocess.run(["cc", "-O1", "-c", "-o", os.path.join(folder, "main.o"), os.path.join(folder, "main.c")], check=True)
        for library in (False, True):
            where = "in a library" if library else "in the program"
            check(folder, where, functions, variables, library)
    tap.done()


main()
