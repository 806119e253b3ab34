#!/bin/sh
# SPDX-License-Identifier: MIT
# Fails where an #include points up: each file may include its own floor and
# those below it (the map is in README.md). Also that each library package is
# included by the few files that own it, that formats never include each other,
# and that programs see only the public headers.
# usage: layers.sh [SOURCE_FOLDER]
set -eu
cd "${1:-$(dirname "$0")/..}"

floor_of() {
    case $1 in
    error | cursor | arena | text | escape | bits | tally | shown | md5 | crc32c | inflate) echo 0 ;;
    uri | number* | pattern | ranges) echo 0 ;;
    program*) echo 1 ;;
    strings | image | archive | bundle | offload | cache | container | object) echo 2 ;;
    hsa | metadata* | spirv* | khronos* | shaders | json_parts | json_exact) echo 2 ;;
    wire* | columns) echo 2 ;;
    format | record | chain | rocm | nulls | window) echo 3 ;;
    choice | decoder | entry | loader | shader_loader | objects | input) echo 4 ;;
    where* | filter) echo 4 ;;
    convert* | sink* | lines | capture* | client | service | recover | tail*) echo 5 ;;
    *) echo 9 ;; # a new file has no floor yet
    esac
}

failed=0
wrong() {
    echo "$*"
    failed=1
}

includes() {
    sed -n 's/^#include \([<"][^>"]*\)[>"].*/\1/p' "$1"
}

# An interface header of ours is not above anything but itself.
for file in src/*.[ch]; do
    floor=$(floor_of "$(basename "$file" | sed 's/\.[ch]$//')")
    if [ "$floor" = 9 ]; then
        wrong "$file: on which floor does it live? See $0"
        continue
    fi
    for include in $(includes "$file"); do
        case $include in
        '"'*)
            other=$(floor_of "$(basename "${include#?}" .h)")
            [ "$other" -le "$floor" ] ||
                wrong "$file (floor $floor) includes ${include#?} ($other)"
            ;;
        esac
    done
done

# Formats see their own headers and floors 0 to 3; they neither allocate nor
# print.
for file in formats/*/*.[ch]; do
    dir=$(dirname "$file")
    for include in $(includes "$file"); do
        case $include in
        '"'*)
            header=${include#?}
            [ -f "$dir/$header" ] && continue
            [ -f "src/$header" ] || wrong "$file includes $header"
            other=$(floor_of "$(basename "$header" .h)")
            [ "$other" -le 3 ] ||
                wrong "$file (floor 3) includes $header (floor $other)"
            ;;
        '<stdio.h' | '<uv.h') wrong "$file includes ${include#?}" ;;
        esac
    done
    if grep -nE '\b(malloc|calloc|realloc|strdup|f?printf|fputs|fwrite)\(' \
        "$file"; then
        wrong "$file: a format allocates nothing and prints nothing"
    fi
done

# Programs see the public headers and their own.
for file in cli/*.[ch] examples/*.c; do
    [ -f "$file" ] || continue
    for include in $(includes "$file"); do
        case $include in
        '"'*)
            [ -f "$(dirname "$file")/${include#?}" ] ||
                wrong "$file includes ${include#?}"
            ;;
        '<printfdecode/'*)
            [ -f "include/${include#?}" ] || wrong "$file includes ${include#?}"
            ;;
        esac
    done
done

# owner PATTERN FILE...: the only files that include it.
owner() {
    pattern=$1
    shift
    for file in src/*.[ch] formats/*/*.[ch] cli/*.[ch] include/*/*.h; do
        includes "$file" | grep -qE "^<($pattern)" || continue
        case " $* " in
        *" $file "*) ;;
        *) wrong "$file includes $pattern, which belongs to $*" ;;
        esac
    done
}
owner 'libelf|gelf|elf\.h' src/image.c
owner 'msgpack' src/metadata.c
owner 'yaml' src/metadata_yaml.c
owner 'pcre2' src/pattern.c
owner 'zlib|zstd' src/inflate.c
owner 'uv\.h'
owner 'jansson' cli/shaders.c
owner 'check\.h'
owner 'openssl' cli/tls.c
owner 'pthread' src/convert_pool.h src/crc32c.c

exit $failed
