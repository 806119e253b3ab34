# fish completion for printfdecode(1): its --help has all words.

# Verbs, a line each: word, tab, description.
function __printfdecode_verbs
    printfdecode --help 2>/dev/null |
        string replace -rf '^  ([a-z][a-z-]+) +(.*)$' '$1'\t'$2'
end

# The verb of the line so far, or nothing.
function __printfdecode_verb
    set -l words (commandline -opc)
    contains -- "$words[2]" (__printfdecode_verbs | string replace -r '\t.*' '')
    and echo $words[2]
end

function __printfdecode_options
    printfdecode (__printfdecode_verb) --help 2>/dev/null |
        string replace -rf '^ +(?:-., )?(--[a-z-]+)(?: [A-Z][A-Z=]*)? +(.*)$' '$1'\t'$2'
end

complete -c printfdecode -n __fish_is_first_arg -a '(__printfdecode_verbs)'
complete -c printfdecode -n 'string match -q -- "-*" (commandline -ct)' \
    -a '(__printfdecode_options)'
