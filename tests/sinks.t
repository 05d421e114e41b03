#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# sinks - text leaves the command only through cmd/base/sink: by the symbols of its objects
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

# What writes text into a FILE or a descriptor, with and without checks of the compiler's.
WRITERS = re.compile(r"""^(__)?(v?f?printf|v?dprintf|f?puts|f?putc|putchar|fwrite|putw|fputw[cs]|putwchar|v?f?wprintf|perror|psignal|psiginfo
    |herror|err|errx|verr|verrx|warn|warnx|vwarn|vwarnx|error|error_at_line|vsyslog|syslog|_IO_putc|overflow
    |json_dumpf|json_dumpfd|json_dump_file|json_dump_callback|write|writev|pwrite|send)(_unlocked|_chk|64)?$""", re.VERBOSE)

# The object, which writer, and what it writes.
ALLOWED = {
    "cmd/base/sink": {"fprintf", "fputs", "fputc", "fwrite", "putc"},
    "cmd/base/sink_json": {"json_dump_callback"},
    "cmd/base/task_job": {"write"},    # a number to its parent
    "cmd/base/state_file": {"write", "fputs", "fwrite", "fprintf", "json_dumpf"},  # a file that only spoor reads
    "cmd/hook_state": {"pwrite"},      # the same
    "cmd/where/told": {"pwrite"},      # the same
    "cmd/export/simgrid": {"pwrite"},  # numbers for itself
    "cmd/base/stage": {"write"},       # copies files
    "cmd/where/sample": {"write"},     # numbers to its parent
    "cmd/doctor": {"dprintf"},         # to its parent, which prints
    "cmd/doctor_try": {"write"},       # bytes that try a file system
}


def name_of(path, build):
    """cmd/base/spoor-sink.o -> cmd/base/sink"""
    folder, name = os.path.split(os.path.relpath(path, build))
    return f"{folder}/{re.sub(r'^spoor(_(aggregate|replay)_[a-z]+)?-', '', name)[:-2]}"


def plain_name(symbol):
    name = re.sub(r"^(__)?(.*?)(_unlocked|_chk|64)?$", r"\2", symbol)
    return "putc" if name == "_IO_putc" else name


def all_writers(paths):
    """{object: which of them it calls}"""
    found = {path: set() for path in paths}
    for i in range(0, len(paths), 100):
        out = subprocess.run(["nm", "-u", "-A", *paths[i:i + 100]], capture_output=True, text=True, check=True).stdout
        for path, symbol in (line.rsplit(":", 1) for line in out.splitlines()):
            symbol = symbol.split()[-1].split("@")[0]
            if WRITERS.match(symbol):
                found[path].add(plain_name(symbol))
    return found


objects = [p for p in glob.glob(os.path.join(tap.BUILD, "cmd/**/*.o"), recursive=True) if os.path.basename(p).startswith("spoor")]
wrong = []
for path, texts in all_writers(sorted(objects)).items():
    name = name_of(path, tap.BUILD)
    more = texts - ALLOWED.get(name, set())
    if more:
        wrong.append(f"{name}: calls {', '.join(sorted(more))}; cmd/base/sink.h has what escapes values")
tap.ok(len(objects) > 50, "the objects of the command are there")
tap.ok(not wrong, "no object of the command writes but through the sinks", "\n".join(wrong))

# What is in other folders returns texts, or hands them on. Who may write, and what.
ELSEWHERE = {
    "replay/say": "the replay's own sink", "replay/plan": "a list, into memory, of names that are made visible", "replay/starter": "no trace's text",
    "replay/replayer": "no trace's text", "replay/spoor_replay": "that list", "replay/requests": "no trace's text",
    "deliver/collect": "to the process that started it, which cleans it (process_clean)", "deliver/step_end": "the same",
    "deliver/step_files": "the same", "archive/join_archive": "the same: `tell` is the helper's", "spank/helper": "the same", "spank/helper_decide": "the same: the decision",
    "spank/option": "no trace's text: the help of --trace", "process/process": "the caller's own arguments",
    "lib/sites": "into memory, for programs that do what they like with it",
}
PROXY = "proxy/"  # a program's text, into memory; hostile-trace.t compares its tokens
wrong, seen = [], set()
others = [os.path.join(top, file) for folder in "archive deliver gate insight lib merge policy process proxy replay spank trace".split()
          for top, _, files in os.walk(os.path.join(tap.BUILD, folder)) for file in files if file.endswith(".o")]
for path, texts in all_writers(sorted(others)).items():
    folder, file = os.path.split(os.path.relpath(path, tap.BUILD).replace(".libs/", ""))
    name = f"{folder}/{file.rsplit('-', 1)[-1][:-2]}"
    texts -= {"write", "writev", "pwrite", "send"}
    seen |= {name} if texts else set()
    if texts and name not in ELSEWHERE and not name.startswith(PROXY):
        wrong.append(f"{name}: calls {', '.join(sorted(texts))}")
tap.ok(not wrong, "nor does what it is made of, or a replay", "\n".join(wrong))
tap.ok(set(ELSEWHERE) <= seen, "what may write there does", "\n".join(set(ELSEWHERE) - seen))

# Formats are ours: else a value might be one.
formats = []
for folder, _, files in os.walk(os.path.join(tap.SOURCE, "cmd")):
    for file in files:
        if not file.endswith(".c") or file == "sink.c":
            continue
        text = open(os.path.join(folder, file), encoding="utf-8").read()
        for m in re.finditer(r"\b(?:say\(|(?:say_to|html_print)\([^,;]*?,)\s*([a-z_][\w>.\[\]-]*)\s*[,)]", text):
            formats.append(f"{file}: {m.group(0)}")
tap.ok(not formats, "each format is written where it is used", "\n".join(formats))

# Bytes that are no text: a trace, a program of the proxy's, the style sheet, help, records and pseudonyms, a list that is
# printed at once when it is whole.
BYTES = {"prune.c", "export.c", "proxy.c", "proxy_try.c", "html.c", "anonymise.c", "list.c", "passed_text.c", "options.c", "sink.c", "sink_json.c"}
raw = {file for folder, _, files in os.walk(os.path.join(tap.SOURCE, "cmd")) for file in files if file.endswith(".c")
       and "sink_bytes(" in open(os.path.join(folder, file), encoding="utf-8").read()}
tap.ok(raw <= BYTES, "bytes without escaping are written only by those that are named here", "\n".join(raw - BYTES))

# The test sees what it must see.
tap.ok(WRITERS.match("printf") and WRITERS.match("__fprintf_chk") and WRITERS.match("fputs") and WRITERS.match("putchar")
       and WRITERS.match("__vfprintf_chk") and not WRITERS.match("snprintf") and not WRITERS.match("__snprintf_chk"),
       "the test knows printf and not snprintf")
tap.done()
