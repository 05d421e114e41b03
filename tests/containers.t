#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# containers - srun --container with runc, runc and bubblewrap in a batch job: programs of another libc and another MPI do in them what they do without
# spoor, without a word; where the policy says so, and the files are there, they are traced
set -u
. "$(dirname "$0")/jobs.sh"
for tool in runc bwrap musl-gcc; do
	[ -n "$(command -v $tool)" ] && continue
	rm -rf "$work"
	echo "1..0 # SKIP $tool is not there"
	exit 0
done
start_site -n 1
cat >"$site/cluster/oci.conf" <<-END
	RunTimeQuery="$(command -v runc) --root=$work/runc state %n.%u.%j.%s.%t"
	RunTimeKill="$(command -v runc) --root=$work/runc kill -a %n.%u.%j.%s.%t"
	RunTimeDelete="$(command -v runc) --root=$work/runc delete --force %n.%u.%j.%s.%t"
	RunTimeRun="$(command -v runc) --root=$work/runc run %n.%u.%j.%s.%t -b %b"
END
policy=$site/policy.json
sed -i 's/"rules": \[/"rules": [ { "name": "theirs", "match": { "job_name": "traced-*" }, "mode": "lossless", "containers": "trace" } /' "$policy"
export OMPI_MCA_ess_singleton_isolated=1

# bundle NAME MOUNT...: an OCI bundle with a root folder of its own; a mount is a path of the host, or such a path and :rw
bundle() {
	local name=$1
	shift
	mkdir -p "$work/$name/rootfs"
	python3 - "$work/$name/config.json" "$@" <<-'END'
		import json, os, sys
		mounts = [{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}]
		for path, _, writable in (word.partition(":") for word in sys.argv[2:]):
		    mounts.append({"destination": path, "type": "none", "source": path, "options": ["rbind", writable or "ro"]})
		json.dump({"ociVersion": "1.0.0", "root": {"path": "rootfs", "readonly": False}, "mounts": mounts,
		           "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": ["/plain"], "cwd": "/", "env": ["PATH=/bin"]},
		           "linux": {"namespaces": [{"type": "mount"}]}}, open(sys.argv[1], "w"))
	END
}

# What is in the roots: a program of musl, one of glibc, and what they need.
printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>' \
	'int main(void) { const char *p = getenv("LD_PRELOAD"); printf("in it, [%s]\n", p ? p : ""); return 3; }' >"$work/plain.c"
bundle glibc
(cd "$work/glibc/rootfs" && cc -o plain "$work/plain.c" && ldd plain | grep -o '/[^ ]*' | xargs -I{} cp --parents -L {} .)
bundle musl
mkdir "$work/musl/rootfs/lib"
(cd "$work/musl/rootfs" && musl-gcc -o plain "$work/plain.c" && cp -L /lib/ld-musl-*.so.1 lib/)

# Untraced, and silent.
{
	echo '#!/bin/sh'
	for root in glibc musl; do
		printf '%s; echo $?\n' "srun -n1 --container=$work/$root /plain" "runc --root=$work/runc run -b $work/$root box" "bwrap --bind $work/$root/rootfs / /plain"
	done
} >"$work/script"
run_job plain --trace=off -n1 <"$work/script"
normal=$(cat "$out")
is 'each runs, with nothing preloaded' "$(grep -c '^in it, \[\]' "$out") $(grep -cx 3 "$out")" '6 6'
run_job box --trace -n1 <"$work/script"
is 'the same with spoor' "$(cat "$out")" "$normal"
like 'spoor doctor says why' "$(spoor doctor "$job")" \
	'runs in a container.*"containers" is "skip"'

# Where the policy captures containers: the files of spoor are there, and the spool. Slurm 22.05 writes a container's environment before its plugins have a
# say, starts one process in it, and gives it no PMIx; so the ranks are mpirun's, and are not traced, or traced.
inside="mpirun --allow-run-as-root --oversubscribe --mca ras ^slurm --mca plm ^slurm,rsh --mca btl self,tcp -n 2 $ending"
bundle mpi /usr /etc /sys /tmp:rw "$build" "$site/spool:rw" "$site/cluster:rw" "$top"
ln -s usr/lib usr/lib64 usr/bin "$work/mpi/rootfs"
run_job traced-srun -n1 <<-END
	#!/bin/sh
	srun -n1 --container=$work/mpi $inside
END
# runc passes on what its own threads wake each other with (SIGURG), and mpirun says so.
is 'srun --container, captured: output' "$status $(grep -v '^mpirun: Forwarding signal 23' "$out" | sort | tr '\n' ' ')" '0 2 ranks, sum 1, ending: normal this goes to stderr '
run_job traced-bwrap -n1 <<-END
	#!/bin/sh
	bwrap --bind $work/mpi/rootfs / --ro-bind /usr /usr --ro-bind /etc /etc --ro-bind /sys /sys --dev /dev --proc /proc --tmpfs /tmp \\
		--ro-bind $build $build --bind $site/spool $site/spool $inside
END
is 'bwrap, captured: output' "$status $(sort "$out" | tr '\n' ' ')" '0 2 ranks, sum 1, ending: normal this goes to stderr '
leaves 'bwrap, captured' 1
run_job traced-musl -n1 <<-END
	#!/bin/sh
	bwrap --bind $work/musl/rootfs / /plain
END
is 'musl says nothing of a library that is not there' "$(sed 's/\[.*/[]/' "$out" | head -n 1)" 'in it, []'
compiler=$(sed -n 's/^MPICH_CC = //p' "$build/Makefile")
if [ -n "$compiler" ]; then
	"$compiler" -std=gnu11 -O1 -g -o "$work/ending-mpich" "$top/tests/ending.c"
	run_job traced-other -n1 <<-END
		#!/bin/sh
		bwrap --bind / / --dev /dev $work/ending-mpich
	END
	like 'another MPI in it: output' "$(cat "$out")" '1 ranks, sum 0, ending: normal'
	leaves 'another MPI in it' 1
fi
done_testing
