# SPDX-License-Identifier: BSD-3-Clause
# spoor_jansson - the JSON of policies and metadata
AC_DEFUN([SPOOR_JANSSON], [SPOOR_LIBRARY([JANSSON], [jansson], [2.9], [needed], [libjansson-dev], [jansson-devel])])
