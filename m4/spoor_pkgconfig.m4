# SPDX-License-Identifier: BSD-3-Clause
# spoor_pkgconfig - pkg-config, by which the libraries are found
AC_DEFUN([SPOOR_PKGCONFIG], [
	AC_REQUIRE([PKG_PROG_PKG_CONFIG])
	AS_IF([test -z "$PKG_CONFIG"], [SPOOR_MISSING([pkg-config], [pkg-config], [pkgconf-pkg-config])])
])
