# SPDX-License-Identifier: BSD-3-Clause
# spoor_zstd - compresses the chunks of archived traces
AC_DEFUN([SPOOR_ZSTD], [SPOOR_LIBRARY([ZSTD], [libzstd], [1.3.8], [needed], [libzstd-dev], [libzstd-devel])])
