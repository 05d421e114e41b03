# SPDX-License-Identifier: BSD-3-Clause
# spoor_libtool - compiles and links without libtool where there is nothing for it to decide (m4/libtool-quick)
AC_DEFUN([SPOOR_LIBTOOL], [
	AS_IF([test "x$enable_static" = xno && test "x$enable_shared" != xno && test "x$GCC" = xyes && test "x$ac_objext" = xo],
		[LIBTOOL='AR="$(AR)" $(SHELL) $(top_srcdir)/m4/libtool-quick'])
])
