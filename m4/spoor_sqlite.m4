# SPDX-License-Identifier: BSD-3-Clause
# spoor_sqlite - the index of the archive
AC_DEFUN([SPOOR_SQLITE], [SPOOR_LIBRARY([SQLITE], [sqlite3], [3.8.3], [needed], [libsqlite3-dev], [sqlite-devel])])
