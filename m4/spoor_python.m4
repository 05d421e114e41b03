# SPDX-License-Identifier: BSD-3-Clause
# spoor_python - runs the generators at build time, and the tests; sets PYTHON
AC_DEFUN([SPOOR_PYTHON], [
	AM_PATH_PYTHON([3.9], [spoor_have_python=$PYTHON_VERSION], [
		PYTHON=:
		SPOOR_MISSING([python3 >= 3.9], [python3], [python3 (EL8: python39)])
	])
])
