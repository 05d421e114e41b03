#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# starts - by the symbols of all objects: one file starts processes, one changes who a process is
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

# What starts a process or executes something, and what changes identity. syscall(2) could do either.
STARTS = re.compile(r"_*(fork|vfork|_Fork|clone[23]?|daemon|posix_spawnp?|exec(l|le|lp|v|ve|vp|vpe|veat)|fexecve|popen|system|wordexp|forkpty"
                    r"|set(re|res|e|fs)?[ug]id|initgroups|setgroups|syscall)(@.*)?$")

# Who may use which, and why.
ALLOWED = {
    "process/process.c": ("fork execv execve execvp syscall", "the one that starts processes"),
    "process/identity.c": ("setgroups setresgid setresuid syscall", "the one that becomes somebody else"),
    "deliver/day_folder.c": ("setfsgid setfsuid", "days are made with the rights of the archive's owner, and then it is root again: nothing is read or executed meanwhile"),
}
# System calls without a function of libc: what they are, by the names in the source.
CALLS = re.compile(r"\bsyscall\s*\(\s*(?:SYS|__NR)_(\w+)")
FORBIDDEN = re.compile(r"(v?fork|clone3?|execve(at)?|set(re|res|fs)?[ug]id|setgroups)$")

FOLDERS = "gate preload spank policy trace process merge deliver archive replay proxy cmd lib".split()


def calls(path):
    """Names that an object expects of others."""
    listed = subprocess.run(["nm", "--undefined-only", "--format=posix", path], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if line.split()}


def source_of(path):
    """cmd/base/spoor-command.o, .libs/libseal_la-sweep.o: the source that it was made from."""
    folder, file = os.path.split(os.path.relpath(path, tap.BUILD).replace(".libs/", ""))
    folder = re.sub(r"^abi/[^/]+/", "", folder)
    return os.path.join(folder, file.rsplit("-", 1)[-1][:-2] + ".c")


def wrong(source, names):
    allowed = ALLOWED.get(source, ("", ""))[0].split()
    return sorted(name for name in (n.lstrip("_").split("@")[0] for n in names if STARTS.match(n)) if name not in allowed)


tap.equal(wrong("cmd/a.c", {"execvp", "open", "fork@GLIBC_2.2.5", "__vfork", "posix_spawnp", "setresuid", "popen"}),
          ["execvp", "fork", "popen", "posix_spawnp", "setresuid", "vfork"], "would be found: functions that start processes")
tap.equal(wrong("process/process.c", {"execvp", "system"}), ["system"], "would be found: one more in a file that may use some")

def is_there(source):
    """A build folder may have objects of sources that are gone."""
    return any(os.path.exists(os.path.join(top, source)) for top in (tap.SOURCE, tap.BUILD))


objects = [os.path.join(folder, name) for top in FOLDERS + ["abi"] for folder, _, names in os.walk(os.path.join(tap.BUILD, top)) for name in names if name.endswith(".o")]
tap.ok(len(objects) > 300, "objects are found", len(objects))
found, used = {}, set()
for path in objects:
    source, names = source_of(path), calls(path)
    for name in wrong(source, names) if is_there(source) or source.startswith("preload/") else ():
        found.setdefault(source, set()).add(name)
    if source in ALLOWED:
        used |= {(source, n.lstrip("_").split("@")[0]) for n in names if STARTS.match(n)}
raw = {source for source, names in found.items() if names == {"syscall"}}
tap.equal([f"{source}: {' '.join(sorted(names))}" for source, names in sorted(found.items()) if source not in raw], [],
          "nobody else starts a process, executes something or changes who it is")
unused = [f"{source}: {name}" for source, (names, _) in ALLOWED.items() for name in names.split() if (source, name) not in used]
tap.equal(unused, [], "what is allowed is used")


def raw_calls(folder):
    for top, _, names in os.walk(os.path.join(tap.SOURCE, folder)):
        for name in names:
            path = os.path.relpath(os.path.join(top, name), tap.SOURCE)
            if name.endswith((".c", ".h")) and path not in ALLOWED:
                with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
                    for call in CALLS.findall(file.read()):
                        yield path, call


tap.equal([f"{path}: {call}" for folder in FOLDERS for path, call in raw_calls(folder) if FORBIDDEN.match(call)], [], "nor by a bare system call")
tap.done()
