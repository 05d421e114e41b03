# SPDX-License-Identifier: BSD-3-Clause
# spoor_otf2 - the Open Trace Format, for `spoor export --otf2`; used where it is there, unless --without-otf2
AC_DEFUN([SPOOR_OTF2], [
	AC_ARG_WITH([otf2], [AS_HELP_STRING([--without-otf2], [build without spoor export --otf2])], [], [with_otf2=check])
	spoor_have_OTF2="not used (--without-otf2)"
	AS_IF([test "x$with_otf2" != xno], [PKG_CHECK_MODULES([OTF2], [otf2 >= 3.0], [spoor_have_OTF2=`$PKG_CONFIG --modversion otf2`], [
		spoor_have_OTF2="not found (Debian: libotf2-trace-dev, RPM: otf2-devel)"
		AS_IF([test "x$with_otf2" = xyes], [SPOOR_MISSING([otf2 >= 3.0 (--with-otf2)], [libotf2-trace-dev], [otf2-devel])])
	])])
	AM_CONDITIONAL([HAVE_OTF2], [case $spoor_have_OTF2 in not*) false ;; *) true ;; esac])
])
