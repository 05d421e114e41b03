#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# squash - an archive on network file systems as sites have them: root is nobody, there are no hard links, no locks, and answers get lost
#
# The file system is a stand-in (tests/squash.c, FUSE): where there is no NFS client in the kernel, a loop-back export cannot be mounted.
set -u
. "$(dirname "$0")/tap.sh"

build=${SPOOR_BUILD:-$PWD}
source=$(cd "$(dirname "$0")" && pwd)
skip=
[ "$(id -u)" = 0 ] || skip='only root can be nobody'
[ -x "$build/tests/squash" ] || skip='libfuse3-dev is not installed'
[ -c /dev/fuse ] || skip='no /dev/fuse'
if [ "$skip" ]; then
	echo "1..0 # SKIP $skip"
	exit
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/squash.XXXXXX") || exit 1
mounted=
finish() {
	[ -z "$mounted" ] || leave
	rm -rf "$work"
}
trap finish EXIT
chmod 711 "$work"
umask 022
PATH=$build:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work" || exit 1
alice=61001 bob=61002 owner=61000 admins=61100
today=$(date -u +%Y/%m/%d) # of this moment; at midnight the folders of the next one are there, too

mount_it() {
	mkdir -p server archive
	"$build/tests/squash" "$work/server" "$work/archive" "$@" 2>squash.log &
	mounted=$!
	for _ in {1..100}; do
		mountpoint -q archive && return
		sleep 0.1
	done
	bail_out "the file system is not there: $(cat squash.log)"
}
leave() {
	umount archive
	wait $mounted
	mounted=
}
# fresh OWNER [OPTION...]: another archive
fresh() {
	[ -z "$mounted" ] || leave
	rm -rf server && mkdir server && chown "$1:$admins" server
	mount_it "${@:2}"
}
as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$user" --clear-groups env HOME=/nonexistent SPOOR_ARCHIVE="$work/archive" PATH="$PATH" "$@"
}
mkdir -m 711 spool
mkdir raw && SLURM_SPOOR_HANDOFF="1;mode=lossless;spool=$work/raw" LD_PRELOAD=$(python3 "$source/launch.py") "$build/tests/ending" >/dev/null 2>&1
[ -n "$(ls raw)" ] || bail_out 'no raw trace'
# deliver USER JOB [FACT...]: as the plugin does it at the end of a step
deliver() {
	local folder=$work/spool/$2.0.n1
	mkdir -p -m 700 "$folder" && cp -n raw/* "$folder" && chown -R "$1" "$folder"
	printf '%s\n' "archive=$work/archive" "when=$(date +%s)" "group=$admins" "uid=$1" | spoor-helper day 2>&1
	printf '%s\n' "job=$2" step=0 "spool=$folder" "day=$work/archive/$today" "uid=$1" node=n1 exit_code=0 signal=0 "${@:3}" | as "$1" spoor-helper collect 2>&1 && echo done
}
there() {
	(cd server && find . -name '*.spoor' -printf '%P %u %g %m\n' | sed "s|^[0-9]*/[0-9]*/[0-9]*/||" | sort)
}
listed() {
	as "$1" spoor list --json 2>&1 | grep -o '"name":"[^"]*"' | tr '\n' ' '
}

# The archive is another user's than root's.
fresh $owner
is 'root is nobody here' "$(touch archive/x 2>/dev/null; ls server)" ''
is "the owner's rights: delivered" "$(deliver $alice 1)" 'done'
is "the owner's rights: a folder of the user, with the group" "$(there)" "$alice/1.0.0.spoor $alice $admins 440"
is "the owner's rights: the day" "$(stat --format='%u %g %a' "server/$today")" "$owner $admins 3773"
is "the owner's rights: the user's folder" "$(stat --format='%u %g %a' "server/$today/$alice")" "$alice $admins 2750"
is 'its user sees it' "$(listed $alice)" '"name":"1.0.0" '
ok 'its user opens it by its job' as $alice spoor verify 1
is 'nobody else' "$(listed $bob)" ''
is 'the admin group does' "$(setpriv --reuid=$bob --regid=$admins --clear-groups env HOME=/nonexistent spoor list --json --archive archive | grep -c '"name":"1.0.0"')" 1

# Somebody was there first.
deliver $bob 2 >/dev/null
as $bob mkdir -m 777 "archive/$today/$alice.1" && as $bob mv "archive/$today/$alice" "archive/$today/x" 2>/dev/null
is 'a folder cannot be moved away' "$(ls "server/$today" | tr '\n' ' ')" "$alice $alice.1 $bob "
rm -r "server/$today/$alice" && as $bob mkdir -m 777 "archive/$today/$alice" && as $bob sh -c ": >archive/$today/$alice/1.0.0.spoor"
is 'taken: delivered all the same' "$(deliver $alice 3)" 'done'
is 'taken: under another name' "$(there | grep "$alice $admins")" "$alice.2/3.0.0.spoor $alice $admins 440"
is 'taken: its user sees it' "$(listed $alice)" '"name":"3.0.0" '
is 'taken: what the other one put there is nobody'"'"'s' "$(listed $bob)" '"name":"2.0.0" '
as $bob sh -c "cd archive/$today && for k in \$(seq 0 63); do mkdir $alice.\$k; done" 2>/dev/null
rm -r "server/$today/$alice.2" && as $bob mkdir "archive/$today/$alice.2"
like 'all names are taken: kept' "$(deliver $alice 4)" 'all 64 names of user 61001.s folder are taken by others'
is 'all names are taken: kept with its facts' "$(ls spool/4.0.n1 | sed 's/world-.*/world/' | tr '\n' ' ')" 'facts world '

# The archive is root's, and days were made on the server.
fresh 0
chown root:root server
printf '{"version": 1, "archive": "%s", "spool": "%s", "rules": []}' "$work/server" "$work/spool" >policy.json
like 'no day: kept' "$(deliver $alice 5)" "archive/$today: cannot be made: Permission denied"
mkdir -p etc && sed "s|$work/server|$work/archive|" policy.json >etc/policy.json
echo "optional spoor.so policy=$work/etc/policy.json" >etc/plugstack.conf && echo >etc/slurm.conf
doctor() {
	SLURM_CONF=$work/etc/slurm.conf spoor doctor 2>&1
}
like 'no day: doctor says so' "$(doctor)" "wrong +$work/archive: no user's folder can be made: [^ ]*$today: cannot be made: Permission denied"
like 'setup --days' "$(spoor setup --policy "$work/policy.json" --days 2)" "server/$today: is there"
is 'setup --days: so many' "$(find server -mindepth 3 -maxdepth 3 -printf '%u %m\n' | sort | uniq -c | xargs)" '3 root 3773'
like 'days made ahead: doctor is content' "$(doctor)" "good +$work/archive/$today: user nobody can deliver traces"
is 'and leaves nothing' "$(ls "server/$today")" ''
chgrp -R $admins server
is 'made ahead: delivered' "$(deliver $alice 5)" 'done'
is 'made ahead: once, as the user' "$(there)" "$alice/5.0.0.spoor $alice $admins 440"
like 'the jobs of root are refused there, and kept' "$(deliver 0 6)" 'what user 0 makes there becomes user 65534.s'
is 'and leave nothing' "$(ls "server/$today")" $alice
is 'root lists as nobody' "$(SPOOR_ARCHIVE=$work/archive spoor list 2>&1 >/dev/null)" ''

# Servers that answer wrong, or not at all. Twice: what is delivered already is not delivered again.
job=10
for options in lost nolink 'nolink lost' 'nolink norename2' 'nolink norename2 lost' noflock; do
	# shellcheck disable=SC2086 # a list
	fresh $owner $options
	rm -rf spool/*
	is "$options: delivered" "$(deliver $alice $job)" 'done'
	is "$options: once" "$(there)" "$alice/$job.0.0.spoor $alice $admins 440"
	is "$options: nothing is unfinished" "$(find server -name '.*' -o -size 0)" ''
	is "$options: the spool is empty" "$(ls -A "spool/$job.0.n1")" ''
	is "$options: the next one of the step has another name" "$(deliver $alice $job; there | wc -l)" 'done
2'
	deliver $alice $((job + 1)) >one & first=$!
	deliver $alice $((job + 2)) >two & wait $first $!
	is "$options: two at once" "$(there | wc -l)" 4
	is "$options: listed" "$(listed $alice | wc -w)" 4
	ok "$options: and whole" as $alice spoor verify $((job + 1))
	job=$((job + 10))
done

# Root is root, and answers get lost.
fresh 0 root lost
rm -rf spool/*
is 'root, lost: delivered' "$(deliver $alice $job; deliver $bob $((job + 1)))" 'done
done'
is 'root, lost: the day is as it should be' "$(stat --format='%u %g %a' "server/$today"; stat --format=%a "server/${today%/*}")" "0 $admins 2751
755"
is 'root, lost: so are the folders' "$(cd "server/$today" && stat --format='%n %u %g %a' * .[!.]* 2>/dev/null)" "$alice $alice $admins 2750
$bob $bob $admins 2750"

# A helper was killed after it had delivered: the trace is not delivered again, whatever the day.
fresh $owner
rm -rf spool/*
folder=$work/spool/90.0.n1
mkdir -m 700 "$folder" && cp raw/* "$folder" && chown -R $alice "$folder" && cp -a "$folder" copy
deliver $alice 90 >/dev/null
cp -an copy/* "$folder" && printf '%s\n' job=90 step=0 node=n1 exit_code=0 signal=0 "folders=$work/archive/2001/01/01/$alice%1f$work/archive/$today/$alice" >"$folder/facts"
chown -R $alice "$folder"
is 'killed after it was delivered' "$(deliver $alice 90; there | wc -l)" 'done
1'
done_testing
