# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# spoor - completion for bash: commands, their options (asked of --help, so that they are those of the version that is installed), files and jobs

_spoor() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} spoor=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} choices=
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		choices="--help --version $("$spoor" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *[^ ].*/\1/p')"
	else
		case $previous in
		--state | -s) [ "$command" = list ] || [ "$command" = aggregate ] && choices='COMPLETED FAILED KILLED' ;;
		--by) choices='user account partition executable job node month function site' ;;
		--sort)
			choices='start job user ranks nodes size elapsed exe'
			[ "$command" = aggregate ] && choices='key traces jobs hours mpi mpi-hours wait idle parallel balance communication messages bytes size
				small small-share overhead overhead-share partial degraded events calls time share imbalance passed'
			;;
		--mode | -m) choices='off lossless lossy lossy:' ;;
		--compute) choices='sleep spin none' ;;
		--archive | --spool | --scratch | --otf2 | --simgrid)
			compopt -o dirnames 2>/dev/null
			return
			;;
		--user | -u)
			mapfile -t COMPREPLY < <(compgen -u -- "$word")
			return
			;;
		esac
		if [ -z "$choices" ] && [[ $word == -* ]]; then
			choices=$("$spoor" "$command" --help 2>/dev/null | grep -oE '(^|[ ,[|])(-[a-zA-Z]|--[a-z][a-z-]*)' | grep -oE -- '-.*' | sort -u)
		elif [ -z "$choices" ] && [ "$command" = policy ] && [ "$COMP_CWORD" = 2 ]; then
			choices='check explain'
		fi
	fi
	if [ -n "$choices" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
	else
		compopt -o default 2>/dev/null # files
	fi
}
complete -F _spoor spoor
