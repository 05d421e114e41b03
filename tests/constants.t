#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# constants - each constant and keyval of the standard is recorded by its name, in C and in Fortran, with Open MPI and MPICH, and is replayed
#
# One program is written from the table below in each language. Our own mpi.h of the standard ABI says which constants there are: each is in the
# table, or in EXEMPT. `constants.t LIBRARY|LANGUAGE...` takes those alone.
import collections
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

NAME = re.compile(r"\bMPI_[A-Z0-9][A-Z0-9_]*[A-Z0-9]\b")
with open(os.path.join(tap.SOURCE, "preload/abi/standard/mpi.h"), encoding="utf-8") as header:
    STANDARD = set(NAME.findall(header.read()))
with open(os.path.join(tap.SOURCE, "preload/mpi.table"), encoding="utf-8") as table:
    ROLES = {line.split()[1]: line.split()[4:] for line in re.sub(r"\n[ \t]+", " ", table.read()).splitlines() if line.startswith("role ")}
OLD = ("MPI_LB", "MPI_UB", "MPI_2COMPLEX", "MPI_2DOUBLE_COMPLEX")  # no part of MPI 3
EXEMPT = {
    "no parameter has it": r"MPI_(MAX_.*|F_.*|H_ABI|ABI_.*|VERSION|SUBVERSION|BSEND_OVERHEAD|SUCCESS|SOURCE|TAG|ERROR|.*_FN|CONVERSION_FN_NULL(_C)?|ERR_LASTCODE)",
    "buffers and statuses without a name": r"MPI_(BOTTOM|BUFFER_AUTOMATIC|STATUS(ES)?_IGNORE)",
    "values of attributes": r"MPI_WIN_(FLAVOR_.*|SEPARATE|UNIFIED)",
    "tests/spawn.t": r"MPI_(ARGVS?_NULL|ERRCODES_IGNORE)",
    "tests/programs/sessions.c": r"MPI_SESSION_NULL",
    "no library makes one: MPICH 4.2 has only the pairs with a name": r"MPI_COMBINER_VALUE_INDEX",
    "a library ends the program that passes it": r"MPI_(ERRHANDLER_NULL|ERRORS_ABORT|MESSAGE_NULL)",
}

# In both languages: `> variable` is passed to be written, FALSE, EXTRA and x{0} are what they are in C and in Fortran; no call: as it is. The event
# has these parameters. A call with a constant that the library does not have is left out.
Line = collections.namedtuple("Line", "text has")


def each(names, text, parameter, *leave_out):
    return [Line(text.format(c), {parameter: c}) for c in names if c not in leave_out]


def call(text, **has):
    return [Line(text, has)]


def then(text):
    return [Line(text, None)]


def combiner(make, name):
    return call(make) + call("Type_get_envelope(type, >n, >n2, >n3, >combiner)", combiner=f"MPI_COMBINER_{name}")


def opened(amode, *between):
    return call(f'File_open(MPI_COMM_WORLD, "data", {amode}, MPI_INFO_NULL, >file)', amode=amode.replace(" + ", "|")) + [x for b in between for x in b] + call("File_close(>file)")


def errors():
    """A handler says that the error was another one."""
    out = call("Comm_create_errhandler(fail, >err)") + call("Comm_set_errhandler(MPI_COMM_SELF, err)")
    for name in (n for n in ROLES["error"] if n in STANDARD - {"MPI_ERR_LASTCODE"}):
        out += then(f"code = {name}") + call("Cartdim_get(MPI_COMM_SELF, >n)", error=name)
    return out


LEVELS = ROLES["thread"]
LINES = [
    *call("Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)", errhandler="MPI_ERRORS_RETURN"),
    *each(ROLES["errhandler"][1:3], "Comm_set_errhandler(MPI_COMM_SELF, {})", "errhandler"),
    *call("Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)"),
    *each(ROLES["type"], "Type_size({}, >n)", "datatype", *OLD),
    *call("Type_size(MPI_C_FLOAT_COMPLEX, >n)", datatype="MPI_C_FLOAT_COMPLEX"),
    *call("Type_size(MPI_LONG_LONG, >n)", datatype="MPI_LONG_LONG"),
    *each(ROLES["op"], "Op_commutative({}, >flag)", "op"),
    *each(ROLES["comm"], "Comm_size({}, >n)", "comm"),
    *each(ROLES["group"], "Group_size({}, >n)", "group"),
    *call("Info_get_nkeys(MPI_INFO_ENV, >n)", info="MPI_INFO_ENV"),
    *call("File_get_errhandler(MPI_FILE_NULL, >err)", file="MPI_FILE_NULL"),
    *call("Win_get_errhandler(MPI_WIN_NULL, >err)", win="MPI_WIN_NULL"),
    *then("request = MPI_REQUEST_NULL"), *call("Wait(>request, MPI_STATUS_IGNORE)", request="MPI_REQUEST_NULL"),
    *then("message = MPI_MESSAGE_NO_PROC"), *call("Mrecv(room, 1, MPI_BYTE, >message, MPI_STATUS_IGNORE)", message="MPI_MESSAGE_NO_PROC"),
    *call("Comm_delete_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID)", comm_keyval="MPI_KEYVAL_INVALID"),
    *each([k for k in ROLES["keyval"][1:] if "_WIN_" not in k], "Comm_get_attr(MPI_COMM_WORLD, {}, >value, >flag)", "comm_keyval"),
    *call("Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, >own, EXTRA)", comm_keyval="k0"),
    *call("Comm_get_attr(MPI_COMM_WORLD, own, >value, >flag)", comm_keyval="k0"), *call("Comm_free_keyval(>own)"),
    # ranks, tags
    *call("Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, >flag, MPI_STATUS_IGNORE)", source="MPI_ANY_SOURCE", tag="MPI_ANY_TAG"),
    *call("Send(room, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF)", dest="MPI_PROC_NULL"),
    *call("Comm_rank(MPI_COMM_WORLD, >rank)"), *then("other = 1 - rank"), *then("root = 0"), *then("if (rank == 0) root = MPI_ROOT"),
    *call("Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, other, 5, >comm)"), *call("Bcast(room, 1, MPI_BYTE, root, comm)", root="MPI_ROOT"),
    *call("Comm_free(>comm)"),
    # places
    *call("Allgather(MPI_IN_PLACE, 0, MPI_BYTE, room, 1, MPI_BYTE, MPI_COMM_WORLD)", sendbuf="MPI_IN_PLACE"),
    # communicators
    *call("Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, >comm)", color="MPI_UNDEFINED", newcomm="MPI_COMM_NULL"),
    *[x for t in ROLES["split"][:-1] for x in call(f"Comm_split_type(MPI_COMM_WORLD, {t}, 0, MPI_INFO_NULL, >comm)", split_type=t, info="MPI_INFO_NULL")],
    *call("Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, >n)", result="MPI_IDENT"),
    *call("Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, >n)", result="MPI_UNEQUAL"),
    *call("Comm_dup(MPI_COMM_WORLD, >comm)"), *call("Comm_compare(MPI_COMM_WORLD, comm, >n)", result="MPI_CONGRUENT"), *call("Comm_free(>comm)"),
    *then("key = -rank"), *call("Comm_split(MPI_COMM_WORLD, 0, key, >comm)"), *call("Comm_compare(MPI_COMM_WORLD, comm, >n)", result="MPI_SIMILAR"),
    *call("Comm_free(>comm)"),
    # topologies
    *call("Topo_test(MPI_COMM_WORLD, >n)", status="MPI_UNDEFINED"),
    *call("Cart_create(MPI_COMM_WORLD, 1, twos, falses, FALSE, >comm)"), *call("Topo_test(comm, >n)", status="MPI_CART"), *call("Comm_free(>comm)"),
    *then("more{0} = 1"), *then("more{1} = 2"), *then("others{0} = 1"), *then("others{1} = 0"),
    *call("Graph_create(MPI_COMM_WORLD, 2, more, others, FALSE, >comm)"), *call("Topo_test(comm, >n)", status="MPI_GRAPH"), *call("Comm_free(>comm)"),
    *then("others{0} = other"),
    *call("Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, others, MPI_UNWEIGHTED, 1, others, MPI_UNWEIGHTED, MPI_INFO_NULL, FALSE, >comm)",
          sourceweights="MPI_UNWEIGHTED", destweights="MPI_UNWEIGHTED"), *call("Topo_test(comm, >n)", status="MPI_DIST_GRAPH"), *call("Comm_free(>comm)"),
    *call("Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, others, MPI_WEIGHTS_EMPTY, 0, others, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, FALSE, >comm)",
          sourceweights="MPI_WEIGHTS_EMPTY", destweights="MPI_WEIGHTS_EMPTY"), *call("Comm_free(>comm)"),
    # datatypes
    *[x for c, bytes_ in (("REAL", 4), ("INTEGER", 4), ("COMPLEX", 8))
      for x in call(f"Type_match_size(MPI_TYPECLASS_{c}, {bytes_}, >type)", typeclass=f"MPI_TYPECLASS_{c}")],
    *call("Type_get_envelope(MPI_BYTE, >n, >n2, >n3, >combiner)", combiner="MPI_COMBINER_NAMED"), *then("bytes = 8"),
    *combiner("Type_dup(MPI_BYTE, >type)", "DUP"), *combiner("Type_contiguous(2, MPI_BYTE, >type)", "CONTIGUOUS"),
    *combiner("Type_vector(2, 1, 2, MPI_BYTE, >type)", "VECTOR"), *combiner("Type_create_hvector(2, 1, bytes, MPI_BYTE, >type)", "HVECTOR"),
    *combiner("Type_indexed(1, ones, zeros, MPI_BYTE, >type)", "INDEXED"), *combiner("Type_create_hindexed(1, ones, nowhere, MPI_BYTE, >type)", "HINDEXED"),
    *combiner("Type_create_indexed_block(1, 1, zeros, MPI_BYTE, >type)", "INDEXED_BLOCK"),
    *combiner("Type_create_hindexed_block(1, 1, nowhere, MPI_BYTE, >type)", "HINDEXED_BLOCK"),
    *then("types{0} = MPI_BYTE"), *combiner("Type_create_struct(1, ones, nowhere, types, >type)", "STRUCT"),
    *combiner("Type_create_resized(MPI_BYTE, bytes, bytes, >type)", "RESIZED"), *combiner("Type_create_f90_real(6, 30, >type)", "F90_REAL"),
    *combiner("Type_create_f90_complex(6, 30, >type)", "F90_COMPLEX"), *combiner("Type_create_f90_integer(5, >type)", "F90_INTEGER"),
    *[x for c in ROLES["order"] for x in call(f"Type_create_subarray(1, twos, ones, zeros, {c}, MPI_BYTE, >type)", order=c)],
    *call("Type_get_envelope(type, >n, >n2, >n3, >combiner)", combiner="MPI_COMBINER_SUBARRAY"), *then("dargs{0} = MPI_DISTRIBUTE_DFLT_DARG"),
    *[x for c in ROLES["distribute"] for x in then(f"distribs{{0}} = {c}") +
      call("Type_create_darray(1, 0, 1, twos, distribs, dargs, ones, MPI_ORDER_C, MPI_BYTE, >type)", array_of_distribs=f"[{c}]",
           array_of_dargs="[MPI_DISTRIBUTE_DFLT_DARG]")],
    *call("Type_get_envelope(type, >n, >n2, >n3, >combiner)", combiner="MPI_COMBINER_DARRAY"),
    # windows
    *then("bytes = 16"), *call("Win_create(room, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, >win)", info="MPI_INFO_NULL"),
    *each([k for k in ROLES["keyval"] if "_WIN_" in k], "Win_get_attr(win, {}, >value, >flag)", "win_keyval"),
    *[x for c in ("NOPRECEDE", "NOPUT", "NOSTORE", "NOSUCCEED") for x in call(f"Win_fence(MPI_MODE_{c}, win)", **{"assert": f"MPI_MODE_{c}"})],
    *call("Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, win)", lock_type="MPI_LOCK_SHARED", **{"assert": "MPI_MODE_NOCHECK"}), *call("Win_unlock(rank, win)"),
    *call("Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)", lock_type="MPI_LOCK_EXCLUSIVE"), *call("Win_unlock(rank, win)"), *call("Win_free(>win)"),
    # files
    *opened("MPI_MODE_CREATE + MPI_MODE_RDWR", *(call(f"File_seek(file, where, {c})", whence=c) for c in ROLES["whence"])),
    *opened("MPI_MODE_RDONLY + MPI_MODE_UNIQUE_OPEN"), *opened("MPI_MODE_WRONLY + MPI_MODE_APPEND"),
    *opened("MPI_MODE_WRONLY + MPI_MODE_SEQUENTIAL",
            call('File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)', disp="MPI_DISPLACEMENT_CURRENT")),
    *opened("MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE"), *opened("MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE + MPI_MODE_EXCL"),
]
ERRORS = errors()

ARRAYS = {"ones": ("int", "1"), "twos": ("int", "2"), "zeros": ("int", "0"), "room": ("int", "0"), "more": ("int", "0"), "others": ("int", "0"),
          "dargs": ("int", "0"), "distribs": ("int", "0"), "nowhere": ("aint", "0"), "falses": ("flag", "FALSE")}
SCALARS = {"n": "int", "n2": "int", "n3": "int", "combiner": "int", "rank": "int", "other": "int", "root": "int", "key": "int", "own": "int", "level": "int",
           "flag": "flag", "bytes": "aint", "where": "offset", "comm": "Comm", "type": "Datatype", "err": "Errhandler", "request": "Request",
           "message": "Message", "win": "Win", "file": "File"}
CODE = "int code;\nstatic void fail(MPI_Comm *comm, int *error, ...)\n{\n\t*error = code;\n}\n"
MODULE = """      module callbacks
      integer :: code = 0
      contains
      subroutine fail(comm, error)
      {use}
      implicit none
      {include}
      {comm} :: comm
      integer :: error
      error = code
      end subroutine
      end module
"""
USES = {"mpi": ("use mpi", ""), "mpi_f08": ("use mpi_f08", ""), "mpif.h": ("", "include 'mpif.h'")}


def in_c(lines):
    types = {"int": "int", "flag": "int", "aint": "MPI_Aint", "offset": "MPI_Offset"}
    declared = [f"{types.get(t, 'MPI_' + t)} {name};" for name, t in SCALARS.items()]
    declared += [f"{types[t]} {name}[4] = {{{', '.join(['0' if v == 'FALSE' else v] * 4)}}};" for name, (t, v) in ARRAYS.items()]
    declared += ["MPI_Datatype types[4];", "void *value = NULL;", f"static const int levels[] = {{{', '.join(LEVELS)}}};"]
    body = []
    for x in lines:
        text = re.sub(r"\{(\d)\}", r"[\1]", x.text).replace(">", "&").replace("FALSE", "0").replace("EXTRA", "NULL")
        body.append(f"{'MPI_' * (x.has is not None)}{text};")
    return "#include <mpi.h>\n#include <stdlib.h>\n" + CODE + "int main(int argc, char **argv)\n{\n\t" + "\n\t".join(
        [*declared, "where = 0;", "MPI_Init_thread(&argc, &argv, levels[atoi(argv[1])], &n);", *body, "MPI_Finalize();", "return 0;"]) + "\n}\n"


def in_fortran(lines, language):
    use, include = USES[language]
    kinds = {"int": "integer", "flag": "logical", "aint": "integer(kind=MPI_ADDRESS_KIND)", "offset": "integer(kind=MPI_OFFSET_KIND)"}

    def handle(t):
        return f"type(MPI_{t})" if language == "mpi_f08" else "integer"

    declared = [f"{kinds.get(t) or handle(t)} :: {name}" for name, t in SCALARS.items()]
    declared += [f"{kinds[t]} :: {name}(4) = {'.false.' if v == 'FALSE' else v}" for name, (t, v) in ARRAYS.items()]
    declared += [f"{handle('Datatype')} :: types(4)", f"{kinds['aint']} :: value", "integer :: ierr", "character(len=8) :: word",
                 f"integer :: levels(4) = (/ {', '.join(LEVELS)} /)"]
    body = ["value = 0", "where = 0", "call get_command_argument(1, word)", "read (word, *) level", "call MPI_Init_thread(levels(level + 1), n, ierr)"]
    for x in lines:
        text = re.sub(r"\{(\d)\}", lambda m: f"({int(m.group(1)) + 1})", x.text).replace(">", "").replace("FALSE", ".false.").replace("EXTRA", "value")
        body.append(text if x.has is None else f"call MPI_{text[:-1]}, &\n     & ierr)")
    indent = "\n      "
    return MODULE.format(use=use, include=include, comm=handle("Comm")) + f"      program constants\n      use callbacks\n      {use}\n      implicit none\n" \
        f"      {include}\n      " + indent.join([*declared, *body, "call MPI_Finalize(ierr)"]) + "\n      end program\n"


def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)


def compiled(compiler, language, path, lines):
    with open(path + (".c" if language == "C" else ".f90"), "w", encoding="ascii") as f:
        f.write(in_c(lines) if language == "C" else in_fortran(lines, language))
    more = ["-w"] if language == "C" else ["-w", "-fallow-argument-mismatch", "-ffree-line-length-none", "-fmax-errors=0", "-J" + os.path.dirname(path)]
    return run(compiler, "-g", *more, f.name, "-o", path)


def names_in(x):
    return set(NAME.findall(f"{x.text} {x.has}"))


def those_there(compiler, language, path, lines):
    """Which of the lines the library has all constants of: it is asked until it finds nothing missing."""
    lacks = set()
    for _ in range(4):
        lines = [x for x in lines if not names_in(x) & lacks]
        asked = [*lines, *(Line(f"n = {c}", None) for x in lines for c in sorted(names_in(x)) if x.has and c.startswith("MPI_COMBINER"))]
        said = compiled(compiler, language, path, asked).stdout
        missing = {n.upper() for n in re.findall(r"[‘'`](mpi_\w+)[’'] (?:undeclared|at \(1\) has no IMPLICIT type)", said, re.IGNORECASE)} - lacks
        if not missing:
            return lines, lacks, said
        lacks |= missing
    return lines, lacks, said


ALIASES = """
#include <stdio.h>
#define SAME(a, b) if ((size_t)(a) == (size_t)(b)) puts(#a " " #b);
int main(int argc, char **argv)
{{
	{}
	return 0;
}}
"""


def aliases(compiler, folder, names):
    """Names of one value."""
    path = os.path.join(folder, "aliases")
    handles = [n for n in ROLES["type"] + ["MPI_C_FLOAT_COMPLEX", "MPI_LONG_LONG"] if n in names]
    with open(path + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\n" + ALIASES.format("\n\t".join(f"SAME({a}, {b})" for a in handles for b in handles)))
    run(compiler, "-w", f.name, "-o", path)
    same = collections.defaultdict(set)
    for line in run(path).stdout.splitlines():
        a, b = line.split()
        same[a].add(b)
    return same


def traced(path, trace, level, folder):
    return launch.mpirun(2, [path, str(level)], before=[launch.spoor(), "run", "-f", "-o", trace, "--"], cwd=folder)


def unlike(lines, dump, same):
    """What the events lack."""
    calls, events = [x for x in lines if x.has is not None], dump.splitlines()[1:-1]
    wrong = [] if len(calls) == len(events) else [f"{len(calls)} calls, {len(events)} events"]
    for x, event in zip(calls, events):
        words = dict(re.findall(r" (\w+)=(\S+)", event))
        if event.split()[1] != f"MPI_{x.text.split('(')[0]}":
            return [*wrong, f"{x.text}: {event}"]
        for parameter, value in x.has.items():
            if words.get(parameter) != value and words.get(parameter) not in same[value]:
                wrong.append(f"{x.text}: {parameter} is not {value}: {event}")
    return wrong


def last_of(trace):
    return [run(launch.spoor(), "dump", "--rank", str(r), trace).stdout.splitlines()[-2:] for r in range(2)]


def replayed(trace):
    launcher = launch.command(2, [])
    at = launcher.index("-n")
    return run(launch.spoor(), "replay", "--check", trace, "--", *launcher[:at], *launcher[at + 2:])


def check(folder, mpi, compiler, language, lines, title, same, least, replays=True):
    path = os.path.join(folder, f"constants-{mpi}-{language}".replace(".", "-"))
    lines, lacks, said = those_there(compiler, language, path, lines)
    print(f"# {title}: the library lacks", *sorted(lacks))
    done = compiled(compiler, language, path, lines)
    named = set().union(*(names_in(x) for x in lines))
    if not tap.ok(done.returncode == 0 and len(named) > least, f"{title}: a program with {len(named)} constants compiles", said[-3000:]):
        return
    trace = path + ".spoor"
    done = traced(path, trace, 0, folder)
    tap.ok(done.returncode == 0, f"{title}: it runs", done.stderr.decode(errors="replace")[-3000:], *last_of(trace))
    dump = run(launch.spoor(), "dump", "--rank", "0", trace).stdout
    tap.equal(unlike(lines, dump, same), [], f"{title}: each is recorded by its name")
    if replays:
        done = replayed(trace)
        tap.ok(done.returncode == 0 and "equal: 2 ranks" in done.stdout, f"{title}: it is replayed", done.stdout[-3000:])


def levels(folder, mpi, language):
    path = os.path.join(folder, f"constants-{mpi}-{language}".replace(".", "-"))
    said = []
    for i in range(len(LEVELS)):
        traced(path, path + ".spoor", i, folder)
        said += re.findall(r"^0 MPI_Init_thread required=(\w+) provided=MPI_THREAD_\w+$", run(launch.spoor(), "dump", "--rank", "0", path + ".spoor").stdout, re.M)
    tap.equal(said, LEVELS, f"{language}, {mpi}: levels of threads")


def known():
    """The table has every constant of the standard."""
    named = set().union(*(names_in(x) for x in [*LINES, *ERRORS]), LEVELS)
    tap.equal(sorted(n for n in STANDARD - named if not any(re.fullmatch(e, n) for e in EXEMPT.values())), [], "each constant of the standard is in the table")


def main(chosen):
    os.environ["SPOOR_REPLAY"] = os.path.join(tap.BUILD, "spoor-replay")
    known()
    with tempfile.TemporaryDirectory(prefix="constants-t-") as folder:
        for mpi, c, fortran in (("openmpi", "MPICC", "MPIFC"), ("mpich", "MPICH_CC", "MPICH_FC")):
            os.environ["SPOOR_TEST_MPI"] = mpi
            same, compilers = None, [mpich_programs.made(c), mpich_programs.made(fortran)]
            for language in ("C", *USES):
                compiler = compilers[language != "C"]
                if not compiler or chosen and not {mpi, language} & set(chosen):
                    continue
                if not same:
                    have = set().union(*(names_in(x) for x in those_there(compilers[0], "C", os.path.join(folder, "there"), LINES)[0]))
                    same = aliases(compilers[0], folder, have)
                check(folder, mpi, compiler, language, LINES, f"{language}, {mpi}", same, 120)
                levels(folder, mpi, language)
                check(folder, mpi, compiler, language, ERRORS, f"classes of errors, {language}, {mpi}", same, 40, False)
    tap.done()


main(sys.argv[1:])
