#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run - the test runner itself: counts what fails, ends what hangs, leaves nothing behind
set -u
. "$(dirname "$0")/tap.sh"
run=$(cd "$(dirname "$0")" && pwd)/run
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# case_of NAME: makes a test of the script on stdin.
case_of() {
	{ echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"
}

# runs TITLE EXPECTED-STATUS EXPECTED-LAST-LINE TESTS...
runs() {
	local title=$1 status=$2 last=$3
	shift 3
	output=$("$run" --build . --limit 2 "$@" 2>&1)
	is "$title" "$? $(tail -n 1 <<<"$output")" "$status $last"
}

# Not kill -0: a zombie that init has not reaped yet is ended.
ended() {
	! readlink "/proc/$1/exe"
}

case_of good <<<'echo 1..2; echo ok 1 - one; echo ok'
case_of bad <<<'echo 1..2; echo ok; echo not ok 2 - two; echo "# because"; exit 1'
case_of skips <<<'echo 1..2; echo ok; echo "ok 2 - x # SKIP not today"'
case_of skips_all <<<'echo "1..0 # SKIP not here"'
case_of todo <<<'echo 1..1; echo "not ok 1 - later # TODO write it"'
case_of status <<<'echo 1..1; echo ok; exit 7'
case_of short <<<'echo 1..3; echo ok'
case_of planless <<<'echo ok'
case_of crash <<<'echo 1..1; echo ok; kill -SEGV $$'
case_of hangs <<<'echo 1..1; echo ok; echo $$ >pid; sleep 60'
case_of leaves <<<'echo 1..1; echo ok; sleep 60 & echo $! >pid'
case_of bails <<<'echo "Bail out! no more"; exit 1'
case_of environment <<<'echo 1..1; test -d "$SPOOR_SOURCE/tests" && test -d "$TMPDIR" && touch "$TMPDIR/x" && echo "$TMPDIR" >tmpdir && echo ok'

runs 'passes' 0 '2 passed, 0 failed' good
runs 'a failure' 1 '3 passed, 1 failed' good bad
like 'a failure is told with its diagnostics' "$output" 'Failed:.*bad: two.*# because'
runs 'a skipped point' 0 '1 passed, 0 failed, 1 skipped' skips
runs 'a skipped file' 0 '2 passed, 0 failed, 1 skipped' good skips_all
runs 'nothing passed' 1 '0 passed, 0 failed, 1 skipped' skips_all
runs 'a point to do' 0 '1 passed, 0 failed' todo
runs 'exit status without a failed point' 1 '1 passed, 1 failed' status
runs 'fewer points than planned' 1 '1 passed, 1 failed' short
runs 'no plan' 1 '1 passed, 1 failed' planless
runs 'a crash' 1 '1 passed, 1 failed' crash
runs 'no such file' 1 '0 passed, 1 failed' nothing
runs 'bails out' 1 '0 passed, 2 failed' bails
runs 'environment' 0 '1 passed, 0 failed' environment
ok 'the temporary folder is gone' test ! -e "$(cat tmpdir)"
# Each waits for the other.
case_of left <<<'echo 1..1; touch left.is; until [ -e right.is ]; do sleep 0.1; done; echo ok'
case_of right <<<'echo 1..2; touch right.is; until [ -e left.is ]; do sleep 0.1; done; echo ok; echo ok'
runs 'two rows side by side' 0 '5 passed, 0 failed' left good --beside right
rm -f left.is right.is
runs 'the second row, at its end, takes tests of the first' 0 '5 passed, 0 failed' left right --beside good
# Whichever is the second lets both end: mkdir decides, for both may look at the same moment.
case_of either <<<'echo 1..1; mkdir one.is || touch two.is; until [ -e two.is ]; do sleep 0.1; done; echo ok'
runs 'two rows of the same tests' 0 '4 passed, 0 failed' --rows 2 either good either
case_of later <<<'echo 1..2; echo ok; [ -e been ] && echo ok && exit; touch been; echo "not ok 2 - two"; exit 1'
runs 'a failure that is none at the second time' 0 '4 passed, 0 failed' --again 1 later good
like 'it is told' "$output" 'Passed at a later time, alone:.*later: two.*1 points retried'
case_of latest <<<'echo 1..1; [ -e been2 ] && echo ok && exit; [ -e been ] && touch been2; touch been; echo "not ok - one"; exit 1'
rm -f been
runs 'a failure that is none at the third time' 0 '3 passed, 0 failed' --again 1 latest good
like 'it is told, too' "$output" 'Passed at a later time, alone:.*latest: one.*1 points retried'
runs 'a failure that stays' 1 '3 passed, 1 failed' --again 1 good bad
rm -f been been2
# Traces: the one that is given its name when it is whole; not one that is written under it.
cat >spoor <<'END'
#!/bin/sh
shift
for trace; do ! grep -q bad "$trace" || { echo "spoor: $trace: is bad" >&2; status=1; }; done
exit ${status-0}
END
chmod +x spoor
case_of makes <<'END'
echo 1..1; mkdir "$TMPDIR/a"
for t in good good fine; do echo $t >"$TMPDIR/a/.x.tmp"; mv "$TMPDIR/a/.x.tmp" "$TMPDIR/a/x.spoor"; sleep 0.3; done
echo bad >"$TMPDIR/a/y.spoor"; rm -r "$TMPDIR/a"; echo ok
END
case_of makes_bad <<'END'
echo 1..1; mkdir "$TMPDIR/a"; echo bad >"$TMPDIR/a/.x.tmp"
ln "$TMPDIR/a/.x.tmp" "$TMPDIR/a/x.spoor"; sleep 1; rm -r "$TMPDIR/a"; echo ok
END
runs 'traces' 0 '1 passed, 0 failed' --traces 2 makes
like 'are checked, each content once' "$output" '3 traces were made; the 2 that differ were checked'
runs 'a bad one' 1 '1 passed, 1 failed' makes_bad
like 'is named, and kept' "$output" "trace .*/a/x.spoor is kept in .*/1.spoor.*is bad"
rm -r "$(grep -o '/[^ ]*/spoor-traces[^/]*' <<<"$output" | head -n 1)"
runs 'too few' 1 '1 passed, 1 failed' --traces 3 makes
runs 'more failures than are run again' 1 '2 passed, 2 failed' --again 1 later bad
runs 'a failure in the second' 1 '3 passed, 1 failed' good --beside bad
runs 'a test that hangs' 1 '1 passed, 1 failed' hangs
ok 'is ended' ended "$(cat pid)"
runs 'a test that leaves a process' 0 '1 passed, 0 failed' leaves
ok 'which is ended' ended "$(cat pid)"

for signal in INT TERM; do
	rm -f pid
	# A shell gives its background jobs SIGINT ignored; a terminal does not.
	"$run" --build . hangs good >output 2>&1 &
	until [ -s pid ]; do sleep 0.1; done
	kill -$signal $!
	wait $!
	is "SIG$signal ends it" "$? $(tail -n 1 output)" '130 1 passed, 0 failed'
	ok "SIG$signal ends the test" ended "$(cat pid)"
done
done_testing
