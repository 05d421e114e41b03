# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# spoor - completion for bash: commands, their options, and what these take. All is asked of the installed spoor:
# `spoor COMMAND --list-options` prints a line "--NAME -LETTER ARGUMENT WORD..." for each option of its table.

_spoor() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} spoor=${COMP_WORDS[0]} command=${COMP_WORDS[1]-}
	local long letter argument words names='' choices='' kind=''
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		choices="--help --version $("$spoor" --help 2>/dev/null | sed -n 's/^  \([a-z-]*\)  *[^ ].*/\1/p')"
	else
		while read -r long letter argument words; do
			names+=" $long"
			[ "$letter" = - ] || names+=" $letter"
			if [ "$previous" = "$long" ] || [ "$previous" = "$letter" ]; then
				kind=$argument choices=$words
			fi
		done < <("$spoor" "$command" --list-options 2>/dev/null)
		if [ -z "$choices" ] && [[ $word == -* ]]; then
			choices=$names
		elif [ -z "$choices" ] && [ "$command" = policy ] && [ "$COMP_CWORD" = 2 ]; then
			choices='check explain'
		fi
	fi
	if [ -n "$choices" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
	elif [ "$kind" = USER ]; then
		mapfile -t COMPREPLY < <(compgen -u -- "$word")
	elif [[ $kind == *DIR* ]]; then
		compopt -o dirnames 2>/dev/null
	else
		compopt -o default 2>/dev/null # files
	fi
}
complete -F _spoor spoor
