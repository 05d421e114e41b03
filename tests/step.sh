# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# step - long commands of a script that can be interrupted at any time; to be sourced
#
#     . tests/step.sh
#     step make all || exit 1
#
# A step runs in the background, in a process group of its own. When the script gets a signal (which may be for it alone, not
# from a terminal), the whole group is ended, and the script exits with status 130, through its trap on EXIT.

step_group=
trap step_interrupt INT TERM HUP

step() {
	set -m # a process group of its own, and SIGINT not ignored
	"$@" </dev/null &
	step_group=$!
	set +m
	wait "$step_group"
	local status=$?
	step_group=
	return $status
}

step_interrupt() {
	local end=$((SECONDS + 40))
	trap '' INT TERM HUP
	echo
	if [ -n "$step_group" ]; then
		kill -TERM -- "-$step_group" 2>/dev/null
		# Until all of the group are gone, since a test or a cluster stops what it started. A zombie has no exe.
		while [ $SECONDS -lt $end ] && step_alive; do
			sleep 0.1
		done
	fi
	exit 130
}

step_alive() {
	local stat pid group
	for stat in /proc/[0-9]*/stat; do
		# pid (name) state parent group ...; the name may hold blanks and parentheses
		read -r stat 2>/dev/null <"$stat" || continue
		pid=${stat%% *}
		read -r _ _ group _ <<<"${stat##*) }"
		[ "$group" = "$step_group" ] && readlink "/proc/$pid/exe" >/dev/null && return
	done
	return 1
}
