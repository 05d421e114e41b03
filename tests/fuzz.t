#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fuzz - what a fuzzer found for the parsers of whatever comes from outside, and for the commands that read traces, read again with ASan and UBSan
set -u
. "$(dirname "$0")/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
export CC=cc ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=256 UBSAN_OPTIONS=print_stacktrace=1
for name in handoff facts policy arena trace digest index commands; do
	corpus=$top/tests/fuzz/corpus/$name
	case $name in digest | commands) corpus=$top/tests/fuzz/corpus/trace ;; esac
	count=$(find "$corpus" -type f | wc -l)
	ok "$name: has a corpus" test "$count" -gt 0
	if ok "$name: the harness is built" "$top/tests/fuzz/build" replay "$build" $name; then
		ok "$name: $count inputs" timeout 200 "$build/fuzz/replay-$name" "$corpus"
	fi
done
done_testing
