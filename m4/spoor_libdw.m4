# SPDX-License-Identifier: BSD-3-Clause
# spoor_libdw - function names and source lines of call paths, for people
AC_DEFUN([SPOOR_LIBDW], [SPOOR_LIBRARY([LIBDW], [libdw], [0.170], [needed], [libdw-dev], [elfutils-devel])])
