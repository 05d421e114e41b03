#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# hostile-steps - in a real Slurm, two users attack all that works for their steps: nothing of theirs runs with another's rights, and a third user's steps are not later
set -u
. "$(dirname "$0")/jobs.sh"

# Slurm wants users that there are.
mallory=$(id -u games) trudy=$(id -u news) alice=$(id -u irc) || bail_out 'no such users'
start_site -n 1
evil=$work/evil
mkdir -m 1777 "$evil"
cp "$top/tests/hostile.py" "$work/hostile.py" && chmod 644 "$work/hostile.py"

# What their environment has the loader open, in whatever process: it writes down whose process that is.
cat >"$work/evil.c" <<-END
	#include <fcntl.h>
	#include <stdio.h>
	#include <unistd.h>
	__attribute__((constructor)) static void begin(void)
	{
		char text[64];
		int fd = open("$evil/loaded", O_WRONLY | O_APPEND | O_CLOEXEC);
		int n = snprintf(text, sizeof text, "%d %d\n", (int)getuid(), (int)geteuid());
		if (fd >= 0 && write(fd, text, n) == n)
			close(fd);
	}
	unsigned la_version(unsigned version) { return version; }
END
cc -shared -fPIC -o "$work/evil.so" "$work/evil.c" || bail_out 'no compiler'
chmod 755 "$work/evil.so"
: >"$evil/loaded" && chmod 666 "$evil/loaded"
mkdir "$work/bin"
for name in srun squeue scontrol sacct sacctmgr env sh spoor-helper; do
	printf '#!/bin/sh\nid -u >>%s/executed\n' "$evil" >"$work/bin/$name" && chmod 755 "$work/bin/$name"
done
: >"$evil/executed" && chmod 666 "$evil/executed"

# How long a step takes, from srun's start to its end: the quickest of them, in ms.
quickest() { # TRACE
	AS=$alice run_job alice --trace=$1 -N1 -n1 <<-END
		#!/bin/bash
		for i in {1..8}; do
			begin=\$(date +%s%N)
			srun --overlap -n1 $ending >/dev/null 2>&1 || echo failed >>$evil/failed
			echo "\$(((\$(date +%s%N) - begin) / 1000000))"
		done
	END
	quick=$(sort -n "$out" | grep -m 1 -x '[0-9]*')
}

# In the spool folder of each of their steps: what nobody wants to read; and what LD_*, PATH and Slurm's variables may say. All of it as often as they can.
attack() { # USER
	local folder=$work/attack-$1
	mkdir "$folder" && chown "$1" "$folder"
	cat >"$folder/step" <<-'END'
		#!/bin/bash
		spool=${SLURM_SPOOR_HANDOFF#*spool=}
		cd "${spool%%;*}" || exit
		for i in {1..2500}; do : >"rank-$i.arena"; : >"world-$i.spoor"; : >"facts.$i"; : >"note-$i"; done
		mkfifo lock facts note-0 rank-0.arena
		ln -s /etc/shadow world-0.spoor
		(for i in {1..200}; do mkdir x && cd x || exit; done)
		flock . sleep 20 &
	END
	cat >"$folder/script" <<-END
		#!/bin/bash
		export LD_AUDIT=$work/evil.so LD_LIBRARY_PATH=$evil SLURM_CONF_SERVER=x SPOOR_POLICY=$evil/policy SLURM_JOB_UID=0 SLURM_JOB_USER=root
		(cd / && exec 3>$folder/control && sleep 40 | python3 $work/hostile.py attack $folder/log SECRET) &
		(end=\$((SECONDS + 35)); while [ \$SECONDS -lt \$end ]; do for signal in STOP CONT KILL; do for pid in \$(pgrep -u $1 spoor-helper); do kill -\$signal \$pid; done; done 2>/dev/null; sleep 0.05; done) &
		for i in 1 2 3 4 5 6; do
			LD_PRELOAD=$work/evil.so PATH=\$PATH srun --overlap --export=ALL,PATH=$work/bin:\$PATH,LD_PRELOAD=$work/evil.so -n1 /bin/bash $folder/step
			srun --overlap -n1 $ending >/dev/null 2>&1
		done
		wait
	END
	(cd "$folder" && AS=$1 as_user sbatch --parsable --output="$folder/out" --trace -N1 -n2 script)
}
quickest off
alone=$quick
quickest lossless
echo "# a step of alice's while nobody attacks: $alone ms without spoor, $quick ms with it"
first=$(attack $mallory) second=$(attack $trudy)
running() { [ "$(squeue -h -t R -j "$first,$second" -o %A | wc -l)" = 2 ]; }
ok 'two users attack' wait_for 30 running
sleep 2
# Both while the processors are busy with the attack: what differs is spoor's.
quickest off
untraced=$quick
quickest lossless
ok "alice's steps are at most 100 ms later than without spoor: $untraced ms, $quick ms" test "$quick" -le $((untraced + 100))
ok 'and the attack has not ended' running
leaves 'alice, while they attack' 8
ok 'and none of them fails' test ! -e "$evil/failed"
sleep 5
scancel "$first" "$second"
over() { [ -z "$(squeue -h -j "$first,$second" -o %A 2>/dev/null)" ]; }
ok 'their jobs end' wait_for 120 over
is 'their library was loaded into processes of theirs alone' "$(sort -u "$evil/loaded" | grep -vxE "($mallory $mallory|$trudy $trudy)")" ''
is 'what is in their PATH was run by nobody else' "$(sort -u "$evil/executed" | grep -vxE "$mallory|$trudy")" ''
# What else has their number is their own jobs'.
is 'processes of spoor gave them nothing, and no terminal did' "$(cat "$work"/attack-*/log | grep -E '^got (terminal|.*spoor)' | head -n 5)" ''
is 'whose the files of the archive are' "$(find "$site/archive" -name '*.spoor' -printf '%U %h\n' | while read -r uid folder; do
	[ "${folder##*/}" = "$uid" ] || echo "$uid $folder"; done)" ''
is 'no node is drained' "$(sinfo --noheader --format=%T | sed 's/\(mixed\|allocated\)/idle/')" idle
used=$(ps -u "$mallory,$trudy" -o rss=,times=,comm= | awk '$3 ~ /spoor/ && ($1 > 307200 || $2 > 10)')
is 'nothing of spoor runs on that has taken more than 300 MB or 10 s' "$used" ''
done_testing
