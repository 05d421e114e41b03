# SPDX-License-Identifier: BSD-3-Clause
"""traces - what keeps each trace that a test makes, and checks them when it has ended (tests/run)

    keeper = traces.Keeper([TMPDIR, site])
    keeper.begin()
    ...                         the test runs, and removes what it made
    keeper.end()
    checker.check(keeper)       what is said against them: [(where it was, where it is kept, lines)]
    keeper.remove()

A trace is a file NAME.spoor that spoor gave its name when it was whole (trace/base/publish.h): by link(2), or by rename(2) from NAME.tmp. What is
written under its own name is a test's: a copy, or one that it damages. It is kept by a hard link, so that it costs nothing and can be removed.
"""
import ctypes
import hashlib
import os
import select
import shutil
import stat
import struct
import subprocess
import tempfile
import threading
import time

CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, Q_OVERFLOW, ONLYDIR, DONT_FOLLOW, ISDIR = 0x8, 0x40, 0x80, 0x100, 0x4000, 0x1000000, 0x2000000, 0x40000000
HEAD = struct.Struct("iIII")
AT_ONCE = 200  # files that one `spoor verify` gets; it may open all of them first
libc = ctypes.CDLL(None)


class Keeper:
    """Watches folders, and those below them; they need not be there yet."""

    def __init__(self, roots):
        self.roots = [os.path.abspath(root) for root in roots]
        self.folder = tempfile.mkdtemp(prefix="spoor-traces.")
        self.at = {}  # where it was: where it is kept
        self.folders, self.moved = {}, {}  # by watch; names that were left, by cookie
        self.count, self.missed, self.seconds = 0, 0, 0  # missed: traces that were gone, folders that could not be watched
        self.ended = threading.Event()

    def begin(self):
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:  # the system has too many
            self.missed += 1
            return
        for root in self.roots:
            self.watch(root if os.path.isdir(root) else os.path.dirname(root))
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def end(self):
        if self.fd >= 0:
            self.ended.set()
            self.thread.join()
            os.close(self.fd)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def follow(self):
        while not self.ended.is_set():
            if select.select([self.fd], [], [], 0.2)[0]:
                self.read()
        self.read()
        self.seconds = time.thread_time()

    def read(self):
        while True:
            try:
                events = os.read(self.fd, 1 << 18)
            except OSError:  # there are no more
                return
            at = 0
            while at < len(events):
                watch, mask, cookie, length = HEAD.unpack_from(events, at)
                at += HEAD.size + length
                self.event(self.folders.get(watch), mask, cookie, os.fsdecode(events[at - length:at].rstrip(b"\0")))

    def event(self, folder, mask, cookie, name):
        if mask & Q_OVERFLOW:
            self.missed += 1
        if folder is None:
            return
        path = os.path.join(folder, name)
        if mask & ISDIR:
            if mask & (CREATE | MOVED_TO):
                self.watch(path)
        elif mask & MOVED_FROM:
            self.moved[cookie] = name
        elif not name.endswith(".spoor"):
            self.moved.pop(cookie, None)
        elif mask & CREATE or mask & MOVED_TO and self.moved.pop(cookie, "").endswith(".tmp"):
            self.keep(path)
        elif mask & CLOSE_WRITE and path in self.at:
            os.unlink(self.at.pop(path))

    def watch(self, folder):
        """Also folders that are in there already. Of files in them it is not known who made them."""
        above = folder in map(os.path.dirname, self.roots)
        if folder not in self.roots and os.path.basename(folder).startswith(("spoor-test.", "spoor-traces.")):
            return  # of tests/run, in its own test: it looks after them itself
        if not above and not any(os.path.join(folder, "").startswith(os.path.join(root, "")) for root in self.roots):
            return
        watch = libc.inotify_add_watch(self.fd, os.fsencode(folder), CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | ONLYDIR | DONT_FOLLOW)
        if watch < 0:
            self.missed += os.path.isdir(folder)
            return
        self.folders[watch] = folder
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        self.watch(entry.path)
        except OSError:  # it is gone
            pass

    def keep(self, path):
        """path: it was just given this name."""
        self.count += 1
        now = os.path.join(self.folder, f"{self.count}.spoor")
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                return
            try:
                os.link(path, now, follow_symlinks=False)
            except OSError:  # on another file system
                shutil.copyfile(path, now)
        except OSError:  # it is gone
            self.missed += 1
            return
        if path in self.at:  # another one had this name before
            self.at[f"{path} ({self.count})"] = self.at[path]
        self.at[path] = now


class Checker:
    """Of all tests: each content once. command: which gets names of traces, and says what is wrong."""

    def __init__(self, command):
        self.command, self.seen, self.lock = command, set(), threading.Lock()
        self.made, self.missed, self.seconds = 0, 0, 0  # seconds: of processor time

    def fresh(self, keeper):
        """Those that no test had before: {where it is kept: where it was}."""
        fresh = {}
        with self.lock:
            self.missed += keeper.missed
            self.seconds += keeper.seconds
            for was, now in keeper.at.items():
                with open(now, "rb") as file:
                    digest = hashlib.md5(file.read()).digest()
                self.made += 1
                if digest not in self.seen:
                    fresh[now] = was
                self.seen.add(digest)
        return fresh

    def said(self, names):
        """What the command says, and its status."""
        with subprocess.Popen([*self.command, *names], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            text = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        with self.lock:
            self.seconds += used.ru_utime + used.ru_stime
        return text, process.returncode

    def check(self, keeper):
        fresh, wrong = self.fresh(keeper), []
        names = list(fresh)
        for i in range(0, len(names), AT_ONCE):
            some = names[i:i + AT_ONCE]
            text, status = self.said(some)
            about = {name: [line for line in text.splitlines() if name + ":" in line] for name in some}
            wrong += [(fresh[name], name, lines) for name, lines in about.items() if lines]
            if status and not any(about.values()):
                wrong.append((f"one of {len(some)}", keeper.folder, [f"status {status}", *text.splitlines()]))
        return wrong
