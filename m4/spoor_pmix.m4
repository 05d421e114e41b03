# SPDX-License-Identifier: BSD-3-Clause
# spoor_pmix - how a step's ranks find each other
AC_DEFUN([SPOOR_PMIX], [SPOOR_LIBRARY([PMIX], [pmix], [2.0], [optional], [libpmix-dev], [pmix-devel])])
