#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hostile - a user who attacks whatever runs with their number, and a terminal of root's that must not notice

    hostile.py attack LOG SECRET      until its stdin ends; a line of LOG for each success, and at the end how many processes were tried;
                                      prints the name of each as it is tried
    hostile.py terminal COMMAND...    runs it in a terminal of its own; at the end, on a last line, what somebody typed into it
"""
import ctypes
import fcntl
import os
import pty
import re
import select
import signal
import sys
import termios
import time

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


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
            session = os.getsid(int(pid)) if os.path.exists(f"/proc/{pid}") else 0
            if name in ("orted", "slurmstepd", "stuck", "sh", "bash", "prted") or b"SLURMD_NODENAME=" in (read(f"/proc/{pid}/environ") or b""):
                continue  # of the user's own job
            if pid not in tried:
                print(name, flush=True)
            tried[pid] = name
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
            if LIBC.ptrace(PTRACE_SEIZE, int(pid), None, None) == 0:
                if b"\nVmSize:" in (read(f"/proc/{pid}/status") or b""):  # one that ends has no memory any more: the kernel lets anybody seize that
                    gained.append(f"control, in session {session}")
                LIBC.ptrace(PTRACE_DETACH, int(pid), None, None)
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
    return status, used, said, typed


if __name__ == "__main__":
    if sys.argv[1] == "attack":
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            sys.exit(attack(out, sys.argv[3]))
    ended, _, printed, read_back = terminal(sys.argv[2:])
    sys.stdout.write(printed.decode(errors="replace").replace("\r\n", "\n"))
    print(f"typed {read_back!r}")
    sys.exit(os.waitstatus_to_exitcode(ended))
