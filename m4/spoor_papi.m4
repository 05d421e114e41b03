# SPDX-License-Identifier: BSD-3-Clause
# spoor_papi - hardware counters
AC_DEFUN([SPOOR_PAPI], [SPOOR_LIBRARY([PAPI], [papi], [5.5], [optional], [libpapi-dev], [papi-devel])])
