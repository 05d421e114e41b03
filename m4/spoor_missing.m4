# SPDX-License-Identifier: BSD-3-Clause
# spoor_missing - collects what is needed and was not found, so that configure names all of it in one error

# SPOOR_MISSING(WHAT, DEBIAN-PACKAGES, RPM-PACKAGES [, HINT])
AC_DEFUN([SPOOR_MISSING], [
	spoor_missing="$spoor_missing
  $1
      Debian: apt install $2
      RPM:    dnf install $3[]m4_ifval([$4], [
      $4])"
])

# Fails when anything was missing.
AC_DEFUN([SPOOR_MISSING_REPORT], [
	AS_IF([test -n "$spoor_missing"], [AC_MSG_ERROR([spoor needs what this machine does not have:
$spoor_missing

On Debian 12, tests/deps installs everything.])])
])
