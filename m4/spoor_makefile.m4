# SPDX-License-Identifier: BSD-3-Clause
# spoor_makefile - the Makefile, and the empty files of dependencies that it includes
#
# Automake has make write each of these 800 files, by four processes: longer than all of configure's tests. Those that
# are there already, it leaves alone.
AC_DEFUN([SPOOR_MAKEFILE], [
	AC_CONFIG_FILES([Makefile], [
		$AWK '/^am__depfiles_remade =/ { there = 1 }
			there { for (i = 1; i <= NF; i++) if (sub(/\$\(DEPDIR\)/, ".deps", $i)) print $i }
			there && !/\\$/ { exit }' Makefile >conftest.deps
		sed 's,/\.deps/.*,/.deps,' conftest.deps | sort -u | xargs mkdir -p
		while read dependencies; do
			test -f "$dependencies" || echo '# dummy' >"$dependencies"
		done <conftest.deps
		rm -f conftest.deps
	], [AWK='$AWK'])
])
