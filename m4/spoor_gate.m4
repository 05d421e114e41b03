# SPDX-License-Identifier: BSD-3-Clause
# spoor_gate.m4 - what the dynamic loader may put for $PLATFORM, and whether an empty 32-bit library can be made
#
# glibc has AT_PLATFORM of the kernel, or the name of a generation of CPUs.
AC_DEFUN([SPOOR_GATE], [
	GATE_PLATFORMS= GATE_PLATFORMS32= COMPAT32_CFLAGS=
	AS_CASE([$host_cpu],
		[x86_64], [GATE_PLATFORMS='x86_64 haswell xeon_phi' GATE_PLATFORMS32='i386 i486 i586 i686' COMPAT32_CFLAGS=-m32],
		[aarch64], [GATE_PLATFORMS=aarch64],
		[powerpc64le], [GATE_PLATFORMS='power8 power9 power10 power11'],
		[riscv64 | loongarch64 | s390x], [GATE_PLATFORMS=])
	spoor_compat32=no
	AS_IF([test -n "$COMPAT32_CFLAGS"], [
		AC_MSG_CHECKING([whether $CC makes 32-bit libraries])
		echo 'char nothing;' >conftest.c
		AS_IF([$CC $COMPAT32_CFLAGS -fPIC -shared -nostdlib -o conftest.so conftest.c >&AS_MESSAGE_LOG_FD 2>&1], [spoor_compat32=yes])
		rm -f conftest.c conftest.so
		AC_MSG_RESULT([$spoor_compat32])
	])
	AM_CONDITIONAL([COMPAT32], [test $spoor_compat32 = yes])
	AC_SUBST([GATE_PLATFORMS])
	AC_SUBST([GATE_PLATFORMS32])
	AC_SUBST([COMPAT32_CFLAGS])
	dnl Without a folder for what the loader puts, $PLATFORM would be in the way.
	AS_IF([test -n "$GATE_PLATFORMS"], [spoor_gate_folder='/$PLATFORM'], [spoor_gate_folder=])
	AC_DEFINE_UNQUOTED([SPOOR_GATE_FOLDER], ["$spoor_gate_folder"], [below pkglibdir, in LD_PRELOAD])
])
