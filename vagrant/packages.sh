#!/usr/bin/env bash
# Installs the apt packages named as arguments; a name that ends in "?" is optional. Runs as root: provision.sh
# finds out what is missing and calls this, by sudo if it must.
set -euo pipefail
# shellcheck source=vagrant/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

readonly POLICY=/usr/sbin/policy-rc.d
readonly DISKS=(/ /var /tmp)
readonly APT=(apt-get -q -y -o DPkg::Lock::Timeout=300 -o APT::Color=0)

export DEBIAN_FRONTEND=noninteractive LC_ALL=C

(($(id -u) == 0)) || fail "packages.sh installs packages, so it runs as root: use vagrant/provision.sh, which calls it by sudo"
(($# > 0)) || fail "packages.sh needs the names of the packages to install"

log=$(mktemp /tmp/linklab-apt.XXXXXX)
wrote_policy=
clean_up() {
    [[ -z $wrote_policy ]] || rm -f "$POLICY"
    rm -f "$log"
}
trap clean_up EXIT

# die MESSAGE: what apt itself names as errors (or its last words), then our line as the very last.
die() {
    { grep '^E: ' "$log" || tail -n 5 "$log"; } | tail -n 3 >&2
    fail "$*"
}

update_lists() {
    say "reading the package lists (apt-get update)"
    "${APT[@]}" update >>"$log" 2>&1 && return
    say "apt-get update failed; once more in 5 seconds"
    sleep 5
    "${APT[@]}" update >>"$log" 2>&1 ||
        die "apt-get update failed twice: $(mend "$log" "check this machine's network and /etc/apt" "${DISKS[@]}"), then run the same command again"
}

offered() { [[ -n $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }

# Debian starts a service as soon as its package is unpacked, unless this hook says no.
hold_services_back() {
    [[ ! -e $POLICY ]] || return 0
    wrote_policy=yes # before the first byte: a full disk leaves an empty file
    printf '#!/bin/sh\nexit 101\n' >"$POLICY" || die "$POLICY cannot be written: $(mend "$log" "look at its folder" "${DISKS[@]}"), then run the same command again"
    chmod 755 "$POLICY"
}

install_packages() {
    local total
    total=$("${APT[@]}" -s --no-install-recommends install "$@" 2>>"$log" | grep -c '^Inst ') || return 1
    say "installing them with all that they need; packages in all: $total"
    "${APT[@]}" --no-install-recommends install "$@" 2>&1 |
        progress "$log" "$total" '^Setting up ' "set up"
}

update_lists
wanted=()
for name in "$@"; do
    if offered "${name%\?}"; then
        wanted+=("${name%\?}")
    elif [[ $name == *\? ]]; then
        say "${name%\?} is not offered by this distribution: left out"
    else
        # apt-get update is content with fewer lists, also on a disk that has no room for them
        fail "apt does not know the package $name: $(mend "$log" "enable the component that has it (Ubuntu: universe) in /etc/apt" "${DISKS[@]}"), then run the same command again"
    fi
done
((${#wanted[@]} > 0)) || exit 0

hold_services_back
if ! install_packages "${wanted[@]}"; then
    say "the installation failed; once more with fresh lists"
    update_lists
    install_packages "${wanted[@]}" || die "apt-get could not install ${wanted[*]}: see the line above, $(mend "$log" "check the network" "${DISKS[@]}"), then run the same command again"
fi
say "packages installed"
