#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# clocks - two nodes whose clocks are 0.3 s apart: the times of all events are brought to one of them
set -u
. "$(dirname "$0")/jobs.sh"

[ "$(uname -m)" = x86_64 ] || { echo '1..0 # SKIP the wrong clock is made for x86-64'; exit 0; }
start_site -n 2
# A wrong CLOCK_REALTIME: the tracer asks libc itself, whatever stands in front of it, so libc's function is made to jump.
gcc -shared -fPIC -o "$work/ahead.so" -x c - <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <stdint.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <time.h>
	#include <unistd.h>

	static int ahead(clockid_t id, struct timespec *t)
	{
		int rv = (int)syscall(SYS_clock_gettime, id, t);
		if (rv == 0 && id == CLOCK_REALTIME) {
			t->tv_nsec += 300000000;
			t->tv_sec += t->tv_nsec / 1000000000;
			t->tv_nsec %= 1000000000;
		}
		return rv;
	}

	__attribute__((constructor)) static void jump(void)
	{
		unsigned char *f = dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "clock_gettime");
		void *page = (void *)((uintptr_t)f & ~UINT64_C(4095)), *to = (void *)ahead;

		mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy(f, "\x48\xb8", 2); /* movabs to, %rax; jmp *%rax */
		memcpy(f + 2, &to, sizeof to);
		memcpy(f + 10, "\xff\xe0", 2);
		mprotect(page, 8192, PROT_READ | PROT_EXEC);
	}
END
install -m 755 "$build/bench/apps/together" "$work/together"
cp "$site/policy.json" "$work/policy.json"

# The largest difference, in ms, between the ends of one MPI_Allreduce on the ranks, of the call in which it is least.
apart() {
	python3 - "$top/tests" "$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		import reader
		t = reader.Trace(sys.argv[2])
		name = [site[0] for site in t.sites].index("MPI_Allreduce")
		ends = []
		for rank in range(t.size):
		    times = t.rank_times(rank)
		    ends.append([t.flows[rank]["start"] + times[k][1] for k, site in enumerate(t.walk(rank)) if site == name])
		print(round(min(max(e) - min(e) for e in zip(*ends)) / 1e6, 3))
	END
}

# clocks NAME TIMING MODE: four ranks on two nodes; the second one's clock is ahead
clocks() {
	sed "s/\"rules\"/\"timing\": \"$2\", \"deadline\": 60, \"rules\"/" "$work/policy.json" >"$site/policy.json"
	run_job "$1" --trace -N2 --ntasks-per-node=2 <<-END
		#!/bin/sh
		srun -N2 --ntasks-per-node=2 sh -c '[ \$SLURM_NODEID = 1 ] && export LD_PRELOAD=$work/ahead.so:\$LD_PRELOAD; exec $work/together 50 1 2000 --sleep'
	END
	is "$1: the program ran" "$status" 0
	leaves "$1" 1
	facts=$(spoor show --json "$(traces)" | grep -o '"clocks_[a-z]*_ns": "*[0-9]*' | sort)
}

clocks full full
echo "# $facts"
ms=$(apart "$(traces)")
ok "a collective call ends at the same time on both nodes (within $ms ms)" awk "BEGIN {exit !($ms < 20)}"
like "metadata say how far the clocks were apart" "$facts" 'clocks_apart_ns": "*(29[0-9]|30[0-9])[0-9]{6}'
clocks histogram histogram
is 'without the times of all events nothing is compared' "$facts" ''
done_testing
