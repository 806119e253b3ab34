#!/bin/sh
# soak.sh BUILD [SECONDS]: the soak of soak.py with a built tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/soak.py" "$1/daemon/printfdecoded" \
    "$here/../../cases/llpc/vk_midflight/buffer.bin" \
    "$here/../../../examples/data/app.elf" "${2:-120}"
