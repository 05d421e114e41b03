#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# breakages - whatever is broken in spoor, the job runs as without it: same output, same exit status; and the node's log says what it was
set -u
. "$(dirname "$0")/jobs.sh"

tracer=$build/prefix/lib/spoor/libspoor-gate.so
helper=$build/prefix/libexec/spoor/spoor-helper

# Undoes what break_it did; harmless when nothing is broken.
mend() {
	[ -z "${mounted-}" ] || umount -l "$mounted" 2>/dev/null
	mounted=
	[ -z "${hanging-}" ] || kill "$hanging" 2>/dev/null
	hanging=
	[ ! -e "$work/kept" ] || mv -f "$work/kept" "$kept"
}
start_site -n 1
policy=$site/policy.json
sed -i 's/"rules"/"deadline": 3, "rules"/' "$policy"
cp "$policy" "$work/policy.json"

job_script() {
	cat <<-END
		#!/bin/sh
		echo before
		$srun ${program-$ending} ${how-exit}
		status=\$?
		/bin/echo after
		exit \$status
	END
}
srun='srun -n2'

# The job as it is without spoor.
run_job untraced --trace=off -n2 < <(job_script)
normal="$status $(cat "$out")"
like 'untraced: the job' "$normal" '3 before
2 ranks, sum 1, ending: exit
after
this goes to stderr'

# What spoor says of the job, in the node's log when it begins and in its own when it ended. (`spoor doctor` shows that, but where the policy hangs, it does, too.)
tells() {
	local log
	log=$(grep -h " job=$job .* what=" "$build/prefix/var/log/spoor/node.log" | grep -v what=captured)
	said=$(grep -h "\[$job\.[^]]*\] spoor: " "$site"/cluster/log/slurmd-n1 | sed -E 's/^[^]]*\] \[[^]]*\] spoor: //' | grep -v 'captured, mode'
		printf '%b\n' "${log//%/\\x}" | sed -E 's/.* what=([a-z-]+)/\1/; s/ why=/: /')
	[[ $said =~ $1 ]]
}
kept_traces() {
	find "$site/archive" -name "$job.*.spoor" 2>/dev/null | grep -c .
}

# broken TITLE TRACES TOLD: the job with all that it is; TOLD is a pattern for what spoor says of it.
table=()
broken() {
	local title=$1 count=$2 expected=$3 said before=$SECONDS kept_traces
	run_job broken --trace -n2 < <(job_script)
	! library_crashed "$out" || run_job broken --trace -n2 < <(job_script)
	is "$title: output and exit status" "$status $(cat "$out")" "$normal"
	wait_for 40 tells "$expected"
	like "$title: what is said of it" "$said" "$expected"
	wait_for 10 eval "[ \$(kept_traces) -ge $count ]"
	kept_traces=$(kept_traces)
	is "$title: traces" "$kept_traces" "$count"
	is "$title: the node is not drained" "$(sinfo --noheader --format=%T | grep -c 'drain\|down')" 0
	table+=("$(printf '%-42s %-4s %-6s %s' "$title" same "$kept_traces" "$(sed -E "s#$job\.[a-z0-9]+: ##; s#$build|$work##g; s/^ +//" <<<"$said" | grep -E "$expected" | head -n 1 | cut -c 1-140)")")
}

nobody_delivers() {
	! pgrep -f "^$helper collect" >/dev/null
}

# As a policy: the lines of sed $1 change it.
with_policy() {
	sed "$1" "$work/policy.json" >"$policy"
}

put_away() {
	kept=$1
	mv "$1" "$work/kept"
}

# A file system of its own at the place: small_disk PLACE SIZE [MOUNT-OPTION]
small_disk() {
	mkdir -p "$1" && mount -t tmpfs -o "size=$2,mode=${4-755}${3:+,$3}" none "$1" && mounted=$1
}

# A file system that never answers, once it is there.
hanging_disk() {
	mkdir -p "$1"
	python3 "$top/tests/tools/hang.py" "$1" >"$work/hang" 2>&1 &
	hanging=$!
	for _ in {1..50}; do
		grep -q mounted "$work/hang" && mounted=$1 && return
		sleep 0.1
	done
	mend
	return 1
}

broken 'nothing is broken' 1 ''

# --- policy ---
put_away "$policy"
broken 'policy missing' 0 'policy.json:1:1: cannot be opened: No such file'
mend
put_away "$policy" && mkdir "$policy"
broken 'policy is a folder' 0 'policy.json:1:1: is not a regular file'
rmdir "$policy" && mend
put_away "$policy" && mkfifo "$policy"
broken 'policy is a FIFO' 0 'policy.json:1:1: is not a regular file'
rm "$policy" && mend
chown $other "$policy"
broken "policy is another user's" 0 'belongs to user 65534 with mode 0644; it is only used if it is root'
chown 0 "$policy"
chmod 666 "$policy"
broken 'policy can be written by others' 0 'with mode 0666'
chmod 644 "$policy"
echo '{ "version": 1, "rules": [' >"$policy"
broken 'policy is no JSON' 0 'not valid JSON'
with_policy 's/"mode"/"moed"/'
broken 'policy has an unknown key' 0 'unknown key "moed"; did you mean "mode"'
mkdir "$site/policy.d" && echo '{}' >"$site/policy.d/1.json"
with_policy ''
broken 'a fragment is invalid' 0 'policy.d/1.json:1:1: .*"version" is missing'
rm -r "$site/policy.d"
if hanging_disk "$site/policy.d"; then
	broken 'policy on a file system that hangs' 0 'not done after 5 s, and killed'
	mend
fi
rmdir "$site/policy.d" 2>/dev/null

# --- files ---
put_away "$tracer"
broken 'library missing' 0 'libspoor-gate.so: user 0 cannot read the tracer: No such file'
python3 - "$work/kept" "$tracer" <<-'END'
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	data[18:20] = (243).to_bytes(2, "little")  # RISC-V
	open(sys.argv[2], "wb").write(data)
END
broken 'library of another architecture' 0 'libspoor-gate.so: the tracer is no library for this machine'
head -c 3000 /dev/urandom >"$tracer"
broken 'library is garbage' 0 'libspoor-gate.so: the tracer is no library for this machine'
mend
put_away "${tracer%gate.so}openmpi.so"
broken 'the tracer for the MPI library missing' 0 "no tracer for the program's MPI library, .*libmpi.so.*, is installed"
like 'the tracer for the MPI library missing: spoor doctor JOB' "$(spoor doctor "$job" 2>&1)" \
	"no tracer for the program's MPI library, .*libmpi.so.*, is installed"
is 'the tracer for the MPI library missing: one line for both ranks, and no trace is told' \
	"$(spoor doctor "$job" 2>&1 | grep -c "no tracer for the program's") $(spoor doctor "$job" 2>&1 | grep -c 'was delivered')" '1 0'
mend
put_away "$helper"
broken 'helper missing' 0 'helper could not be executed'
mend
put_away "$helper" && printf '#!/bin/sh\nexit 1\n' >"$helper" && chmod 755 "$helper"
broken 'helper fails' 0 'exit status 1'
printf '#!/bin/sh\nkill -SEGV $$\n' >"$helper"
broken 'helper crashes' 0 'killed by signal 11'
printf '#!/bin/sh\necho nonsense\n' >"$helper"
broken 'helper answers nonsense' 0 'decision: line 1 is not NAME=VALUE'
mend

# --- the plugin ---
# One that was made for another release of Slurm, which looks at nothing but these. Slurm itself tells the user.
plugin=$build/prefix/lib/slurm/spoor.so
step() {
	srun "$@" -n2 "$ending" exit >"$work/step" 2>&1
	echo "status $?"
	grep -v '^srun: ' "$work/step" | sort
}
normal_step=$(step --trace=off)
put_away "$plugin"
gcc -shared -fPIC -o "$plugin" -x c - <<-'END'
	const char plugin_name[] = "spoor", plugin_type[] = "spank";
	const unsigned plugin_version = 0x630100, spank_plugin_version = 1;
END
is 'plugin for another Slurm: output and exit status' "$(step)" "$normal_step"
like 'plugin for another Slurm: what Slurm says of it' "$(cat "$work/step")" 'srun: .*Incompatible .*plugin'
like 'plugin for another Slurm: spoor doctor' "$(spoor doctor 2>&1)" 'wrong +[^ ]*spoor.so: made for Slurm 99.01, installed is [0-9.]*: Slurm leaves it out'
rm "$plugin"
is 'plugin missing: output and exit status' "$(step)" "$normal_step"
mend
is 'plugin for another Slurm: the node is not drained' "$(sinfo --noheader --format=%T | grep -c 'drain\|down')" 0

# --- archive ---
with_policy 's|@SITE@/archive|/nowhere/archive|; s|"archive": "[^"]*"|"archive": "/nowhere/at/all"|'
broken 'archive missing, and the folder above it' 0 '/nowhere/at/all: cannot be made: No such file'
with_policy "s|\"archive\": \"[^\"]*\"|\"archive\": \"$work/theirs\"|"
mkdir -p "$work/theirs" && chown $other "$work/theirs" && chmod 777 "$work/theirs"
broken 'archive can be written by others' 0 'theirs: has mode 0777; nobody but its owner may write it'
with_policy "s|\"archive\": \"[^\"]*\"|\"archive\": \"$work/disk\"|"
small_disk "$work/disk" 64k
head -c 65536 /dev/zero >"$work/disk/full" 2>/dev/null
broken 'archive full (ENOSPC)' 0 'No space left on device'
mend
small_disk "$work/disk" 64k ro
broken 'archive read-only' 0 'Read-only file system'
mend
if hanging_disk "$work/disk"; then
	broken 'archive on a file system that hangs' 0 ''
	ok 'archive on a file system that hangs: the trace waits' test -e "$site/spool/.waiting/0/$job.0.n1"
	mend
fi
with_policy ''

# A quota: the helper runs with a library that makes writing to the archive fail.
cat >"$work/quota.c" <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <stdio.h>
	#include <string.h>
	#include <unistd.h>
	ssize_t write(int fd, const void *bytes, size_t n)
	{
		char link[64], path[4096] = "";
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		if (readlink(link, path, sizeof path - 1) > 0 && strstr(path, "/archive/")) {
			errno = EDQUOT;
			return -1;
		}
		return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, bytes, n);
	}
END
gcc -shared -fPIC -o "$work/quota.so" "$work/quota.c" -ldl
chmod 755 "$work/quota.so"
# Whoever still delivers for a row above, without that library, would take this one's trace along.
wait_for 40 nobody_delivers
put_away "$helper"
chmod 711 "$work"
printf '#!/bin/sh\n[ "$1" = collect ] && export LD_PRELOAD=%s\nexec %s "$@"\n' "$work/quota.so" "$work/kept" >"$helper"
chmod 755 "$helper"
broken 'archive: quota exceeded (EDQUOT)' 0 'Disk quota exceeded'
mend
# What was kept in the spool is delivered after a later step.
broken 'all is well again: what was kept is delivered' 1 ''
wait_for 10 spool_is_empty

# --- spool ---
with_policy 's|"spool": "[^"]*"|"spool": "/nowhere/at/all"|'
broken 'spool missing, and the folder above it' 0 '/nowhere/at/all: cannot be made: No such file'
with_policy "s|\"spool\": \"[^\"]*\"|\"spool\": \"$work/theirs\"|"
broken "spool is another user's" 0 'theirs: belongs to user 65534'
with_policy "s|\"spool\": \"[^\"]*\"|\"spool\": \"$work/disk\"|"
small_disk "$work/disk" 1m '' 711
broken 'spool has no room' 0 'bytes are free on its disk, and [0-9]+ are needed'
mend
with_policy "s|\"spool\": \"[^\"]*\"|\"spool\": \"$work/disk\", \"spool_reserve\": 0, \"memory\": \"1 MiB\"|"
small_disk "$work/disk" 6m '' 711
# The job fills the disk after spoor has looked at it. Appends: none empties what the other one filled.
program="sh -c 'head -c 9000000 /dev/zero >>$work/disk/\$SLURM_JOB_ID.0.n1/full 2>/dev/null; exec $ending \$0'"
broken 'spool becomes full (ENOSPC)' 0 'cannot (be made|be opened|reserve|allocate)|No space left'
unset program
mend
with_policy "s|\"spool\": \"[^\"]*\"|\"spool\": \"$work/disk\"|"
small_disk "$work/disk" 200m ro 711
broken 'spool read-only' 0 'Read-only file system'
mend
if hanging_disk "$work/disk"; then
	broken 'spool on a file system that hangs' 0 'not done after 5 s, and killed'
	mend
fi
with_policy ''

# --- the job ---
srun=env # no launcher, and no PMIx server of one
run_job untraced --trace=off -n2 < <(job_script)
with_pmix=$normal normal="$status $(cat "$out")"
broken 'no PMIx' 1 ''
srun='srun -n2' normal=$with_pmix
gcc -shared -fPIC -o "$work/libforeign.so" -x c - <<-'END'
	int PMPI_Init(int *argc, char ***argv) { return 0; }
	int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv); }
	int MPI_Finalize(void) { return 0; }
END
gcc -o "$work/foreign" -x c - -x none "$work/libforeign.so" <<-'END'
	#include <stdio.h>
	int MPI_Init(int *, char ***), MPI_Finalize(void);
	int main(int argc, char **argv)
	{
		MPI_Init(&argc, &argv);
		puts("initialized");
		MPI_Finalize();
		return 3;
	}
END
srun='srun -n1 --mpi=none' program=$work/foreign
run_job untraced --trace=off -n2 < <(job_script)
normal="$status $(cat "$out")"
like 'an MPI library of another kind: it works' "$normal" 'initialized'
broken 'an MPI library of another kind' 0 "libforeign.so, is of a kind that no tracer is for"
srun='srun -n2' normal=$with_pmix
unset program
with_policy 's|"rules"|"memory": "2 GiB", "rules"|'
program="sh -c 'ulimit -v 1500000; exec $ending \$0'"
broken "the job's memory limit (ulimit -v)" 1 'delivered' # with less memory than the policy says
unset program
with_policy ''
{
	printf '%-42s %-4s %-6s %s\n' broken job traces "what is said of it"
	printf '%s\n' "${table[@]}"
} | sed 's/^/# /'
done_testing
