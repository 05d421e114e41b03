# SPDX-License-Identifier: BSD-3-Clause
# spoor_libdw - function names and source lines of call paths, for people: libdw, and libstdc++ for names of C++
AC_DEFUN([SPOOR_LIBDW], [
	SPOOR_LIBRARY([LIBDW], [libdw], [0.170], [needed], [libdw-dev], [elfutils-devel])
	AC_CHECK_LIB([stdc++], [__cxa_demangle], [LIBDW_LIBS="$LIBDW_LIBS -lstdc++"],
		[SPOOR_MISSING([libstdc++], [g++], [gcc-c++])])
])
