# SPDX-License-Identifier: BSD-3-Clause
# spoor_nettle - keyed hashes, for pseudonyms: a small library without dependencies of its own
AC_DEFUN([SPOOR_NETTLE], [SPOOR_LIBRARY([NETTLE], [nettle], [3.3], [needed], [nettle-dev], [nettle-devel])])
