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

umask 022
# spoor doctor does what a job does. What it is asked about is Slurm's configuration here; nobody is a user as any other.
PATH=$build:$PATH
plugin=$build/prefix/lib/slurm/spoor.so
mkdir -m 755 "$work/etc" "$work/deep/er/archive/2020" && chmod 644 "$work/policy.json"
export SLURM_CONF=$work/etc/slurm.conf
echo "PlugStackConfig=$work/etc/plugstack.conf" >"$SLURM_CONF"
loads() {
	printf '%s\n' "$@" >"$work/etc/plugstack.conf"
}
# What is wrong, as doctor has it, but what is so on the machine that this runs on
wrong() {
	spoor doctor "$@" 2>&1 | sed -n 's/^wrong *//p' | grep -v 'made for Slurm\|steps were not delivered'
}
loads "optional $plugin policy=$work/policy.json"
is 'nothing is wrong' "$(wrong)" ''
got=$(spoor doctor)
like 'files can be made in the spool and in the archive' "$got" 'user nobody can deliver traces'
like 'and in a step' "$got" 'user nobody can make and remove files in a step'
is 'and none of them is left' "$(find "$work/run/spool" "$work/deep/er/archive" -name '*doctor*' -o -name 65534)" ''
sed 's|"rules"|"hooks": [{"name": "h", "run": "/bin/true"}], &|' "$work/policy.json" >"$work/hooks.json"
touch -d '3 hours ago' "$work/hooks"
loads "optional $plugin policy=$work/hooks.json"
like 'hooks that were not run' "$(STATE_DIRECTORY=$work wrong)" "hooks were last run 3 hours ago: see"
is 'on another host they are not' "$(STATE_DIRECTORY=$work/etc wrong)" ''
loads "optional $plugin policy=$work/policy.json"
for folder in run deep/er; do
	chmod 700 "$work/$folder"
	like "a folder above that only root may enter: $folder" "$(wrong)" "user nobody cannot .*: the folder $work/$folder lets only some in \(mode 0700\)"
	chmod 755 "$work/$folder"
done
for folder in run/spool deep/er/archive; do
	sed "s|$folder|nowhere/at/all|" "$work/policy.json" >"$work/nowhere.json"
	loads "optional $plugin policy=$work/nowhere.json"
	like "a folder that is not there, nor that above it: $folder" "$(wrong)" 'nowhere/at/all: neither the (spool|archive) nor the folder above it is there; mount it, or run `spoor setup`'
done
loads "optional $plugin policy=$work/policy.json"
tracers=$build/prefix/lib/spoor
chmod 700 "$tracers"
like 'the same above the tracers' "$(wrong)" "user nobody cannot load it: the folder $tracers lets only some in"
chmod 755 "$tracers"
chmod 600 "$work/policy.json"
like 'a policy that only root may read' "$(wrong)" 'user nobody cannot read the policy'
SPOOR_ARCHIVE='' SPOOR_POLICY='' like 'and no command takes another archive for it' \
	"$(setpriv --reuid=65534 --clear-groups env -u SPOOR_ARCHIVE -u SPOOR_POLICY "$build/prefix/bin/spoor" list 2>&1)" "$work/policy.json: the policy, which says where the archive is: Permission denied"
chmod 644 "$work/policy.json"
like 'commands have the policy of the plugin stack' "$(env -u SPOOR_ARCHIVE -u SPOOR_POLICY spoor policy check 2>&1)" "^$work/policy.json: good"
loads "optional $plugin polcy=$work/policy.json"
like 'an argument that is not spelt so' "$(wrong)" 'unknown argument polcy='
loads "optional $plugin policy=$work/policy.json" "include $work/etc/more/*"
mkdir "$work/etc/more" && echo "required spoor.so" >"$work/etc/more/spoor.conf"
like 'the plugin twice' "$(wrong)" '2 lines load spoor'
loads "optional $plugin policy=$work/policy.json"
if mount -t tmpfs -o size=256k,mode=711 none "$work/run/spool" 2>/dev/null; then
	head -c 256k /dev/zero >"$work/run/spool/fill" 2>/dev/null
	got=$(wrong)
	like 'a spool that is full' "$got" "the file system of the spool is full: 0 MiB left"
	like 'and no file can be made' "$got" 'user nobody cannot make a file|no step'"'"'s folder can be made'
	like 'for Nagios: one line' "$(spoor doctor --quiet; echo "$?")" '^SPOOR CRITICAL: [2-9] wrong, [0-9]+ in doubt, policy [0-9a-f]{8}; [^
]*
2$'
	umount "$work/run/spool"
	mount -t tmpfs -o size=1m,nr_inodes=4,mode=711 none "$work/run/spool" && touch "$work/run/spool"/{1,2,3}
	like 'no inodes are left' "$(wrong)" 'it has no inodes left'
	umount "$work/run/spool"
else
	pass 'a spool that is full # SKIP no mount here'
fi
# Columns of the longest line of words; a word that is longer than the terminal, as paths are, stays whole
on_terminal() {
	COLUMNS=$1 TERM=dumb script -qec "spoor doctor" /dev/null </dev/null | tr -d '\r'
}
got=$(on_terminal 80)
is 'in 80 columns' "$(awk 'length > 80 && NF > 2' <<<"$got")" ''
words() { # how much room is left changes meanwhile
	tr -s ' \n' '\n' | sed 's/^[0-9]*$/N/'
}
is 'with all words' "$(words <<<"$got")" "$(spoor doctor | words)"
ok 'elsewhere: a line for each' test "$(spoor doctor | grep -c .)" -lt "$(grep -c . <<<"$got")"
# Nodes with other policies; what stands in for srun is what their tasks would say
mkdir "$work/bin" && cat >"$work/bin/srun" <<'END'
#!/bin/sh
echo "SPOOR-DOCTOR 999999 n1 111 20"
echo "SPOOR-DOCTOR 999999 n2 $SUM 20"
exit 1
END
chmod 755 "$work/bin/srun"
today=$work/deep/er/archive/$(date -u +%Y/%m/%d)
mkdir -p "$today/0" && : >"$today/0/999999.0.0.spoor" # nothing is waited for
policies() {
	SUM=$1 PATH=$work/bin:$PATH spoor doctor --test --program /bin/true 2>&1 | grep -i 'polic.*node\|node.*polic'
}
like 'nodes with other policies' "$(policies 222)" '^wrong +the policies of nodes n1 and n2 differ'
like 'nodes with one policy' "$(policies 111)" '^good +the nodes of the test job have one policy'
rm -r "$today"
is 'as JSON' "$(spoor doctor --json | python3 -c 'import json, sys
got = json.load(sys.stdin)
print(got["wrong"] == sum(f["finding"] == "wrong" for f in got["findings"]) and len(got["policy_digest"]))')" 8
like 'as a user that there is not' "$(wrong --user nosuchuser)" 'there is no user nosuchuser'
like 'a job that is not known: what the policy is asked' "$(setpriv --reuid=65534 --clear-groups env -u SPOOR_POLICY "$build/prefix/bin/spoor" doctor 999 2>&1)" 'spoor policy explain'
like 'a step is of its job' "$(spoor doctor 999.batch 2>&1)" 'job 999, as '
like 'so is a component of a heterogeneous job' "$(spoor doctor 997+2 2>&1)" 'job 999, as '
like 'a task of an array is a job of its own' "$(spoor doctor 24_3 2>&1; echo "$?")" 'sacct -j 24_3 --format=JobIDRaw.*
2$'
for option in --json --quiet --test --user=nobody; do
	is "of a job there is no $option" "$(spoor doctor "$option" 999 >/dev/null 2>&1; echo "$?")" 2
done
rmdir "$work/run/spool" && ln -s /etc "$work/run/spool"
like 'a symbolic link is not followed' "$(setup)" 'the spool cannot be made: something that is no folder is there'
is 'and what it leads to is as before' "$(stat --format=%a /etc)" 755
rm "$work/run/spool"
policy nosuchgroup
like 'no such group' "$(setup)" 'there is no group nosuchgroup'
chmod 666 "$work/policy.json"
like 'a policy that others can write' "$(setup)" 'with mode 0666'
done_testing
