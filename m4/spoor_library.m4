# SPDX-License-Identifier: BSD-3-Clause
# spoor_library - finds a library by its pkg-config file

# SPOOR_LIBRARY(PREFIX, MODULE, MINIMUM-VERSION, needed|optional, DEBIAN-PACKAGE, RPM-PACKAGE)
#
# Sets and substitutes PREFIX_CFLAGS and PREFIX_LIBS, defines HAVE_PREFIX in config.h and as automake conditional, and
# sets spoor_have_PREFIX to the version, or to "not found (PACKAGES)" for the summary.
AC_DEFUN([SPOOR_LIBRARY], [
	PKG_CHECK_MODULES([$1], [$2 >= $3], [
		spoor_have_$1=`$PKG_CONFIG --modversion $2`
		AC_DEFINE([HAVE_$1], [1], [Define to 1 if $2 was found.])
	], [
		spoor_have_$1="not found (Debian: $5, RPM: $6)"
		m4_if([$4], [needed], [SPOOR_MISSING([$2 >= $3], [$5], [$6])])
	])
	AM_CONDITIONAL([HAVE_$1], [case $spoor_have_$1 in not*) false ;; *) true ;; esac])
])
