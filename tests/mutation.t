#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# mutation - a writer that mixes up two neighbouring numbers is noticed, in each chunk: the independent reader reads something else, or nothing
#
# mutation/mutate.c writes the golden traces with each pair of neighbours swapped. What tests/reader.py makes of such a file is what any
# test can see of it: tests compare it with what spoor says of the same trace.
import concurrent.futures
import os
import signal
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reader  # noqa: E402
import tap  # noqa: E402

GOLDEN = os.path.join(tap.SOURCE, "tests/golden")
# All that a writer writes by numbers; FACT and META are text.
CHUNKS = {"STRG", "PATH", "VECT", "PATT", "MAPS", "RANK", "SITE", "HIST", "LOSS", "PLAC", "CNTR", "FULL", "CLAS", "OPEN", "AWAY", "MEAN"}
MOST = 50  # of each chunk in each trace
# Swaps that mean nothing, by chunk: how many of the golden traces' may go unnoticed, and why.
MEANS_NOTHING = {}
WRITERS = ["trace/file", "trace/model"]


def build(folder):
    """The program, with what writes chunks compiled once more."""
    flags = ["-std=gnu11", "-O1", "-w", f"-I{tap.SOURCE}", f"-I{tap.BUILD}", "-include", "config.h"]
    compiler = os.environ.get("CC", "gcc").split()
    writers = []
    for top in WRITERS:
        for name in sorted(os.listdir(os.path.join(tap.SOURCE, top))):
            path = os.path.join(top, name)
            with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as f:
                if name.endswith(".c") and ("writer_uint(" in (text := f.read()) or "entropy_put" in text or "writer_int(" in text):
                    writers.append(path)
    objects = []

    def compile_one(path, *more):
        objects.append(os.path.join(folder, path.replace("/", "-") + ".o"))
        return subprocess.run([*compiler, *flags, *more, "-c", "-o", objects[-1], os.path.join(tap.SOURCE, path)], check=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda path: compile_one(path, "-include", "tests/mutation/mutated.h"), writers))
    for path in ("tests/mutation/mutate.c", "archive/codec_zstd.c"):
        compile_one(path)
    program = os.path.join(folder, "mutate")
    subprocess.run([*compiler, "-o", program, *objects, os.path.join(tap.BUILD, ".libs/libtrace.a"), "-lzstd", "-lm"], check=True)
    return program


class Endless(Exception):
    pass


def give_up(*_):
    raise Endless


def content(path):
    """All that can be read of a file, as a text; what is wrong with it. Numbers that make it go on for ever are noticed, too."""
    signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.3)
    try:
        trace = reader.Trace(path)
        dumped = [line for r in sorted(trace.events) for line in trace.dump(r)]
        return repr((sorted(vars(trace).items()), dumped))
    except (AssertionError, IndexError, KeyError, ValueError, StopIteration, RuntimeError, TypeError, OverflowError, MemoryError, UnicodeError) as e:
        return f"{type(e).__name__}: {e}"
    except Endless:
        return "endless"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def files(data):
    """The files that mutate wrote."""
    count, at = struct.unpack_from("=Q", data)[0], 8
    for _ in range(count):
        size = struct.unpack_from("=Q", data, at)[0]
        yield data[at + 8:at + 8 + size]
        at += 8 + size


def look_at(program, name, folder):
    """{chunk: [swaps tried, those that nobody notices]}"""
    path, found, swaps = os.path.join(folder, f"{os.getpid()}.spoor"), {}, {}
    done = subprocess.run([program, os.path.join(GOLDEN, name)], stdout=subprocess.PIPE, check=True)

    def read(data):
        with open(path, "wb") as f:
            f.write(data)
        return content(path)

    variants = list(files(done.stdout))
    right, chunks_right = read(variants[0]), reader.chunks(variants[0])
    for n, data in enumerate(variants[1:], 1):
        chunks = reader.chunks(data)
        swaps.setdefault(next((c for c in chunks_right if chunks.get(c) != chunks_right[c]), None), []).append(n)
    swaps.pop(None, None)  # the same bytes: a number below the highest bit of which nothing is kept
    for chunk, numbers in swaps.items():
        step = -(-len(numbers) // MOST)
        found[chunk] = [len(numbers[::step]), [f"{name}: swap {n}" for n in numbers[::step] if read(variants[n]) == right]]
    return found


def main():
    names = sorted(n for n in os.listdir(GOLDEN) if n.endswith(".spoor") and "arm64" not in n)
    total = {}
    with tempfile.TemporaryDirectory(prefix="mutation-t-") as folder:
        program = build(folder)
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for found in pool.map(look_at, [program] * len(names), names, [folder] * len(names)):
                for chunk, (tried, missed) in found.items():
                    mine = total.setdefault(chunk, [0, []])
                    mine[0] += tried
                    mine[1] += missed
    for chunk in sorted(CHUNKS):
        tried, missed = total.get(chunk, (0, []))
        most, why = MEANS_NOTHING.get(chunk, (0, ""))
        tap.ok(tried > 0 and len(missed) <= most, f"{chunk}: of {tried} swaps {len(missed)} are not noticed{': ' + why if why else ''}", *missed[:10])
    tap.done()


if __name__ == "__main__":
    main()
