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

head -c 20000000 /dev/zero | tr '\0' ' ' >"$work/big"
is '20 MB' "$("$build/spoor" policy check "$work/big" 2>&1)" "$work/big:1:1: has 20000000 bytes; a policy may have at most 16777216"
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

# What a user can get around.
printf '{"version": 1, "rules": [{"name": "no", "match": {"job_name": "x"}, "mode": "off"}]}\n' >"$work/evadable"
is 'a rule that a variable decides is good' "$("$build/spoor" policy check "$work/evadable" 2>/dev/null; echo $?)" \
	"$work/evadable: good: 1 rules; a job that no rule matches: off
0"
like '... with a warning' "$("$build/spoor" policy check "$work/evadable" 2>&1 >/dev/null)" \
	'rule "no" switches the tracer off by "job_name", which the job.s user can change'
for name in user group account partition qos reservation weekday; do
	value=x
	[ $name != weekday ] || value=mon
	sed "s/job_name/$name/; s/\"x\"/\"$value\"/" "$work/evadable" >"$work/certain"
	is "a rule that Slurm decides has none: $name" "$("$build/spoor" policy check "$work/certain" 2>&1)" \
		"$work/certain: good: 1 rules; a job that no rule matches: off"
done
for name in container executable; do
	sed "s/job_name/$name/" "$work/evadable" >"$work/uncertain"
	like "one that the user decides has: $name" "$("$build/spoor" policy check "$work/uncertain" 2>&1 >/dev/null)" "by \"$name\", which the job.s user can change"
done
printf '{"version": 1, "user": "any", "rules": [{"name": "less", "match": {"account": "x"}, "mode": "lossless", "user": "off"}]}\n' >"$work/choice"
like 'one that leaves less choice has' "$("$build/spoor" policy check "$work/choice" 2>&1 >/dev/null)" 'rule "less" has "user": "off" by "account", which the job.s user can change until the step ends'

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
	is "$title" "$(explain "$@" | sed -n 's/^mode  *\([^ ]*\).*/\1/p; s/^rule  *//p' | sed "s|$work/||")" "$mode
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
for word in 0 no False; do
	decides "user off: may say $word" off 'command line' trace_option=$word
done
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
like 'not a number' "$(explain nodes=many)" 'nodes=many: expected a number'
like 'no threshold' "$(explain trace_option=lossy:many)" 'expected one of off.*found lossy:many'
like 'no number of bins' "$(explain trace_option=on,bins=0)" 'bins=0: expected bins from 1 to 64'
like 'no timing' "$(explain trace_option=on,timing=often)" 'timing=often: expected "aggregate", "histogram" or "full"'
like 'no event' "$(explain trace_option=on,counters=PAPI_TOT_INST)" 'counters=PAPI_TOT_INST: expected a list of at most 8 events'
like 'not a choice' "$(explain trace_option=sometimes)" 'trace_option=sometimes: expected one of off, on, lossless.*found sometimes'

# All conditions, who decides, and fragments.
mkdir "$work/full.d"
cat >"$work/full.json" <<'END'
{
	"version": 1,
	"mode": "lossy:100",
	"memory": "4 MiB",
	"user": "raise",
	"cap": { "mode": "lossy:500", "memory": "32 MiB" },
	"rules": [
		{ "name": "night", "match": { "time": [ "22:00-06:00", "12:00-12:30" ], "weekday": [ "mon", "sun" ] }, "mode": "lossy:1" },
		{ "name": "long", "match": { "time_limit_min": 1440 }, "mode": "lossy:2" },
		{ "name": "reserved", "match": { "reservation": "?*" }, "mode": "lossy:3", "archive": "/elsewhere", "retention": 30 },
		{ "name": "contained", "match": { "container": "*.sqsh" }, "mode": "lossy:4" },
		{ "name": "program", "match": { "executable": [ "/opt/*/lmp*", "vasp_std" ], "ranks_min": 8 }, "mode": "lossy:5", "user": "lower" },
		{ "name": "threshold", "match": { "qos": "high" }, "mode": "lossy", "threshold": 6, "memory": "8 MiB", "user": "off" },
		{ "name": "half", "match": { "sample": 0.5, "account": "s" }, "mode": "lossy:7", "user": "any" }
	]
}
END
echo '{ "version": 1, "rules": [ { "name": "second", "match": { "user": "z*" }, "mode": "lossy:8" } ] }' >"$work/full.d/20.json"
echo '{ "version": 1, "rules": [ { "name": "first", "match": { "user": "zoe" }, "mode": "lossy:9" } ] }' >"$work/full.d/10.json"
echo 'not read' >"$work/full.d/README"
mv "$work/good" "$work/good.kept" && cp "$work/full.json" "$work/good" && mv "$work/full.d" "$work/good.d"
ok 'a policy with fragments is good' "$build/spoor" policy check "$work/good"
decides 'nothing is known' lossy:100 'default (good:3)'
decides 'time: over midnight' lossy:1 'night (good:8)' time=05:59 weekday=mon
decides 'time: a span ends before its second time' lossy:100 'default (good:3)' time=06:00 weekday=mon
decides 'time: another span' lossy:1 'night (good:8)' time=12:15 weekday=sun
decides 'weekday' lossy:100 'default (good:3)' time=12:15 weekday=tue
decides 'time limit' lossy:2 'long (good:9)' time_limit=1-00:00:00
decides 'time limit: minutes' lossy:100 'default (good:3)' time_limit=1439
decides 'time limit: none' lossy:2 'long (good:9)' time_limit=UNLIMITED
decides 'reservation' lossy:3 'reserved (good:10)' reservation=r1
decides 'no reservation' lossy:100 'default (good:3)' reservation=
decides 'a rule that asks for containers captures them' lossy:4 'contained (good:11)' container=/images/a.sqsh
decides 'other containers are skipped' off 'default (good:3)' container=/images/a.sif
decides 'executable: the path' lossy:5 'program (good:12)' executable=/opt/lammps/23/lmp_mpi ranks=8
decides 'executable: the name' lossy:5 'program (good:12)' executable=/home/u/bin/vasp_std ranks=1000
decides 'executable: not the name alone' lossy:100 'default (good:3)' executable=/usr/bin/lmp_mpi ranks=8
decides 'ranks' lossy:100 'default (good:3)' executable=vasp_std ranks=7
like 'executable: not known yet' "$(explain user=bob)" 'rule "program" matches if the program does.*This is so unless the program is one'
decides 'threshold' lossy:6 'threshold (good:13)' qos=high
decides 'sample: in' lossy:7 'half (good:14)' account=s job=3
decides 'sample: not in' lossy:100 'default (good:3)' account=s job=1
decides 'sample: a component goes where the first one goes' lossy:7 'half (good:14)' account=s job=1 het_job_id=3
decides 'fragments come first, in the order of their names' lossy:9 'first (good.d/10.json:1)' user=zoe
decides 'fragments: the next' lossy:8 'second (good.d/20.json:1)' user=zac
decides 'user raise: more' lossy:200 'command line' trace_option=lossy:200
decides 'user raise: not less' lossy:100 'default (good:3)' trace_option=lossy:99
decides 'user raise: not off' lossy:100 'default (good:3)' trace_option=off
decides 'user lower: not more' lossy:5 'program (good:12)' executable=vasp_std ranks=8 trace_option=lossless
decides 'user lower: less' lossy:1 'command line' executable=vasp_std ranks=8 trace_option=lossy:1
decides 'user off: only off' lossy:6 'threshold (good:13)' qos=high trace_option=lossy:5
decides 'user off: off' off 'command line' qos=high trace_option=off
decides 'nothing exceeds the cap' lossy:500 'command line' trace_option=lossless
memory() {
	explain "$@" | sed -n "s|$work/||; s/^memory *//p"
}
is 'a setting of the policy' "$(memory)" '4194304 bytes   (policy, good:4)'
is 'a setting of a rule' "$(memory qos=high)" '8388608 bytes   (rule, good:13)'
is 'a setting of the environment' "$(memory trace_environment=on,memory=8MiB)" '8388608 bytes   (environment)'
is 'a setting of the command line, before the environment' "$(memory trace_option=memory=9MiB trace_environment=memory=8MiB)" \
	'9437184 bytes   (command line)'
is 'a setting that is not for this user' "$(memory trace_option=on,memory=2MiB)" '4194304 bytes   (policy, good:4)'
is 'a setting above the cap' "$(memory trace_option=on,memory=64MiB)" '33554432 bytes   (cap, good:6)'
is 'a standard value' "$(explain | sed -n 's/^deadline *//p')" '10 seconds   (default)'
like 'archive and retention of a rule' "$(explain reservation=r)" 'archive +/elsewhere
.*retention +30 days   \(rule, [^ ]*good:10\)'
like 'a setting that is none' "$(explain trace_option=on,memroy=2MiB)" 'memroy is no setting of the tracer; did you mean memory\?'
like 'a setting that is the site'"'"'s' "$(explain trace_option=retention=2)" 'retention is no setting of the tracer'
like 'a setting out of range' "$(explain trace_option=memory=1)" 'memory=1: expected bytes from 1048576'
like 'a time that is none' "$(explain time=8)" 'time=8: expected a time of the day such as 14:30'
printf '{ "version": 1, "rules": [%s] }' "$(for i in {1..40}; do printf '%s{"name":"%d","match":{"executable":"p%d"},"mode":"off"}' "${comma-}" $i $i; comma=,; done)" \
	>"$work/programs.json"
like 'more rules on executables than are looked at' "$("$build/spoor" policy explain --policy "$work/programs.json")" \
	'more than 32 rules ask for the executable, the rest was not looked at'
python3 -c '
import json
print(json.dumps({"version": 1, "rules": [{"name": str(i), "mode": "off", "match": {"nodes_min": i, "tasks_min": 30000 - i}} for i in range(20001)]}))' >"$work/too-many.json"
like 'more rules than there may be' "$("$build/spoor" policy check "$work/too-many.json" 2>&1)" \
	'rules\[20000\]: more than 20000 rules; a policy may have no more, with its fragments'
mv "$work/good.kept" "$work/good" && rm -r "$work/good.d"

# The helper, as the plugin asks it.
cp "$work/good" "$work/policy.json"
tracer=$(python3 "$top/tests/launch.py")
facts="uid=$(id -u)
gid=$(id -g)
job_name=a%20b
trace_option=lossless"
decide() {
	"$build/spoor-helper" decide "$work/policy.json" "$1" 2>&1
}
like 'decide: the decision as facts' "$(decide "$tracer" <<<"$facts")" '^mode=lossless
archive=/archive
spool=/spool
admin_group=wheel
memory=2097152
deadline=20
(.*
)?rule=command%20line
where=
reason=[^[:space:]]*
refused=
alternatives=(
claims=1)?(
topology=[^[:space:]]*)?$'
like 'decide: a tracer that is not there' "$(decide /nonsense.so <<<"$facts")" '^/nonsense.so: user [0-9]+ cannot read the tracer: No such file'
like 'decide: facts that are none' "$(decide "$tracer" <<<'uid=0 gid=0')" '^stdin: line 1 is not NAME=VALUE'
like 'decide: who?' "$(decide "$tracer" <<<'job=1')" 'uid and gid are missing'
ok 'decide: without facts' eval "! $build/spoor-helper decide $work/policy.json $tracer </dev/null"
ok 'decide: too much' eval "! head -c 100000 /dev/zero | $build/spoor-helper decide $work/policy.json $tracer"
if [ "$(id -u)" = 0 ]; then
	chmod 666 "$work/policy.json"
	like 'decide: root uses no policy that others can write' "$(decide "$tracer" <<<"$facts")" 'with mode 0666; it is only used if'
	chmod 644 "$work/policy.json" && chown 65534 "$work/policy.json"
	like 'decide: nor one of somebody else' "$(decide "$tracer" <<<"$facts")" 'belongs to user 65534'
	chown 0 "$work/policy.json" && : >"$work/private" && chmod 600 "$work/private"
	like 'decide: looks as the user whether the tracer can be read' "$(decide "$work/private" <<<"uid=65534
gid=65534
trace_option=on")" 'user 65534 cannot read the tracer: Permission denied'
fi
printf '{ "version": 1, "mdoe": 1, "rules": 3 }' >"$work/policy.json"
is 'decide: one line for the log' "$(decide "$tracer" <<<"$facts" | sed "s|$work/||")" \
	'policy.json:1:17: $: unknown key "mdoe"; did you mean "mode"? (and 1 more problems)'
done_testing
