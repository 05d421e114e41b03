#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# gates - each MPI library is traced by the tracer for its ABI, by whatever name and way it comes; else the program is as ever
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

TOOLS = os.path.join(tap.SOURCE, "tests/tools")
OPEN_MPI, MPICH = "libmpi.so.40", "libmpich.so.12"
# Intel MPI and MVAPICH; Cray's, by compiler; conda's MPICH
OTHER_NAMES = ("libmpi.so.12", "libmpi_cray.so.12", "libmpi_gnu_91.so.12", "libmpich_intel.so.3")
SAYS = {OPEN_MPI: '"Open MPI v', MPICH: '"MPICH Version: '}


def made(name):
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        m = re.search(rf"^{name} = (\S+)", f.read(), re.M)
    return m.group(1) if m else ""


CC = {OPEN_MPI: made("MPICC"), MPICH: made("MPICH_CC")}


def run(*command, environment=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env=dict(os.environ, **(environment or {})))


def compiled(folder, name, mpi, *options):
    path = os.path.join(folder, name)
    done = run(CC[mpi], "-std=gnu11", "-O1", "-g", "-w", "-o", path, *options, "-ldl")
    if done.returncode:
        tap.ok(False, f"{name} compiles", done.stdout)
    return path


def path_of(mpi, program):
    """The file of the library that a program is linked with."""
    return re.search(rf"{re.escape(mpi)} => (\S+)", run("ldd", program).stdout).group(1)


def traced(mpi, ranks, program, gate=None, environment=None):
    """Runs it untraced, then with the gate. Returns both and the traces, as a list of their (ranks, library)."""
    os.environ["SPOOR_TEST_MPI"] = "mpich" if mpi == MPICH else ""
    with tempfile.TemporaryDirectory() as spool:
        ranked = ["sh", "-c", 'LD_PRELOAD="$SPOOR_TEST_PRELOAD" exec "$@"', "sh", *program]
        handoff = {"SLURM_SPOOR_HANDOFF": f"1;mode=lossless;spool={spool}"}
        plain = launch.mpirun(ranks, ranked, environment=dict(environment or {}, SPOOR_TEST_PRELOAD=""))
        done = launch.mpirun(ranks, ranked, environment=dict(environment or {}, **handoff, SPOOR_TEST_PRELOAD=gate or launch.preload()))
        found, notes = [], []
        for path in glob.glob(os.path.join(spool, "*")):
            if path.endswith(".spoor"):
                run(launch.spoor(), "merge", "-o", path + ".whole", path)  # which has the facts as metadata
                shown = run(launch.spoor(), "show", "--json", path + ".whole").stdout
                found.append((int(re.search(r'"ranks": *(\d+)', shown).group(1)), next((m for m, s in SAYS.items() if s in shown), "another")))
            elif "/note-" in path:
                with open(path, encoding="utf-8") as f:
                    notes.append(f.read())
        return plain, done, sorted(found), notes


def said(done):
    return done.returncode, sorted(done.stdout.splitlines()), sorted(done.stderr.splitlines())


def check(title, mpi, program, expected, ranks=2, note=None, **how):
    plain, done, found, notes = traced(mpi, ranks, program, **how)
    tap.ok(plain.returncode == 0 and said(done) == said(plain), f"{title}: as ever", said(plain), said(done))
    tap.equal(found, expected, f"{title}: the traces")
    tap.ok(len(set(notes)) == 1 and re.search(note, notes[0]) if note else not notes, f"{title}: what the administrator is told", *notes)


def without_name(source, path):
    """A copy of a library that does not say its own name, so that programs know it by that of the copy."""
    with open(source, "rb") as f:
        data = bytearray(f.read())
    segments, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    for i in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, segments + 56 * i)
        for at in range(offset, offset + size, 16) if kind == 2 else ():
            if struct.unpack_from("<Q", data, at)[0] == 14:  # DT_SONAME
                struct.pack_into("<Q", data, at, 0x6000000f)  # the system's own: nobody knows it
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o755)


def other_names(folder, program):
    source = path_of(MPICH, program)
    for name in OTHER_NAMES:
        place = os.path.join(folder, "lib-" + name)
        os.mkdir(place)
        without_name(source, os.path.join(place, name))
        flags = [f for f in run(CC[MPICH], "-compile_info").stdout.split() if f.startswith("-I")]
        path = os.path.join(folder, "as-" + name)
        done = run(made("CC"), "-std=gnu11", "-w", "-o", path, os.path.join(TOOLS, "program.c"), *flags, f"-L{place}", f"-l:{name}", f"-Wl,-rpath,{place}")
        tap.ok(not done.returncode and MPICH not in run("readelf", "-d", path).stdout, f"a program is linked with {name}", done.stdout)
        check(name, MPICH, [path], [(2, MPICH)])


def opened(folder):
    loader = os.path.join(folder, "loader")
    done = run(made("CC"), "-std=gnu11", "-o", loader, os.path.join(TOOLS, "loader.c"), "-ldl")
    tap.equal(done.returncode, 0, "a program without MPI")
    for mpi in CC:
        module = compiled(folder, f"module-{mpi}", mpi, "-DMODULE", "-fPIC", "-shared", os.path.join(TOOLS, "program.c"))
        check(f"{mpi} by dlopen, RTLD_LOCAL", mpi, [loader, module], [(2, mpi)])
        check(f"{mpi} by dlopen, RTLD_GLOBAL", mpi, [loader, module, "global"], [(2, mpi)])


def two(folder, program):
    """Two libraries, in one process or in one tree of processes."""
    for mpi, other in ((OPEN_MPI, MPICH), (MPICH, OPEN_MPI)):
        path = compiled(folder, f"two-{mpi}", mpi, os.path.join(TOOLS, "two.c"))
        check(f"linked with {mpi}, opens {other}", mpi, [path, "open", other], [(2, mpi)])
        check(f"linked with {mpi}, uses {other}", other, [path, "use", other], [(2, other)])
        os.environ["SPOOR_TEST_MPI"] = "mpich" if other == MPICH else ""
        inner = " ".join(launch.command(3, [program[other]]))
        check(f"{mpi}, starts {other}", mpi, [path, "start", f"env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMIX_RANK {inner}"],
              sorted([(2, mpi), (3, other)]))


def functions_needed():
    """Those that the tracer itself calls."""
    names = set()
    for path in glob.glob(os.path.join(tap.SOURCE, "preload/*.[ch]")):
        with open(path, encoding="utf-8") as f:
            names |= set(re.findall(r"\breal\.(MPI_\w+)", f.read()))
    return sorted(names - {"MPI_Init"})


def lacking(folder, program):
    """A library without some of the functions that the tracer calls."""
    needed = functions_needed()
    tap.ok(len(needed) > 25, f"the tracer calls {len(needed)} functions of the library")
    for mpi in CC:
        with open(path_of(mpi, program[mpi]), "rb") as f:
            whole = f.read()
        for title, gone in [("all of them", needed)] + [(n, [n]) for n in ("MPI_Comm_rank", "MPI_Initialized", "MPI_Type_size", "MPI_Iallreduce")]:
            data = whole
            for name in gone:
                data = data.replace(b"\0P" + name.encode() + b"\0", b"\0Q" + name.encode() + b"\0")
            place = os.path.join(folder, "lacks")
            os.mkdir(place)
            with open(os.path.join(place, mpi), "wb") as f:
                f.write(data)
            plain, done, _, notes = traced(mpi, 2, [program[mpi]], environment={"LD_LIBRARY_PATH": place})
            if plain.returncode == 127:
                tap.skip(f"{mpi} without {title}: as ever", "the library calls itself by these names, and does not run without spoor either")
            else:
                tap.ok(plain.returncode == 0 and said(done) == said(plain), f"{mpi} without {title}: as ever", said(plain), said(done), *notes)
            shutil.rmtree(place)


def next_to_nothing(folder):
    """A library of the standard's ABI that has hardly more than the names by which it is known."""
    library, program = os.path.join(folder, "libmpi_abi.so.0"), os.path.join(folder, "hardly")
    text = "".join(f"int P{name}(void *a, void *b) {{ return 0; }} int {name}(void *a, void *b) {{ return P{name}(a, b); }}\n"
                   for name in ("MPI_Init", "MPI_Finalize", "MPI_Abi_get_version"))
    main = "int MPI_Init(void *, void *), MPI_Finalize(void); int puts(const char *);\n" \
           "int main(void) { MPI_Init(0, 0); puts(\"between\"); return MPI_Finalize(); }\n"
    path = os.path.join(folder, "hardly.c")
    for source, options in ((text, ["-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.0", "-o", library]),
                            (main, [library, f"-Wl,-rpath,{folder}", "-o", program])):
        with open(path, "w", encoding="ascii") as f:
            f.write(source)
        done = run(made("CC"), "-w", path, *options)
        tap.ok(not done.returncode, f"{os.path.basename(options[-1])} compiles", done.stdout)
    check("a libmpi_abi.so.0 without functions", OPEN_MPI, [program], [], ranks=1, note="cannot learn the rank")


def loaded(library):
    """How much of a library is mapped; behind it is what debuggers read."""
    segments, = struct.unpack_from("<Q", library, 32)
    count, = struct.unpack_from("<H", library, 56)
    parts = [struct.unpack_from("<IIQQQQ", library, segments + 56 * i) for i in range(count)]
    return max(offset + size for kind, _, offset, _, _, size in parts if kind == 1)


def half_installed(folder, program):
    names = {OPEN_MPI: "libspoor-openmpi.so", MPICH: "libspoor-mpich.so"}
    beside = os.path.dirname(launch.preload())
    stranger = os.path.join(folder, "stranger.so")
    run(made("CC"), "-shared", "-fPIC", "-o", stranger, "-x", "c", "/dev/null")
    with open(stranger, "rb") as f:
        stranger = f.read()
    for mpi, name in names.items():
        with open(os.path.join(beside, name), "rb") as f:
            whole = f.read()
        end = loaded(whole)
        for title, data in (("missing", None), ("empty", b""), ("cut after 100 bytes", whole[:100]), ("cut after a page", whole[:4096]),
                            ("cut in half", whole[: end // 2]), ("cut by a byte", whole[: end - 1]),
                            ("of another version", stranger), ("a text", b"#!/bin/sh\n" * 1000)):
            half = os.path.join(folder, "half")
            os.mkdir(half)
            for path in glob.glob(os.path.join(beside, "libspoor-*.so")):
                if not path.endswith(name):
                    os.symlink(path, os.path.join(half, os.path.basename(path)))
            if data is not None:
                with open(os.path.join(half, name), "wb") as f:
                    f.write(data)
            check(f"{name} is {title}", mpi, [program[mpi]], [], gate=os.path.join(half, "libspoor-gate.so"),
                  note=rf"no tracer for the program's MPI library, .*{re.escape(mpi)}.*, is installed")
            shutil.rmtree(half)
    alone = os.path.join(folder, "alone")
    os.mkdir(alone)
    os.symlink(launch.preload(), os.path.join(alone, "libspoor-gate.so"))
    check("no tracer at all", OPEN_MPI, [program[OPEN_MPI]], [], gate=os.path.join(alone, "libspoor-gate.so"))


def main():
    if not CC[MPICH]:
        tap.skip_all("spoor was built without MPICH")
    with tempfile.TemporaryDirectory(prefix="gates-") as folder:
        os.chmod(folder, 0o755)
        program = {mpi: compiled(folder, f"program-{mpi}", mpi, os.path.join(TOOLS, "program.c")) for mpi in CC}
        other_names(folder, program[MPICH])
        opened(folder)
        two(folder, program)
        lacking(folder, program)
        next_to_nothing(folder)
        half_installed(folder, program)
    tap.done()


main()
