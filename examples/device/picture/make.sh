#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh BUILD: makes picture.png and live.png, which docs/pictures.md shows, by the
# commands that it shows.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
here=$PWD
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
PATH=$build/cli:$build/daemon:$build/examples/device:$PATH
cp pixels.comp "$temp"
cd "$temp"
printfdecode scan pixels.comp -o pixels.gen.comp --strings pixels.pfdb
glslangValidator -V pixels.gen.comp -o pixels.spv
run_comp pixels.spv 16 16 1 --to dump.bin
printfdecode plot heat --x 0 --y 1 --value 2 --to picture.png dump.bin pixels.pfdb
export PRINTFDECODE_DIR="$PWD"
cat >live.yaml <<END
inputs: [{type: listen, address: "unix:$PWD/input.sock"}]
outputs: [{type: http, address: "tcp:127.0.0.1:9464"}]
END
printfdecoded -c live.yaml &
sleep 1
run_comp pixels.spv 15 15 1 --strings pixels.pfdb
# Root's needs --no-sandbox, in CHROMIUM.
${CHROMIUM:-chromium} --headless --hide-scrollbars --window-size=900,1340 --virtual-time-budget=5000 \
    --screenshot=live.png 'http://localhost:9464/#open=pixel'
kill $!
cp picture.png live.png "$here"
