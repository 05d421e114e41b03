#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# setup - spoor setup makes folders with the owners and modes that they need, and sets right those that are there
set -u
. "$(dirname "$0")/tap.sh"

build=${SPOOR_BUILD:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/setup.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP only root makes folders for others'
	exit 0
fi
case $(sed -n 's/^prefix = //p' "$build/Makefile") in
"$build"/*) ;;
*) echo '1..0 # SKIP the log would be in the system' && exit 0 ;;
esac
chmod 711 "$work"
umask 077
group=$(id -gn nobody)
policy() {
	printf '{"version": 1, "archive": "%s", "spool": "%s", "admin_group": "%s", "rules": []}' "$work/deep/er/archive" "$work/run/spool" "${1-$group}" \
		>"$work/policy.json"
}
policy
setup() {
	"$build/spoor" setup --policy "$work/policy.json" 2>&1
}
modes() {
	(cd "$work" && stat --format='%n %U %G %a' deep/er/archive deep/er/archive/.index run/spool)
}
right="deep/er/archive root root 755
deep/er/archive/.index root $group 2770
run/spool root root 711"
like 'says what it made' "$(setup)" 'archive: archive, mode 0755, made'
is 'owners and modes' "$(modes)" "$right"
is 'the folders above can be entered' "$(stat --format=%a "$work/deep/er")" 755
like 'again: nothing is made' "$(setup)" 'archive: archive, mode 0755
'
chmod 777 "$work/deep/er/archive" "$work/deep/er/archive/.index" "$work/run/spool"
chown 65534 "$work/run/spool" "$work/deep/er/archive/.index"
setup >/dev/null
is 'set right' "$(modes)" "$right"
ok 'doctor is content with them' eval "'$build/spoor' doctor | grep -q 'decisions are logged'"
rmdir "$work/run/spool" && ln -s /etc "$work/run/spool"
like 'a symbolic link is not followed' "$(setup)" 'the spool cannot be made: something that is no folder is there'
is 'and what it leads to is as before' "$(stat --format=%a /etc)" 755
rm "$work/run/spool"
policy nosuchgroup
like 'no such group' "$(setup)" 'there is no group nosuchgroup'
chmod 666 "$work/policy.json"
like 'a policy that others can write' "$(setup)" 'with mode 0666'
done_testing
