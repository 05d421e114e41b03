# SPDX-License-Identifier: BSD-3-Clause
"""packages - Debian packages that are there for a benchmark only, and go away again"""
import os
import re
import subprocess


def missing_packages(names):
    done = subprocess.run(["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *names], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return set(names) - {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}


def apt_get(*arguments):
    done = subprocess.run(["apt-get", "--yes", *arguments], env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def install_packages(names, noted):
    """Installs what is missing of them, unless noted is None. All that this brings is noted in that file first. Returns what is still missing."""
    missing = missing_packages(names)
    if not missing or noted is None:
        return missing
    good, said = apt_get("--no-install-recommends", "--simulate", "install", *sorted(missing))
    if good:
        os.makedirs(os.path.dirname(noted), exist_ok=True)
        with open(noted, "a", encoding="ascii") as f:
            f.writelines(name + "\n" for name in re.findall(r"^Inst (\S+) \(", said, re.M))  # not those that it upgrades
        good, said = apt_get("--no-install-recommends", "install", *sorted(missing))
    if not good:
        print(said[-1000:])
    return missing_packages(names)


def remove_packages(noted):
    """Removes what install_packages noted."""
    if not os.path.exists(noted):
        return
    with open(noted, encoding="ascii") as f:
        names = sorted(set(f.read().split()))
    good, said = apt_get("purge", *names)
    if good:
        os.unlink(noted)
    else:
        print(said[-1000:])
