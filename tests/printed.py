# SPDX-License-Identifier: BSD-3-Clause
"""printed - what real programs print without the times in it, so that two runs can be compared

    python3 tests/printed.py input FOLDER                     writes HPCC's input for two ranks there
    python3 tests/printed.py same PROGRAM RUN RUN TRACED      files: does the third have what the first two have in common? Says what differs.
"""
import os
import re
import sys

import launch

FEW = 3  # so many words at least must be in common: else nothing was compared


def scalapack(line):
    """Of a row of its tables integers and the verdict: all else are times, and residuals, which hang on the order in which messages come."""
    return [word for word in line if re.fullmatch(r"-?\d+|[A-Za-z]+", word)] if line[:1] in (["WALL"], ["CPU"]) else line


def lammps(line):
    """All but its own account of the time."""
    text = " ".join(line)
    return [] if "|" in line or re.search(r"time|Performance|CPU|steps/s|wall", text) else line


def hpcc(line):
    """Parameters, residuals and verdicts; rows of processor time are only there where it took some. One residual hangs on the order in which
    messages come."""
    text = " ".join(line)
    if line[:2] == ["Scaled", "residual:"]:
        return line[:2]
    return line if line[:1] != ["CPU"] and re.search(r"resid|PASS|FAIL|error|^(N|NB|P|Q|M|HPL_\w+|\w+_N|\w+Size|Success)[ :=]", text) and \
        not re.search(r"[Tt]ime|GFlops|Gflops|GB|HPL_Tflops|HPL_time|HPL_eps|WR\d", text) else []


def hpcc_for_two(folder):
    """Its input, for a grid of 1 x 2 processes. With fewer processes than the grid has it leaves HPL out, and takes tables that fill the memory."""
    path = os.path.join(folder, "hpccinf.txt")
    with open(os.path.join(launch.PROGRAMS, "hpccinf.txt"), encoding="utf-8") as tiny, open(path, "w", encoding="utf-8") as f:
        f.write(re.sub(r"^\d+( +[PQ]s)$", lambda line: ("1" if "P" in line[1] else "2") + line[1], tiny.read(), flags=re.M))
    return path


def compare(keep, *runs):
    """runs: lines of words, of two runs without the tracer and of one with it. Returns the number of words in common, and what is different."""
    *plain, traced = ([words for words in map(keep, run) if words] for run in runs)
    if not len(plain[0]) == len(plain[1]) == len(traced):
        return 0, [f"lines: {len(plain[0])}, {len(plain[1])}, and {len(traced)} with the tracer"]
    common, others = 0, []
    for one, two, three in zip(*plain, traced):
        if one != two:
            continue
        common += len(one)
        if one != three:
            others.append(f"{' '.join(one)}   traced: {' '.join(three)}")
    return common, others if common >= FEW else [f"only {common} words in common"]


def words(text):
    return [line.split() for line in text.decode(errors="replace").splitlines()]


def main(what, *arguments):
    if what == "input":
        hpcc_for_two(*arguments)
        return 0
    program, *paths = arguments
    runs = []
    for path in paths:
        with open(path, "rb") as f:
            runs.append(words(f.read()))
    _, others = compare({"hpcc": hpcc, "lmp": lammps}[program], *runs)
    print(*others, sep="\n")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
