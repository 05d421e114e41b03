# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# tap - prints TAP for tests in bash; to be sourced
#
#     . "$(dirname "$0")/tap.sh"
#     ok 'the file is there' test -e file
#     is 'adds' "$((1 + 1))" 2
#     done_testing

tap_count=0
tap_failed=0

# Takes lines from stdin as diagnostics of the point before.
diag() {
	sed 's/^/# /'
}

pass() {
	echo "ok $((++tap_count)) - $1"
}

# fail TITLE; returns false, for `fail ... || diag`.
fail() {
	echo "not ok $((++tap_count)) - $1"
	tap_failed=$((tap_failed + 1))
	return 1
}

# ok TITLE COMMAND...: the command succeeds. What it printed is shown if not.
ok() {
	local title=$1 output
	shift
	if output=$("$@" 2>&1); then
		pass "$title"
	else
		fail "$title" || diag <<<"${output:-$* failed}"
	fi
}

# is TITLE GOT EXPECTED: two texts are equal.
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" || diff --label expected --label got -u <(printf '%s\n' "$3") <(printf '%s\n' "$2") | diag
	fi
}

# like TITLE TEXT PATTERN: the pattern (extended regular expression) matches in the text.
like() {
	if [[ $2 =~ $3 ]]; then
		pass "$1"
	else
		fail "$1" || printf '%s\nhas no match for %s\n' "$2" "$3" | diag
	fi
}

bail_out() {
	echo "Bail out! $1"
	exit 1
}

done_testing() {
	echo "1..$tap_count"
	exit $((tap_failed > 0))
}
