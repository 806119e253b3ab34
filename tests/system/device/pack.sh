#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts what measure.sh needs into a folder: programs, the library, what these
# need of the system's libraries, headers and sources.
# usage: pack.sh BUILD FOLDER [PACKAGES]
# For the step vulkan, PACKAGES is a folder with libvulkan1, libstdc++6 and
# vulkan-validationlayers of Debian 13 (.deb; they want glibc 2.38); without it
# this system's are packed. In Debian 12, `apt-get download` gives them with
# -oDir::Etc::SourceList=FILE, where FILE names trixie, and with
# -oDir::State::Lists=FOLDER, after an `apt-get update` with the same.
set -eu
source=$(cd "$(dirname "$0")/../../.." && pwd)
build=$1
mkdir -p "$2/bin" "$2/lib"
cp "$build/cli/printfdecode" "$build/daemon/printfdecoded" "$2/bin/"
cp -L "$build/src/libprintfdecode.so.0" "$2/lib/"
cp -L "$build/src/libprintfdecode.so.0" "$2/lib/libprintfdecode.so"
if [ -e "$build/tests/system/device/vulkan_load" ]; then
    cp "$build/tests/system/device/vulkan_load" "$2/bin/"
    cp "$build/src/layer/libVkLayer_PFD_capture.so" "$2/lib/"
fi
# All but the C library's, which every system has.
find "$2/bin" "$2/lib" -type f -exec ldd {} + |
    sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u |
    grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
    while read -r library; do
        cp -nL "$library" "$2/lib/" || true
    done
cp -R "$source/include" "$2/"
cp "$source"/tests/system/device/measure.cu "$source"/tests/system/device/measure.sh \
    "$source"/tests/system/device/lines.c "$source"/examples/device/cuda/hello.cu "$2/"
# Layers are found from where their manifests lie.
if [ -e "$2/bin/vulkan_load" ]; then
    system=/
    if [ $# -gt 2 ]; then
        system=$(mktemp -d)
        trap 'rm -rf "$system"' EXIT
        for package in "$3"/*.deb; do
            dpkg -x "$package" "$system"
        done
    fi
    for name in libvulkan.so.1 libVkLayer_khronos_validation.so libstdc++.so.6; do
        for library in "$system"/usr/lib/*/"$name"; do
            cp -fL "$library" "$2/lib/"
        done
    done
    manifests=$2/share/vulkan/explicit_layer.d
    mkdir -p "$manifests"
    for manifest in "$build"/src/layer/VkLayer_*.json \
        "$system"/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json; do
        sed -E 's|("library_path": ")([^"]*/)?|\1../../../lib/|' "$manifest" \
            >"$manifests/$(basename "$manifest")"
    done
    cp "$build"/tests/system/device/flood.comp.spv \
        "$build"/tests/system/device/frame.vert.spv \
        "$build"/tests/system/device/frame.frag.spv \
        "$source"/tests/system/device/vulkan.py "$2/"
fi
