#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# harm-srun - those kinds of processes of tests/harm.t for which Slurm matters, as real jobs: each does with spoor what it does without
set -u
. "$(dirname "$0")/jobs.sh"

start_site -n 2

# The programs of tests/harm/rows.py, one variable for each.
programs='plain mpi user mumps-mpi self descriptors stacks tiny musl older init-mpi'
# shellcheck disable=SC2086 # a list of words
while read -r name path; do
	declare "${name//-/_}=$path"
done < <(python3 "$top/tests/harm/rows.py" "$work" $programs)

# In which order ranks, and srun, say what they say is chance; and so is, also without spoor, whether a step waits until the one before has left its node.
waits='srun: (Job [0-9]+ step creation temporarily disabled|Step created for)'
sorted() {
	local file
	for file in "$work"/job/{out,err}*; do
		grep -Ev "$waits" "$file" | sort >"$work/sorted"
		mv "$work/sorted" "$file"
	done
}

# same TITLE TRACES SBATCH-OPTION...: the script on stdin as a job without and with spoor: the same output, exit status and files, and that many traces.
same() {
	local title=$1 count=$2 script plain
	shift 2
	script=$(cat)
	run_job job --trace=off "$@" <<<"$script"
	plain=$status
	sorted
	rm -rf "$work/plain" && cp -a "$work/job" "$work/plain"
	run_job job --trace=lossless "$@" <<<"$script"
	sorted
	ok "$title: output and files" diff -r "$work/plain" "$work/job"
	is "$title: exit status" "$status" "$plain"
	leaves "$title" "$count"
}

# needs TITLE PROGRAM: whether it could be built
needs() {
	[ -n "$2" ] && return
	pass "$1 # SKIP what it needs is not installed"
	return 1
}

same 'MPI on two nodes' 1 -N2 -n4 <<-END
	#!/bin/sh
	srun $mpi
END
same 'steps one after another and side by side' 6 -n2 <<-END
	#!/bin/sh
	for i in 1 2 3; do srun -n2 $mpi >out.\$i; done
	for i in 4 5 6; do srun -n1 --overlap $mpi >out.\$i & done
	wait
END
# Descriptors that slurmstepd left open for its tasks have the numbers that were free in slurmstepd.
left='for i in {3..40}; do eval "exec $i>&-"; done'
same 'no stdin, stdout, stderr' 1 -n1 <<-END
	#!/bin/sh
	srun bash -c '$left; exec $descriptors list <&- >&- 2>&-'
END
same 'no stdout' 1 -n1 <<-END
	#!/bin/sh
	srun --input=none bash -c '$left; exec $descriptors list >&-'
END
same 'stdout is a closed pipe' 1 -n1 <<-END
	#!/bin/sh
	srun $self nothing | true
END
same 'limits that srun hands on' 1 -n1 <<-END
	#!/bin/sh
	ulimit -S -f 100
	ulimit -S -c 0
	ulimit -S -s 1024
	srun --propagate=ALL sh -c 'ulimit -a; exec $self nothing'
	ulimit -S -n 64
	srun --propagate=NOFILE $mpi
END
same '1,000 short processes' 0 -n1 <<-END
	#!/bin/bash
	srun bash -c 'n=0; for ((i = 0; i < 1000; i++)); do /bin/true && n=\$((n + 1)); done; echo \$n'
END
same 'a script with many tools' 0 -n1 <<-END
	#!/bin/bash
	set -o pipefail
	mkdir -p a/b; for i in {1..200}; do echo \$i | sed s/1/2/ | awk '{ print \$1 * 2 }' >a/b/\$i; done
	tar -cf - --mtime=@0 --sort=name a | gzip -n >t.gz; tar -tf t.gz | sort | md5sum; find a -type f | xargs cat | sort -n | tail -n 1
	srun sh -c 'ls a/b | wc -l; cat a/b/7; missing'
	python3 -c 'import os; print(len(os.listdir("a/b")))'; seq 20 | xargs -P 4 -n 1 expr 1 + | sort -n
END
same 'a sequential stub' 0 -n2 <<-END
	#!/bin/sh
	srun $user
	$user
END
needs 'serial MUMPS in an MPI program' "${mumps_mpi-}" && same 'serial MUMPS in an MPI program' 1 -n2 <<-END
	#!/bin/sh
	srun $mumps_mpi
END
same 'C++ objects before and after main' 1 -n1 <<-END
	#!/bin/sh
	srun $init_mpi
END
same 'coroutines' 1 -n1 <<-END
	#!/bin/sh
	srun $stacks coroutines
END
same 'tools that change LD_PRELOAD' 2 -n1 <<-END
	#!/bin/sh
	printf 'all:\\n\\t@%s\\n' $plain >Makefile
	srun make
	! command -v fakeroot >/dev/null || srun fakeroot sh -c 'touch x; chown 12:34 x; stat -c %u:%g x; exec $plain'
	srun stdbuf -oL $mpi
	srun valgrind -q --log-file=/dev/null $mpi
END
needs '32 bit' "$([ -e /lib/ld-linux.so.2 ] && echo "${tiny-}")" && same '32 bit' 0 -n2 <<-END
	#!/bin/sh
	$tiny
	srun $tiny
END
needs musl "${musl-}" && same 'musl' 0 -n1 <<-END
	#!/bin/sh
	$musl
	srun $musl
END
same 'an older glibc' 0 -n1 <<-END
	#!/bin/sh
	srun $older/ld.so --library-path $older $older/plain
END
same 'chroot' 0 -n1 <<-END
	#!/bin/sh
	for f in $plain \$(LD_PRELOAD= ldd $plain | grep -o '/[^ ]*'); do mkdir -p root/\$(dirname \$f); cp \$f root/\$(dirname \$f); done
	chroot root $plain
	srun chroot root $plain
END
same 'own namespaces' 1 -n1 <<-END
	#!/bin/sh
	cp \$(command -v unshare) own
	srun ./own -rm sh -c 'mount -t tmpfs none /mnt; id -u; exec $mpi'
	srun unshare -p --fork sh -c 'echo \$\$'
END
cp /usr/bin/id "$work/id" && chmod 4755 "$work/id"
AS=$other same 'a setuid program of another user' 0 -n1 <<-END
	#!/bin/sh
	srun $work/id -u
END
done_testing
