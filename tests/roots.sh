#!/bin/bash
# SPDX-License-Identifier: MIT
# Roots of other systems, in which the project is built and tested.
# usage: roots.sh make ROOT SUITE PACKAGE[:ARCHITECTURE|@ARCHITECTURE] ...
#        roots.sh copy ROOT            the working tree, to ROOT/root/printfdecode
#        roots.sh in ROOT COMMAND ...  in that copy, as root, with this machine's
#                                      /dev and /sys, and a /proc of its own
# @: unpacked only, since it will not be there for two architectures at once.
# Status 77: no root can be made here, and the last line says why. All mounts
# are in a mount name space of their own and end with it, so that ROOT may be
# removed at any time. `make` again with the same words leaves the root alone.
set -u
cd "$(dirname "$0")/.." || exit 1
copy=root/printfdecode

skip() {
    echo "$*"
    exit 77
}

# Processes of the command do not outlive it, either.
apart() {
    unshare --mount --propagation private --pid --fork --kill-child "$@"
}

# ---- making ----

# The one that this system's packages come from, where it has Debian's.
own_mirror() {
    # shellcheck disable=SC2016 # apt's own words
    apt-get indextargets --format '$(LABEL) $(REPO_URI)' \
        'Created-By: Packages' 2>/dev/null | sed -n 's/^Debian //p' | head -n 1
}

use_proxy() {
    local proxy=''
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [ -z "$proxy" ] || export http_proxy=$proxy
}

bootstrap() { # bootstrap ROOT SUITE
    local root=$1 suite=$2 mirror
    for mirror in "$(own_mirror)" http://deb.debian.org/debian; do
        [ -n "$mirror" ] || continue
        rm -rf --one-file-system "$root"
        apart debootstrap --variant=minbase "$suite" "$root" "$mirror" && return
        echo "$mirror: no $suite"
    done
    skip "debootstrap makes no $suite, neither from this system's mirror nor" \
        "from deb.debian.org"
}

# Names are looked up as here; a root that is soon removed need not be synced.
set_up() { # set_up ROOT
    cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe"
    echo 'Acquire::Retries "3";' >"$1/etc/apt/apt.conf.d/retries"
    [ -z "${http_proxy:-}" ] ||
        echo "Acquire::http::Proxy \"$http_proxy\";" >"$1/etc/apt/apt.conf.d/proxy"
    chmod 700 "$1/root"
}

install_packages() { # install_packages ROOT PACKAGE...
    local root=$1 package whole=() unpacked=()
    shift
    for package in $(printf '%s\n' "$@" | sed -n 's/.*[:@]//p' | sort -u); do
        run_in "$root" / dpkg --add-architecture "$package" || return
    done
    for package in "$@"; do
        case $package in
        *@*) unpacked+=("${package/@/:}") ;;
        *) whole+=("$package") ;;
        esac
    done
    run_in "$root" / apt-get -qq update &&
        run_in "$root" / apt-get -qq install --no-install-recommends -y \
            "${whole[@]}" >/dev/null &&
        unpack "$root" "${unpacked[@]}" && run_in "$root" / apt-get clean
}

unpack() { # unpack ROOT PACKAGE:ARCHITECTURE...
    # shellcheck disable=SC2016 # for the shell that is inside
    run_in "$1" /tmp sh -ec 'for package; do
        apt-get -qq download "$package"
        dpkg -x "${package%:*}"_*.deb /
        rm "${package%:*}"_*.deb
    done' - "${@:2}"
}

make_root() { # make_root ROOT SUITE PACKAGE...
    local root=$1 suite=$2
    [ "$(cat "$root.made" 2>/dev/null)" != "$*" ] || return 0
    [ "$(id -u)" -eq 0 ] || skip "only root can make a root"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    apart true || skip "no mount name space is to be had"
    rm -f "$root.made"
    use_proxy
    bootstrap "$root" "$suite" && set_up "$root" &&
        install_packages "$root" "${@:3}" && echo "$*" >"$root.made"
}

# ---- using ----

# git knows what belongs to the tree, also what is not committed yet.
copy_tree() { # copy_tree ROOT
    local to=$1/$copy
    rm -rf --one-file-system "$to"
    mkdir -p "$to" && git ls-files -z --cached --others --exclude-standard |
        tar -c --null --no-recursion --ignore-failed-read -T - | tar -x -C "$to"
}

# The root is a mount point, as a container's is. The outer shell is process 1
# there, and stays: somebody has to wait for orphans.
run_in() { # run_in ROOT FOLDER COMMAND...
    # shellcheck disable=SC2016 # for the shell that is inside
    apart bash -ec '
        root=$1 folder=$2
        shift 2
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$root" sh -ec "cd \"\$0\"; exec \"\$@\"" "$folder" "$@" ||
            exit $?
    ' - "$@"
}

what=${1:?make, copy or in}
root=$(realpath -m "${2:?a folder}")
shift 2
case $what in
make) make_root "$root" "$@" ;;
copy) copy_tree "$root" ;;
in) run_in "$root" "/$copy" "$@" ;;
*) exit 1 ;;
esac
