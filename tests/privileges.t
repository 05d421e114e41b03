#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# privileges - root reads a user's trace with the rights of that user
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

program=${SPOOR_BUILD:-.}/bench/hostile
spoor=${SPOOR_BUILD:-.}/spoor
skip=
[ "$(id -u)" = 0 ] || skip='not root'
[ -x "$program" ] || skip='bench/hostile is not built'
if [ "$skip" ]; then
	echo "1..0 # SKIP $skip"
	exit
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -m 700 "$folder/secret"

# A program that only root may read: whoever names its functions is root.
cp "$program" "$folder/secret/program"
run() {
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$spoor" run -o "$folder/root.spoor" -- "$folder/secret/program" 500 20
}
ok 'a program that only root may read is traced' run
for user in daemon nobody; do
	cp "$folder/root.spoor" "$folder/$user.spoor"
	chown "$user" "$folder/$user.spoor"
	chmod 400 "$folder/$user.spoor"
done

sites() {
	"$spoor" show --sites "$folder/$1.spoor"
}
names() {
	sites "$1" | grep talk_to_self
}
not() {
	! "$@"
}
ok "root's own trace: its program is read with root's rights" names root
ok "a user's trace is read, whoever may read it" sites daemon
ok "a user's trace: a program that it names is not read with root's rights" not names daemon
for command in show dump stat verify; do
	ok "$command: a user's trace" "$spoor" "$command" "$folder/daemon.spoor"
done
is "verify: traces of several users at once" "$("$spoor" verify "$folder"/{root,daemon,nobody}.spoor | grep -c ': good')" 3
ok 'diff: traces of two users' "$spoor" diff "$folder/daemon.spoor" "$folder/nobody.spoor"
ok "report: of root's trace, written as root" "$spoor" report -o "$folder/secret/root.html" "$folder/root.spoor"
ok "report: of a user's trace, read as that user, and written where only root can write" "$spoor" report -o "$folder/secret/user.html" "$folder/daemon.spoor"
is "it is root's" "$(stat -c %u "$folder/secret/user.html")" 0
ok "a user's trace: a program that it names is not read with root's rights for the page, either" not grep -q talk_to_self "$folder/secret/user.html"
install -d -o daemon "$folder/theirs"
like "not into a user's folder" "$("$spoor" report -o "$folder/theirs/user.html" "$folder/root.spoor" 2>&1)" "theirs: is user [0-9]+'s: root writes only where nobody else can"
is 'and nothing is there' "$(ls -A "$folder/theirs")" ''
done_testing
