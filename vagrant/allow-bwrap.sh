#!/usr/bin/env bash
# Lets /usr/bin/bwrap make user namespaces where AppArmor refuses them to ordinary users (Ubuntu 24.04). Runs as root.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=vagrant/common.sh
source "$here/common.sh"

readonly PROFILE=/etc/apparmor.d/linklab-bwrap

(($(id -u) == 0)) || fail "AppArmor profiles are root's: sudo bash $here/allow-bwrap.sh"
command -v apparmor_parser >/dev/null || fail "apparmor_parser was not found: sudo apt-get install apparmor"
say "allowing bubblewrap its user namespaces ($PROFILE)"
install -m 644 "$here/files/linklab-bwrap.apparmor" "$PROFILE"
if ! apparmor_parser --replace "$PROFILE"; then
    rm -f "$PROFILE"
    fail "AppArmor refused the profile for bubblewrap, so it was removed again: is another one for /usr/bin/bwrap loaded (sudo aa-status)?"
fi
