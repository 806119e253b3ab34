#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a release of the commit that is checked out: a signed tag vVERSION, the
# tarball printfdecode-VERSION.tar.xz, its sums, and their signature.
# usage: release.sh VERSION FOLDER [--key KEY] [--no-tests]
# KEY: of gpg (default: git's user.signingkey). meson dist builds the tarball and
# runs the quick tests in it, unless --no-tests. FOLDER gets the files. Nothing is
# pushed: the last lines say what is to be.
set -eu
cd "$(dirname "$0")/.."
version=${1:?a version, as 0.1.0}
folder=$(realpath -m "${2:?a folder}")
shift 2
key=$(git config user.signingkey || true)
tests=()
while [ $# -gt 0 ]; do
    case $1 in
    --key) key=${2:?a key} && shift ;;
    --no-tests) tests=(--no-tests) ;;
    *) echo "unknown: $1" && exit 1 ;;
    esac
    shift
done

fails() {
    echo "release.sh: $*" >&2
    exit 1
}

# Each place that states a version states this one.
states() { # states FILE PATTERN
    grep -qE "$2" "$1" || fails "$1 does not say $version"
}

dots=${version//./\\.}
[ -n "$key" ] || fails 'no key: --key, or user.signingkey of git'
gpg --list-secret-keys "$key" >/dev/null 2>&1 || fails "no secret key of $key"
[ -z "$(git status --porcelain --untracked-files=no)" ] || fails 'the tree has changes'
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fails "v$version exists"
states include/printfdecode/common.h "^#define PFD_VERSION \"$dots\"$"
states CHANGELOG.md "^## \[$dots\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$"
states debian/changelog "^printfdecode \($dots-[0-9a-z.~]+\) "
states packaging/PKGBUILD "^pkgver=$dots$"
states packaging/printfdecode.spec "^Version: +$dots$"

build=$(mktemp -d)
tagged=
# shellcheck disable=SC2154 # status: of what ended
trap 'status=$?; rm -rf "$build"
    [ $status -eq 0 ] || [ -z "$tagged" ] || git tag -d "v$version"' EXIT
mkdir -p "$folder"
meson setup "$build" >/dev/null
meson dist -C "$build" --formats xztar "${tests[@]}"
cp "$build/meson-dist/printfdecode-$version.tar.xz" "$folder"
git tag -s -u "$key" -m "printfdecode $version" "v$version"
tagged=yes
cd "$folder"
sha256sum "printfdecode-$version.tar.xz" >SHA256SUMS
gpg --batch --yes --local-user "$key" --armor --detach-sign \
    --output SHA256SUMS.asc SHA256SUMS

# As those who get it will check.
gpg --verify SHA256SUMS.asc SHA256SUMS
sha256sum --check SHA256SUMS
git -C "$OLDPWD" verify-tag "v$version"
ls -l "$folder"
echo "to publish: git push origin v$version, and the files in $folder"
