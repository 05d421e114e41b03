#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# autogen.sh - makes ./configure from configure.ac; run it in a fresh clone and after changes in m4/
set -eu
cd "$(dirname "$0")"

for tool in autoreconf automake libtoolize pkg-config; do
	if ! command -v "$tool" >/dev/null; then
		echo "autogen.sh: $tool is missing; install the packages autoconf automake libtool pkg-config" \
			"(RPM: autoconf automake libtool pkgconf-pkg-config)" >&2
		exit 1
	fi
done
autoreconf --install --force --warnings=all,no-portability

# Only now and then the first C source of a tree needs depcomp: have it before a rebuild (without --add-missing) asks for it.
[ -e build-aux/depcomp ] || cp "$(automake --print-libdir)/depcomp" build-aux/
