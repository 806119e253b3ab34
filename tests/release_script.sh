#!/bin/bash
# SPDX-License-Identifier: MIT
# packaging/release.sh in a clone, with a key that is thrown away: what it makes can
# be checked, and it refuses what is no release.
set -eu
cd "$(dirname "$0")/.."
for tool in git gpg xz; do
    command -v $tool >/dev/null || { echo "$tool is not installed" && exit 77; }
done
git rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo 'no clone of git' && exit 77; }
work=$(mktemp -d)
export GNUPGHOME=$work/keys
trap 'gpgconf --kill all; rm -rf "$work"' EXIT
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-gen-key 'A test <test@example.org>'
git clone -q "$PWD" "$work/tree"
cd "$work/tree"
git config user.name 'A test'
git config user.email test@example.org
version=$(sed -n 's/^#define PFD_VERSION "\(.*\)"$/\1/p' include/printfdecode/common.h)

refuses() { # refuses WHY COMMAND...
    local why=$1
    shift
    if "$@" >"$work/said" 2>&1 || ! grep -qF "$why" "$work/said"; then
        cat "$work/said"
        echo "not refused for: $why"
        exit 1
    fi
}

make_it() { # make_it VERSION
    packaging/release.sh "$1" "$work/out" --key test@example.org --no-tests
}

refuses 'does not say 9.9.9' make_it 9.9.9
echo >>README.md
refuses 'the tree has changes' make_it "$version"
git checkout -q README.md
refuses 'no secret key' packaging/release.sh "$version" "$work/out" \
    --key nobody@example.org --no-tests
[ -z "$(git tag)" ] # nothing is left of it
make_it "$version"
git verify-tag "v$version"
[ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ]
refuses "v$version exists" make_it "$version"
cd "$work/out"
gpg --verify SHA256SUMS.asc
sha256sum --check SHA256SUMS
# All that git has, and nothing else.
tar -tf "printfdecode-$version.tar.xz" | sed -n "s,^printfdecode-$version/\(.*[^/]\)$,\1,p" |
    sort >"$work/there"
git -C "$work/tree" ls-files | sort | diff - "$work/there"
echo >>"printfdecode-$version.tar.xz"
refuses 'FAILED' sha256sum --check SHA256SUMS
echo ' ' >>SHA256SUMS
refuses 'BAD signature' gpg --verify SHA256SUMS.asc
