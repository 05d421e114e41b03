# SPDX-License-Identifier: BSD-3-Clause
# spoor_folders - where spoor's parts are installed, besides bin/spoor
#
#   spoorpkglibdir    lib/spoor       the tracer that jobs preload
#   spoorlibexecdir   libexec/spoor   helpers that the plugin starts
#   slurmplugindir    lib/slurm       the SPANK plugin
#   spoorsysconfdir   etc/spoor       the site's policy
#   spoorpythondir    lib/python3/dist-packages/spoor   the package for Python
#   systemdunitdir    lib/systemd/system, and lib/tmpfiles.d, lib/sysusers.d
AC_DEFUN([SPOOR_FOLDERS], [
	AC_ARG_WITH([slurm-plugindir], [AS_HELP_STRING([--with-slurm-plugindir=DIR],
		[where the SPANK plugin is installed @<:@LIBDIR/slurm@:>@])],
		[slurmplugindir=$withval], [slurmplugindir='${libdir}/slurm'])
	AC_SUBST([slurmplugindir])
	AC_SUBST([spoorpkglibdir], ['${libdir}/spoor'])
	AC_SUBST([spoorlibexecdir], ['${libexecdir}/spoor'])
	AC_SUBST([spoorsysconfdir], ['${sysconfdir}/spoor'])
	AC_ARG_WITH([systemdunitdir], [AS_HELP_STRING([--with-systemdunitdir=DIR],
		[where systemd's units are installed @<:@PREFIX/lib/systemd/system@:>@])],
		[systemdunitdir=$withval], [systemdunitdir='${prefix}/lib/systemd/system'])
	AC_SUBST([systemdunitdir])
	AC_ARG_WITH([pythondir], [AS_HELP_STRING([--with-pythondir=DIR],
		[where packages for Python are installed @<:@PREFIX/lib/python3/dist-packages@:>@])],
		[pythonfolder=$withval], [pythonfolder='${prefix}/lib/python3/dist-packages'])
	AC_SUBST([pythonfolder])
	AC_SUBST([spoorpythondir], ["$pythonfolder/spoor"])
	AC_SUBST([tmpfilesdir], ['${prefix}/lib/tmpfiles.d'])
	AC_SUBST([sysusersdir], ['${prefix}/lib/sysusers.d'])
])
