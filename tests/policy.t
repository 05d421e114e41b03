#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# policy - what `spoor policy` says of bad and good files, and what spoor-helper decides
set -u
. "$(dirname "$0")/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/policy.XXXXXX") || exit 1
chmod 711 "$work"
trap 'rm -rf "$work"' EXIT

# Bad files: the whole message, byte for byte.
for folder in "$top"/tests/invalid/policy/*/; do
	case=$(basename "$folder")
	got=$(cd "$folder" && "$build/spoor" policy check input 2>&1 >/dev/null)
	is "$case: exit status" $? 1
	is "$case: message" "$got" "$(cat "$folder/error")"
done

head -c 10000000 /dev/zero | tr '\0' ' ' >"$work/big"
is '10 MB' "$("$build/spoor" policy check "$work/big" 2>&1)" "$work/big:1:1: has 10000000 bytes; a policy may have at most 262144"
printf '{"version": 1, "rules": [%s0]}' "$(printf '0,%.0s' {1..900})" >"$work/many"
got=$("$build/spoor" policy check "$work/many" 2>&1)
is 'many problems: 50 of them' "$(grep -c 'expected an object' <<<"$got")" 50
like 'many problems: the number of the others' "$(tail -n 1 <<<"$got")" 'and 851 more problems$'
printf '{"version": 1, "rules": %s' "$(printf '[%.0s' {1..100000})" >"$work/deep"
like 'deep nesting' "$("$build/spoor" policy check "$work/deep" 2>&1)" 'not valid JSON: maximum parsing depth'
like 'no file' "$("$build/spoor" policy check "$work/nothing" 2>&1)" "nothing:1:1: cannot be opened: No such file"
like 'a folder' "$("$build/spoor" policy check "$work" 2>&1)" 'is not a regular file'
mkfifo "$work/fifo"
like 'a FIFO' "$(timeout 5 "$build/spoor" policy check "$work/fifo" 2>&1)" 'is not a regular file'

# Good files.
ok 'the policy that is installed is good' "$build/spoor" policy check "$top/etc/policy.json"
cat >"$work/good" <<'END'
{
	"version": 1,
	"comment": "of the test",
	"mode": "lossy:7",
	"archive": "/archive/",
	"spool": "/spool",
	"admin_group": "wheel",
	"memory": "2 MiB",
	"deadline": 20,
	"user": "off",
	"rules": [
		{ "name": "never", "match": { "account": [ "secret*", "x\"}" ] }, "mode": "off", "user": "none" },
		{ "name": "big", "match": { "nodes_min": 4, "nodes_max": 9, "partition": "long" }, "mode": "lossless",
		  "memory": 4194304, "deadline": 30, "user": "any" },
		{ "name": "group", "match": { "group": "dev" }, "mode": "lossless" },
		{ "name": "big again", "match": { "nodes_min": 4 }, "mode": "off" }
	]
}
END
explain() {
	"$build/spoor" policy explain --policy "$work/good" "$@" 2>&1
}
# decides TITLE MODE RULE FACT...
decides() {
	local title=$1 mode=$2 rule=$3
	shift 3
	is "$title" "$(explain "$@" | sed -n 's/^\(mode\|rule\) *//p' | sed "s|$work/||")" "$mode
$rule"
}
decides 'default' lossy:7 'default (good:4)'
decides 'first match' off 'never (good:12)' account=secret1 nodes=5 partition=long
decides 'a list of globs' off 'never (good:12)' 'account=x"}'
decides 'numbers and text' lossless 'big (good:13)' nodes=4 partition=long
decides 'one of the partitions of a job' lossless 'big (good:13)' nodes=9 partition=short,long
decides 'one condition does not hold' off 'big again (good:16)' nodes=10 partition=long
decides 'one of the groups of a user' lossless 'group (good:15)' groups=users,dev nodes=8
decides 'a group whose name only begins so' lossy:7 'default (good:4)' groups=developers
decides 'user off: may switch off' off 'command line' trace_option=off
decides 'user off: may not switch on' lossy:7 'default (good:4)' trace_option=lossless
decides 'user none: may nothing' off 'never (good:12)' account=secret trace_option=lossless
decides 'user any' lossy:3 'command line' nodes=4 partition=long trace_option=lossy:3
decides 'command line before environment' off 'command line' nodes=4 partition=long trace_option=off trace_environment=lossless
decides 'environment before rule' off environment nodes=4 partition=long trace_environment=off
decides 'on is the mode of the site' lossless 'command line' nodes=4 partition=long trace_option=on
sed 's/"user": "off"/"user": "any"/; s/"mode": "lossy:7"/"mode": "off"/' "$work/good" >"$work/any" && mv "$work/any" "$work/good"
decides 'on where the site has off: lossless' lossless 'command line' trace_option=on
decides 'lossy without a number' lossy:128 'command line' trace_option=lossy
got=$(explain nodes=4 partition=long)
like 'limits of a rule' "$got" 'memory +4194304 bytes.*deadline +30 seconds'
like 'explain names the archive' "$got" 'archive +/archive
'
like 'explain says why not' "$got" 'good:12: rule "never" does not match: account is not known'
like 'explain says what matches' "$got" 'good:13: rule "big" matches'
like 'unknown fact' "$(explain acount=x)" 'unknown fact "acount"; did you mean "account"\?'
like 'not a number' "$(explain nodes=many)" 'expected a number of nodes or tasks, found many'
like 'not a choice' "$(explain trace_option=sometimes)" 'expected one of off, on, lossless.*found sometimes'

# The helper, as the plugin asks it.
cp "$work/good" "$work/policy.json"
facts="uid=$(id -u)
gid=$(id -g)
job_name=a%20b
trace_option=lossless"
decide() {
	"$build/spoor-helper" decide "$work/policy.json" "$1" 2>&1
}
like 'decide: the decision as facts' "$(decide /dev/null <<<"$facts")" '^mode=lossless
archive=/archive
spool=/spool
admin_group=wheel
memory=2097152
deadline=20
retention=0
rule=command%20line
where=
reason=[^[:space:]]*$'
like 'decide: a tracer that is not there' "$(decide /nonsense.so <<<"$facts")" '^/nonsense.so: user [0-9]+ cannot read the tracer: No such file'
like 'decide: facts that are none' "$(decide /dev/null <<<'uid=0 gid=0')" '^stdin: line 1 is not NAME=VALUE'
like 'decide: who?' "$(decide /dev/null <<<'job=1')" 'uid and gid are missing'
ok 'decide: without facts' eval "! $build/spoor-helper decide $work/policy.json /dev/null </dev/null"
ok 'decide: too much' eval "! head -c 100000 /dev/zero | $build/spoor-helper decide $work/policy.json /dev/null"
if [ "$(id -u)" = 0 ]; then
	chmod 666 "$work/policy.json"
	like 'decide: root uses no policy that others can write' "$(decide /dev/null <<<"$facts")" 'with mode 0666; it is only used if'
	chmod 644 "$work/policy.json" && chown 65534 "$work/policy.json"
	like 'decide: nor one of somebody else' "$(decide /dev/null <<<"$facts")" 'belongs to user 65534'
	chown 0 "$work/policy.json" && : >"$work/private" && chmod 600 "$work/private"
	like 'decide: looks as the user whether the tracer can be read' "$(decide "$work/private" <<<"uid=65534
gid=65534
trace_option=on")" 'user 65534 cannot read the tracer: Permission denied'
fi
printf '{ "version": 1, "mdoe": 1, "rules": 3 }' >"$work/policy.json"
is 'decide: one line for the log' "$(decide /dev/null <<<"$facts" | sed "s|$work/||")" \
	'policy.json:1:17: $: unknown key "mdoe"; did you mean "mode"? (and 1 more problems)'
done_testing
