#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# handed-on - a job that is submitted from inside a traced job has nothing of spoor in its environment
#
# The cluster's nodes have no plugin, which could take it out there: only sbatch, srun and salloc have one, by a slurm.conf of their own.
set -u
. "$(dirname "$0")/jobs.sh"

trap '"$top/tests/cluster" stop -d "$work/cluster"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
[ -n "${SPOOR_INSTALLED-}" ] || make -s -C "$build" install >"$work/install.log" 2>&1 || bail_out 'make install failed'
chmod 755 "$work" && mkdir -m 755 "$work/submit"
"$top/tests/cluster" start -n 1 -d "$work/cluster" >"$work/start.log" 2>&1 || bail_out 'no cluster'
eval "$("$top/tests/cluster" env -d "$work/cluster")"

# What `$PLATFORM` is in the entry is for the dynamic loader: to us it is text.
entry='/nowhere/$PLATFORM/libspoor-gate.so'
echo "optional $build/prefix/lib/slurm/spoor.so preload=$entry" >"$work/submit/plugstack.conf"
sed "s|^PlugStackConfig=.*|PlugStackConfig=$work/submit/plugstack.conf|" "$SLURM_CONF" >"$work/submit/slurm.conf"
export SLURM_CONF=$work/submit/slurm.conf

# The job or step writes what it sees to a file; the dynamic loader's complaints about what is not there go elsewhere.
users=$build/tests/tools/transparent.so
cat >"$work/tell" <<'END'
#!/usr/bin/env python3
import os, sys
names = "LD_PRELOAD", "SLURM_SPOOR_HANDOFF", "OTHER"
text = "".join(f"{name}=[{os.environ[name]}]\n" if name in os.environ else f"no {name}\n" for name in names)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(text)
os.rename(sys.argv[1] + ".new", sys.argv[1])
END
chmod 755 "$work/tell"

# seen COMMAND...: as from inside a traced job, whose LD_PRELOAD is $value.
seen() {
	rm -f "$work/seen"
	(
		cd "$work" || exit 1
		export OTHER=1 SLURM_SPOOR_HANDOFF="1;mode=lossless;spool=/gone" LD_PRELOAD="$value"
		"$@"
	) >"$work/said" 2>&1 </dev/null
	wait_for 30 test -s "$work/seen"
	cat "$work/seen" 2>/dev/null || cat "$work/said"
}
cleared="no LD_PRELOAD
no SLURM_SPOOR_HANDOFF
OTHER=[1]"
batch="--output=/dev/null --wrap"
value=$entry
is 'sbatch' "$(seen sbatch $batch "$work/tell $work/seen")" "$cleared"
is 'sbatch --export=ALL,MORE' "$(seen sbatch --export=ALL,MORE=2 $batch "$work/tell $work/seen")" "$cleared"
is 'sbatch --export=LD_PRELOAD' "$(seen sbatch --export=LD_PRELOAD,OTHER,PATH $batch "$work/tell $work/seen")" "$cleared"
is 'sbatch --export=NONE, which lets SLURM_ names through' "$(seen sbatch --export=NONE $batch "$work/tell $work/seen")" "${cleared%OTHER*}no OTHER"
is 'srun' "$(seen srun "$work/tell" "$work/seen")" "$cleared"
is 'srun --export=ALL,MORE' "$(seen srun --export=ALL,MORE=2 "$work/tell" "$work/seen")" "$cleared"
is 'salloc: its command' "$(seen salloc -n1 "$work/tell" "$work/seen")" "$cleared"
is 'salloc + srun' "$(seen salloc -n1 srun "$work/tell" "$work/seen")" "$cleared"
is 'srun in sbatch' "$(seen sbatch $batch "srun $work/tell $work/seen")" "$cleared"

# What is the user's stays, to the byte.
kept() {
	value=$1
	is "LD_PRELOAD=$1" "$(seen sbatch $batch "$work/tell $work/seen" | head -n 1)" "LD_PRELOAD=[$2]"
}
kept "$entry:$users" "$users"
kept "$users:$entry" "$users"
kept "$entry: $users:: $users: " " $users:: $users: "
kept "$users $entry:$users" "$users $users"
kept "$entry:$entry:$users" "$users"
kept "$users:$entry.old:/x$entry" "$users:$entry.old:/x$entry"
kept "$users" "$users"
value=$(printf '%s' "$entry" | sed 's/\$PLATFORM/haswell/')
is 'another path is none of ours' "$(seen sbatch $batch "$work/tell $work/seen" | head -n 1)" "LD_PRELOAD=[$value]"
done_testing
