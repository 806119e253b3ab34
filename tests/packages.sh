#!/bin/bash
# SPDX-License-Identifier: MIT
# Within a root that release.sh makes, in the tree's copy; /srv/bare there is a bare
# system of the same suite.
# usage: packages.sh needs | STEP     (release.sh has the steps)
set -eu
built=/root/built
version=$(dpkg-parsechangelog -S Version)
upstream=${version%-*}
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
changes=$built/printfdecode_${version}_$(dpkg --print-architecture).changes

do_needs() {
    apt-get -qq update
    apt-get -qq -y --no-install-recommends build-dep ./ >/dev/null
}

# The source package of the tree as it is, and what it builds.
do_packages() {
    local source=$built/printfdecode-$upstream
    rm -rf $built
    mkdir -p "$source"
    tar -c . | tar -x -C "$source"
    tar --exclude=debian --sort=name --mtime="@$(dpkg-parsechangelog -S Timestamp)" --owner=0 --group=0 -C $built -cJf \
        "$built/printfdecode_$upstream.orig.tar.xz" "printfdecode-$upstream"
    cd "$source"
    dpkg-buildpackage -us -uc -sa
    ls -l $built/*.deb
}

# Elsewhere, later, under other names, in another language and time zone, by one
# process, with another umask, other groups of files and another kernel's name.
do_again() {
    local away=/tmp/another/rather-long-folder-to-build-in deb failed=0
    rm -rf $away
    mkdir -p $away/home
    dpkg-source -x "$built/printfdecode_$version.dsc" $away/source
    # shellcheck disable=SC2016 # for the shell that is inside
    unshare --uts bash -euc '
        hostname another
        umask 0002
        cd "$1/source"
        setarch --uname-2.6 env TZ=Pacific/Kiritimati LANG=C LC_ALL=C HOME="$1/home" \
            USER=another LOGNAME=another DEB_BUILD_OPTIONS="nocheck parallel=1" \
            dpkg-buildpackage -us -uc -b
    ' - $away
    for deb in "$built"/*.deb; do
        cmp "$deb" "$away/${deb##*/}" && echo "same: ${deb##*/}" || failed=1
    done
    [ $failed -eq 0 ] && rm -rf $away
}

# The same by a tool that varies more: time, order of processors, kernel, PATH, home.
# The order of files in folders (FUSE) and the user are left alone: neither can be
# changed in a root. Debian 12's cannot change the host's name there; again does.
do_reprotest() {
    local away=/tmp/reprotest host=domain_host.use_sudo=1
    [ "$suite" != bookworm ] || host=-domain_host
    rm -rf $away
    mkdir -p $away
    dpkg-source -x "$built/printfdecode_$version.dsc" $away/source
    cd $away
    DEB_BUILD_OPTIONS=nocheck reprotest \
        --vary="+all,-fileordering,-user_group,$host" \
        -c 'dpkg-buildpackage -us -uc -b' ./source '../*.deb'
    rm -rf $away
}

do_lintian() {
    lintian --allow-root --fail-on error,warning --info "$changes"
}

# What states a licence, an ABI or a rule does so in words that its tool takes.
do_clean() {
    local there=/tmp/libraries
    reuse lint
    promtool check rules share/printfdecode.rules.yml
    rm -rf $there
    dpkg-deb -x $built/libprintfdecode0_"$version"_*.deb $there
    dpkg-deb -x $built/libprintfdecode0-dbgsym_"$version"_*.deb $there
    tests/abi.sh $there/usr/lib/*/libprintfdecode.so.?.?.? $there/usr/lib/debug
}

mount_bare() {
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
}

do_autopkgtest() {
    local bare=/srv/tested
    rm -rf $bare
    cp -a /srv/bare $bare
    mount_bare $bare
    autopkgtest "$changes" -- chroot $bare
}

# What the tests of packages do with the daemon, where its unit runs: systemd as
# process 1 of a container, with a hierarchy of control groups of its own.
do_systemd() {
    local booted=/srv/booted
    local in_it=(systemd-nspawn --quiet --register=no --keep-unit -D "$booted")
    rm -rf $booted
    cp -a /srv/bare $booted
    cp -a $built/printfdecode-"$upstream" $booted/srv/source
    cp $built/*.deb $booted/srv
    cat >$booted/etc/systemd/system/tested.service <<'end'
[Service]
Type=oneshot
WorkingDirectory=/srv/source
Environment=AUTOPKGTEST_TMP=/tmp
ExecStart=/bin/sh -c 'debian/tests/daemon >/srv/said 2>&1; echo $? >/srv/status'
ExecStopPost=/bin/systemctl --no-block poweroff
[Install]
WantedBy=multi-user.target
end
    mount -t cgroup2 none /sys/fs/cgroup || { echo 'no control groups' && exit 77; }
    "${in_it[@]}" sh -euc 'apt-get -qq update
        apt-get -qq -y --no-install-recommends install dbus python3 systemd-sysv \
            /srv/*.deb >/dev/null
        systemctl enable tested.service'
    timeout 600 "${in_it[@]}" --boot || :
    cat $booted/srv/said
    [ "$(cat $booted/srv/status)" = 0 ]
}

do_piuparts() {
    tar -C /srv/bare -czf /srv/bare.tar.gz .
    piuparts -b /srv/bare.tar.gz -d "$suite" --keep-sources-list "$changes"
}

do_subproject() {
    python3 tests/subproject.py .
}

# meson dist takes what a commit has.
do_tarball() {
    local tree=/tmp/dist
    rm -rf $tree
    mkdir $tree
    tar -c . | tar -x -C $tree
    cd $tree
    git init -q
    git add --all --force
    git -c user.name=A -c user.email=a@example.org commit -q -m tree
    meson setup -Dtests=enabled build
    meson dist -C build --formats xztar
}

# Linters of other systems' packages; only others than root may run makepkg.
do_others() {
    rpmspec -P packaging/printfdecode.spec >/dev/null
    rpmlint -r packaging/printfdecode.rpmlintrc packaging/printfdecode.spec
    install -d -o nobody /tmp/makepkg
    cp packaging/PKGBUILD /tmp/makepkg
    cd /tmp/makepkg
    setpriv --reuid=nobody --clear-groups env HOME=/tmp/makepkg PACMAN=true \
        makepkg --printsrcinfo
    command -v namcap || echo 'skipped: namcap of PKGBUILD: Debian has none'
}

# From a base of our own: there need not be a registry.
do_container() {
    local base run
    [ "$suite" = trixie ] || { echo 'the Containerfile is of Debian 13' && exit 77; }
    # Higher ones may not be set here.
    local limits=(--ulimit nofile="$(ulimit -n):$(ulimit -n)" --ulimit nproc="$(ulimit -u):$(ulimit -u)")
    export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
    base=$(buildah from scratch)
    buildah copy -q "$base" /srv/bare /
    buildah commit -q "$base" docker.io/library/debian:13-slim
    buildah build --pull-never --network host \
        "${limits[@]}" -f packaging/Containerfile -t printfdecode .
    run=$(buildah from --pull-never "${limits[@]}" localhost/printfdecode)
    buildah copy -q "$run" examples/data /data
    buildah run "$run" -- printfdecode /data/small.bin /data/app.elf | tail -n 3
    buildah run "$run" -- printfdecoded check-config /etc/printfdecoded.yaml
    buildah run "$run" -- timeout --preserve-status 3 printfdecoded --config \
        /etc/printfdecoded.yaml
    buildah rm -a
    buildah rmi -a -f
}

"do_${1:?what}"
