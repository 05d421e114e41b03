#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# library - libspoor says what `spoor dump` says, exports its own names only, and can be used as installed
set -u
. "$(dirname "$0")/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
work=$(mktemp -d "${TMPDIR:-/tmp}/library.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
golden=$top/tests/golden/1.0.spoor
ranks=$("$build/tests/library" "$golden" 0 2>&1 >/dev/null | sed -n 's/^[^ ]* \([0-9]*\) ranks.*/\1/p')
ok 'the number of ranks' test "${ranks:-0}" -gt 0
for ((rank = 0; rank < ${ranks:-0}; rank++)); do
	"$build/spoor" dump "$golden" --rank $rank >"$work/dump" 2>"$work/errors"
	"$build/tests/library" "$golden" $rank >"$work/library" 2>"$work/summary"
	ok "rank $rank: as spoor dump" diff -u "$work/dump" "$work/library"
done
like 'and the rest' "$(cat "$work/summary")" ' events, [A-Za-z_]+, .*, frame [012] .*, metadata \{'
for name in 1.0 1.0-counters 1.0-full; do
	"$build/tests/library" "$top/tests/golden/$name.spoor" >"$work/times" 2>"$work/totals"
	ok "$name: times and counts as tests/reader.py finds them" diff -u "$top/tests/golden/$name.times" "$work/times"
	is "$name: totals of ranks" "$(awk '{ print $1, ($2 == $4 && $2 > 0) }' "$work/totals")" $'compute 1\nelapsed 1\noverhead 1'
done
"$build/spoor" show --json "$top/tests/golden/1.0-counters.spoor" >"$work/show"
"$build/tests/library" "$top/tests/golden/1.0-counters.spoor" 2>&1 >/dev/null | sed -n 's/^overhead.* \([0-9]*\) in all.*/\1/p' >"$work/overhead"
like 'the overhead that spoor show tells' "$(cat "$work/show")" "\"overhead_ns\": $(cat "$work/overhead")"
like 'no such rank' "$("$build/tests/library" "$golden" 999999 2>&1)" '^library: .'
printf 'nothing' >"$work/bad"
like 'no trace' "$("$build/tests/library" "$work/bad" 0 2>&1)" "^library: $work/bad: "
like 'no file' "$("$build/tests/library" "$work/none" 0 2>&1)" "^library: $work/none: "
names=$(nm -D --defined-only "$build"/.libs/libspoor.so.* | awk 'NF == 3 && $2 != "A" {sub("@.*", "", $3); print $3}' | sort -u)
declared=$(grep -oE '\bspoor_[a-z_]+\(' "$top/lib/spoor.h" | tr -d '(' | sort -u)
is 'exports what the header declares, and nothing else' "$names" "$declared"
page=$(sed 's/struct spoor_[a-z]*//' "$top/doc/libspoor.md" | grep -oE '\bspoor_[a-z_]+' | sort -u)
is 'libspoor(3) has each of them' "$page" "$declared"
prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
if [[ $prefix == "$build"/* ]] && [ -e "$prefix/lib/pkgconfig/spoor.pc" ]; then
	sed 's|lib/spoor.h|spoor.h|' "$top/tests/library.c" >"$work/program.c"
	flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs spoor)
	# shellcheck disable=SC2086 # a list of words
	ok 'as installed: pkg-config' cc -Wall -Wextra -Werror -o "$work/program" "$work/program.c" $flags
	is 'as installed: runs' "$(LD_LIBRARY_PATH=$prefix/lib "$work/program" "$golden" 0 2>/dev/null | cksum)" "$("$build/spoor" dump "$golden" --rank 0 | cksum)"
	sed -n '/^    #include/,/^    }/s/^    //p' "$top/doc/libspoor.md" >"$work/example.c"
	# shellcheck disable=SC2086
	ok 'the example of libspoor(3)' cc -Wall -Wextra -Werror -o "$work/example" "$work/example.c" $flags
	like 'says what calls took' "$(LD_LIBRARY_PATH=$prefix/lib "$work/example" "$top/tests/golden/1.0-full.spoor")" 'MPI_Isend: [0-9]+ calls, [0-9]+ ns each'
	printf '#include <spoor.h>\nint main() { return spoor_api() != SPOOR_API; }\n' >"$work/program.cc"
	if command -v c++ >/dev/null; then
		# shellcheck disable=SC2086
		ok 'as installed: C++' eval "c++ -o $work/cc $work/program.cc $flags && LD_LIBRARY_PATH=$prefix/lib $work/cc"
	fi
fi
done_testing
