#!/bin/sh
# On Debian 12 and 13, and Ubuntu: installs what the build needs, builds, decodes
# the samples. Run it again at any time; what is there already is left alone.
set -eu
cd "$(dirname "$0")/.."

# The second half is for the daemon: TLS, seccomp, systemd and OTLP. A|B: it is
# called A or B.
packages='gcc libc6-dev meson ninja-build pkg-config libelf-dev
    libmsgpack-c-dev|libmsgpack-dev libpcre2-dev libyaml-dev zlib1g-dev
    libzstd-dev libjansson-dev
    libuv1-dev libssl-dev libseccomp-dev libsystemd-dev libsqlite3-dev
    libpng-dev libcurl4-openssl-dev'
is_there()
{
    for name in $(echo "$1" | tr '|' ' '); do
        # A line for each architecture that it is there for.
        dpkg-query -W -f='${Status}\n' "$name" 2>/dev/null |
            grep -qx 'install ok installed' && return
    done
    return 1
}

# Of each what apt knows; else apt says what it misses.
names()
{
    for package in $missing; do
        for name in $(echo "$package" | tr '|' ' '); do
            apt-cache show "$name" >/dev/null 2>&1 && break
        done
        printf ' %s' "$name"
    done
}

missing=''
for package in $packages; do
    is_there "$package" || missing="$missing $package"
done
if [ -n "$missing" ]; then
    root=''
    [ "$(id -u)" -eq 0 ] || root=sudo
    if [ -n "$root" ] && ! command -v sudo >/dev/null; then
        echo "there is no sudo here; as root: apt-get install$(names)" >&2
        exit 1
    fi
    $root apt-get update -qq
    missing=$(names)
    echo "== installing$missing"
    # shellcheck disable=SC2086 # a list of words
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
        --no-install-recommends $missing >/dev/null
fi

echo '== building'
# Without dpkg-dev, meson would install to lib64, where Debian does not look.
if [ -e build/build.ninja ]; then
    set -- --reconfigure
else
    set -- --libdir="lib/$(gcc -print-multiarch)" -Dtests=disabled
fi
said=$(meson setup build "$@" -Ddaemon=enabled -Dhttp=enabled \
    -Dtls=enabled -Dseccomp=enabled -Dsystemd=enabled 2>&1) || {
    echo "$said"
    exit 1
}
ninja -C build --quiet
build/daemon/printfdecoded --version

echo '== printfdecode examples/data/small.bin examples/data/app.elf'
build/cli/printfdecode examples/data/small.bin examples/data/app.elf

echo '== printfdecode examples/data/h200_cut.bin examples/data/app.elf'
build/cli/printfdecode examples/data/h200_cut.bin examples/data/app.elf ||
    [ $? -eq 2 ] # 2: the sample is damaged on purpose
