# SPDX-License-Identifier: BSD-3-Clause
# spoor_warnings - the language (C11 with GNU builtins) and the warnings; --enable-werror, --enable-asserts
AC_DEFUN([SPOOR_WARNINGS], [
	AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])], [],
		[enable_werror=no])
	WARNING_CFLAGS="-std=gnu11 -Wall -Wextra"
	AS_IF([test "x$enable_werror" = xyes], [WARNING_CFLAGS="$WARNING_CFLAGS -Werror"])
	# What gcc takes and clang does not: memset by name in the gate, a structure with an array at its end in another one.
	NO_LOOP_PATTERNS=-fno-tree-loop-distribute-patterns
	# Compilers for arm64 call libgcc for an exchange, unless told not to. The gate has no libgcc, and for the tracer that
	# function needs a name that only libc itself may use.
	NO_HELPERS=
	AS_CASE([`$CC -dumpmachine 2>/dev/null`], [aarch64*], [NO_HELPERS=-mno-outline-atomics])
	# A wrapper's arguments on the stack have their place once, rather than be pushed.
	OUTGOING_ARGS=
	AS_CASE([`$CC -dumpmachine 2>/dev/null`], [x86_64*], [OUTGOING_ARGS=-maccumulate-outgoing-args])
	AS_IF([$CC --version 2>/dev/null | grep -q clang], [
		NO_LOOP_PATTERNS= OUTGOING_ARGS=
		WARNING_CFLAGS="$WARNING_CFLAGS -Wno-gnu-variable-sized-type-not-at-end -Wno-unknown-attributes"
	])
	AC_SUBST([NO_LOOP_PATTERNS])
	AC_SUBST([NO_HELPERS])
	AC_SUBST([OUTGOING_ARGS])
	AC_SUBST([WARNING_CFLAGS])
	AC_ARG_ENABLE([asserts],
		[AS_HELP_STRING([--enable-asserts], [check invariants: to test spoor, never to install it])], [],
		[enable_asserts=no])
	AS_IF([test "x$enable_asserts" != xyes],
		[AC_DEFINE([NDEBUG], [1], [A violated invariant must not end a user's process.])])
])
