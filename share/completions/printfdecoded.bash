# bash completion for printfdecoded(8)                    -*- shell-script -*-

_printfdecoded()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local words=''
    COMPREPLY=()
    if [[ $word == -* ]]; then
        words=$(printfdecoded --help 2>/dev/null |
            sed -nE 's/^ +(-., )?(--[a-z-]+) .*/\2/p')
    elif [[ $before == -c || $before == --config ||
        ($COMP_CWORD -eq 2 && $before != -*) ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $COMP_CWORD -eq 1 ]]; then
        words=$(printfdecoded --help 2>/dev/null |
            sed -nE 's/^ +printfdecoded ([a-z-]+) FILE$/\1/p')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
} &&
    complete -F _printfdecoded printfdecoded
