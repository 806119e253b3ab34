# bash completion for printfdecode(1)                     -*- shell-script -*-

# Options of a verb, long forms, as its --help has them; those that take a value
# end in =.
_printfdecode_options()
{
    printfdecode "$1" --help 2>/dev/null |
        sed -nE 's/^ +(-., )?--([a-z-]+)( [A-Z][A-Z=]*)? .*/\2\3/p' |
        sed -E 's/^/--/; s/ .*/=/'
}

_printfdecode_verbs()
{
    printfdecode --help 2>/dev/null |
        sed -nE '/^Verbs:/,/^$/s/^  ([a-z-]+) .*/\1/p'
}

# The long name of a short option that takes a value.
_printfdecode_long()
{
    case $1 in
    -o) echo --output ;;
    -m) echo --match ;;
    -n) echo --limit ;;
    -j) echo --threads ;;
    *) echo "$1" ;;
    esac
}

# Of words with commas between, the last one: option $1, so far $2.
_printfdecode_list()
{
    local words='time source line lane id findings unknown all' so_far=''
    [[ $1 == --agg ]] &&
        words='count min max mean std p50 p99 nan first last'
    [[ $2 == *,* ]] && so_far=${2%,*},
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${2##*,}")
    COMPREPLY=("${COMPREPLY[@]/#/$so_far}")
}

# What stands without an option: words of some verbs, files of all others. $1:
# the verb, $2: the word, $3: its number.
_printfdecode_operands()
{
    case $1 in
    formats)
        return ;;
    plot)
        if [[ $3 -eq 2 ]]; then
            mapfile -t COMPREPLY < <(compgen -W 'heat hist scatter line' -- "$2")
            return
        fi ;;
    run)
        [[ $2 != */* ]] &&
            mapfile -t COMPREPLY < <(compgen -c -- "$2" | sort -u) ;;
    esac
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
}

# Fills COMPREPLY with the values of option $1 of verb $2 that begin with $3.
_printfdecode_values()
{
    local words=''
    compopt +o nospace 2>/dev/null
    case $1 in
    --output)
        if [[ $2 == capture || $2 == scan ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$3")
            return
        fi
        words='text json'
        [[ $2 == table ]] && words='text csv tsv json npy arrow sqlite'
        [[ $2 == plot ]] && words='png svg blocks braille sixel kitty'
        [[ $2 == decode || $2 == follow || $2 == replay || $2 == run ]] &&
            words+=' raw perfetto quickfix github junit sarif tap' ;;
    --show | --agg)
        _printfdecode_list "$1" "$3"
        return ;;
    --color | --progress | --links | --fields)
        words='auto always never' ;;
    --format)
        words=$(printfdecode formats 2>/dev/null | awk '{ print $1 }') ;;
    --reduce)
        words='last first count sum min max mean nan' ;;
    --scale)
        words='linear log equal' ;;
    --map)
        words='tide ember grey balance' ;;
    --language)
        words='glsl opencl' ;;
    --call)
        words='printf debugPrintfEXT' ;;
    -I | --include)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$3")
        return ;;
    --to)
        compopt -o filenames 2>/dev/null
        if [[ $2 == table || $2 == plot || $2 == run ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$3")
            return
        fi
        mapfile -t COMPREPLY < <(compgen -d -- "$3")
        return ;;
    --report | --strings | --strings-a | --strings-b | --buffer | --core | --tls-ca | --tls-certificate | --tls-key)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$3")
        return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$3")
}

_printfdecode()
{
    local verbs
    verbs=$(_printfdecode_verbs | tr '\n' ' ')
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=decode first=${COMP_WORDS[1]-} long options
    COMPREPLY=()
    [[ $COMP_CWORD -gt 1 && " $verbs " == *" $first "* ]] && verb=$first
    if [[ $first == help && $COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
        return
    fi
    options=$(_printfdecode_options "$verb" | tr '\n' ' ')

    # `--output=json` comes as three words where = breaks words.
    if [[ $word == = ]]; then
        word='' long=$before
    elif [[ $before == = ]]; then
        long=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $word == --*=* ]]; then
        long=${word%%=*}
        _printfdecode_values "$long" "$verb" "${word#*=}"
        COMPREPLY=("${COMPREPLY[@]/#/$long=}")
        return
    else
        long=$(_printfdecode_long "$before")
    fi
    if [[ " $options " == *[[:space:]]"$long="[[:space:]]* ]]; then
        _printfdecode_values "$long" "$verb" "$word"
        return
    fi

    if [[ $word == -* ]]; then
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        # A space after what takes no value.
        local i
        for i in "${!COMPREPLY[@]}"; do
            [[ ${COMPREPLY[i]} == *= ]] || COMPREPLY[i]+=' '
        done
        return
    fi
    _printfdecode_operands "$verb" "$word" "$COMP_CWORD"
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
            < <(compgen -W "$verbs help" -- "$word")
    fi
} &&
    complete -F _printfdecode printfdecode
