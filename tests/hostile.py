#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hostile - a user who attacks whatever runs with their number, and a terminal of root's that must not notice

    hostile.py attack LOG SECRET      until its stdin ends; a line of LOG for each success, and at the end how many processes were tried;
                                      prints the name of each as it is tried
    hostile.py still PID SECRET       a line for each success with this process, which it then ends
    hostile.py swap FOLDER TARGET     from the first line of its stdin to its end, FOLDER/swap is a folder and a link to TARGET, in turn
    hostile.py terminal COMMAND...    runs it in a terminal of its own; at the end, on a last line, what somebody typed into it
"""
import ctypes
import errno
import fcntl
import os
import pty
import re
import resource
import select
import signal
import sys
import termios
import time

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
# What cmd/base/progress.c writes on a terminal where something takes long, as on a busy machine.
PROGRESS = re.compile(rb"\r[A-Za-z ]+ \[[# .=-]*\] \d+ of \d+(?:, \d+ (?:s|min) left)?(?:\x1b\[K)?|\r\x1b\[K")
# Of /proc/PID: what only those who may trace a process can open, or follow. A process that ends has none of it any more.
PRIVATE = ("maps", "smaps", "auxv", "pagemap", "io", "stack", "syscall", "timers", "clear_refs", "task/{pid}/mem", "task/{pid}/environ")
LINKS = ("cwd", "root", "exe")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return None


def acts(data):
    """What acts on a terminal; "" if nothing does."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8: {error}"
    found = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)
    return f"{found.group()!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}" if found else ""


def is_mine(pid):
    """Does it run with my number?"""
    return (b"\nUid:\t%d\t" % os.getuid()) in (read(f"/proc/{pid}/status") or b"")


def of_own_job(pid):
    """Of the user's own job, as its environment says? In the instant of its exec a process has none yet: that it will have in a moment."""
    for _ in range(100):
        environment = read(f"/proc/{pid}/environ")
        if environment or environment is None:
            break
        time.sleep(0.002)
    return b"SLURMD_NODENAME=" in (environment or b"")


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def looked_into(pid, secret):
    """What its number gives a user of another process: a list of words."""
    gained = []
    environment = read(f"/proc/{pid}/environ")
    if environment:
        gained.append("environment" + (" with root's secret" if secret.encode() in environment else ""))
    try:
        with open(f"/proc/{pid}/mem", "rb"):
            gained.append("memory")
    except OSError:
        pass
    try:
        gained.append("descriptors " + " ".join(os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")))
    except OSError:
        pass
    gained += [name for name in PRIVATE if read(f"/proc/{pid}/{name.format(pid=pid)}")]
    for name in LINKS:
        try:
            gained.append(f"{name} {os.readlink(f'/proc/{pid}/{name}')}")
        except OSError:
            pass
    room = ctypes.create_string_buffer(16)
    here, there = Piece(ctypes.addressof(room), 16), Piece(4096, 16)
    ctypes.set_errno(0)
    if LIBC.process_vm_readv(int(pid), ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0 or ctypes.get_errno() == errno.EFAULT:
        gained.append("copies of memory")
    opened = LIBC.syscall(SYS_PIDFD_OPEN, int(pid), 0)
    if opened >= 0:
        taken = LIBC.syscall(SYS_PIDFD_GETFD, opened, 0, 0)
        if taken >= 0:
            os.close(taken)
            gained.append("a descriptor's copy")
        os.close(opened)
    if LIBC.ptrace(PTRACE_SEIZE, int(pid), None, None) == 0:
        gained.append("control")
        LIBC.ptrace(PTRACE_DETACH, int(pid), None, None)
    # one that ends has no memory any more: the kernel lets anybody look into what is left of that
    return gained if b"\nVmSize:" in (read(f"/proc/{pid}/status") or b"") else []


def attack(log, secret):
    """What a user can do to a process that has their number, by its number alone."""
    own, tried = set(), {}

    def got(pid, what):
        log.write(f"got {what} of {pid}: {tried.get(pid)}\n")
        log.flush()
    for pid in filter(str.isdigit, os.listdir("/proc")):  # what is there already is the user's own
        if is_mine(pid):
            own.add(pid)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if pid in own or int(pid) == os.getpid() or not is_mine(pid):
                continue
            name = (read(f"/proc/{pid}/comm") or b"").decode(errors="replace").strip()
            if name in ("orted", "slurmstepd", "stuck", "sh", "bash", "prted") or b"SLURMD_NODENAME=" in (read(f"/proc/{pid}/environ") or b""):
                continue  # of the user's own job
            if pid not in tried:
                print(name, flush=True)
            tried[pid] = name
            gained = looked_into(pid, secret)
            if gained and not of_own_job(pid):
                for what in gained:
                    got(pid, what)
        for n in os.listdir("/dev/pts"):
            try:
                fd = os.open("/dev/pts/" + n, os.O_RDWR | os.O_NOCTTY)
                fcntl.ioctl(fd, termios.TIOCSTI, b"x")
                os.close(fd)
                got(0, "terminal " + n)
            except OSError:
                pass
    log.write(f"tried {len(tried)}: {' '.join(sorted(set(tried.values())))}\n")
    return 0


def still(pid, secret):
    """The same for one that stands still, in which nothing changes meanwhile; then whether it leaves a core with what it knows."""
    for word in looked_into(pid, secret):
        print("got", word)
    resource.prlimit(int(pid), resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.kill(int(pid), signal.SIGABRT)  # which ASan lets be, and a shell's background, too
    print("done")
    return 0


def swap(folder, target):
    os.chdir(folder)
    os.mkdir("swap.d")
    os.symlink(target, "swap.l")
    sys.stdin.readline()
    while not select.select([sys.stdin], [], [], 0)[0]:
        for name in ("swap.d", "swap.l"):
            os.rename(name, "swap")
            os.rename("swap", name)
    return 0


def terminal(command, before=lambda: None):
    """Runs it as the leader of a session with a terminal. Returns its status as of wait(), what it used, what it printed, what was typed."""
    master, slave = pty.openpty()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        os.closerange(3, 256)
        try:
            before()
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    said, end, status, used = b"", time.time() + 120, None, None
    while status is None and time.time() < end:
        if select.select([master], [], [], 0.05)[0]:
            said += os.read(master, 65536)
            continue
        done, code, used = os.wait4(pid, os.WNOHANG)
        status = code if done else None
    if status is None:
        os.killpg(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
    mode = termios.tcgetattr(slave)
    mode[3] &= ~termios.ICANON
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 0, 0
    termios.tcsetattr(slave, termios.TCSANOW, mode)
    typed = os.read(slave, 4096)
    os.close(slave)
    os.close(master)
    return status, used, PROGRESS.sub(b"", said), typed


if __name__ == "__main__":
    if sys.argv[1] == "attack":
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            sys.exit(attack(out, sys.argv[3]))
    if sys.argv[1] == "swap":
        sys.exit(swap(*sys.argv[2:]))
    if sys.argv[1] == "still":
        sys.exit(still(sys.argv[2], sys.argv[3]))
    ended, _, printed, read_back = terminal(sys.argv[2:])
    sys.stdout.write(printed.decode(errors="replace").replace("\r\n", "\n"))
    print(f"typed {read_back!r}")
    sys.exit(os.waitstatus_to_exitcode(ended))
