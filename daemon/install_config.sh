#!/bin/sh
# install_config.sh FILE FOLDER: run by meson install. A configuration that is
# there is left alone.
set -eu
to=${DESTDIR:-}$2/$(basename "$1")
if [ -e "$to" ]; then
    echo "$to is there already: left as it is"
else
    mkdir -p "$(dirname "$to")"
    cp "$1" "$to"
    chmod 644 "$to"
fi
