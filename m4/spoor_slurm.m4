# SPDX-License-Identifier: BSD-3-Clause
# spoor_slurm - Slurm's headers, for the SPANK plugin; sets SLURM_CPPFLAGS
#
# Only headers: the plugin's symbols of Slurm come from the process that loads it (srun, sbatch, slurmstepd).
AC_DEFUN([SPOOR_SLURM], [
	AC_ARG_WITH([slurm], [AS_HELP_STRING([--with-slurm=DIR],
		[Slurm is installed in DIR (DIR/include/slurm/spank.h)])], [], [with_slurm=])
	SLURM_CPPFLAGS=
	AS_CASE([$with_slurm],
		[no], [AC_MSG_ERROR([--without-slurm: the SPANK plugin cannot be built without Slurm's headers])],
		[''|yes], [],
		[SLURM_CPPFLAGS="-I$with_slurm/include"])

	spoor_saved_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
	AC_CHECK_HEADER([slurm/spank.h], [
		AC_COMPUTE_INT([spoor_slurm_number], [SLURM_VERSION_NUMBER], [[#include <slurm/slurm.h>]],
			[spoor_slurm_number=0])
		spoor_have_slurm=`printf %d.%02d.%d @S|@((spoor_slurm_number >> 16)) \
			@S|@((spoor_slurm_number >> 8 & 255)) @S|@((spoor_slurm_number & 255))`
	], [
		SPOOR_MISSING([Slurm's headers (slurm/spank.h)], [libslurm-dev slurm-wlm-basic-plugins-dev],
			[slurm-devel], [or configure --with-slurm=DIR])
	])
	CPPFLAGS=$spoor_saved_CPPFLAGS
	AC_SUBST([SLURM_CPPFLAGS])
])
