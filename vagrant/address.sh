#!/usr/bin/env bash
# Waits for JupyterLab in the virtual machine and prints the address to open on the laptop. `vagrant up` ends with it.
# The argument is the port on the laptop's 127.0.0.1.
set -euo pipefail
# shellcheck source=vagrant/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

host_port=${1:-8888}
token_file=$HOME/.config/linklab/jupyter-token
# The page that `linklab up` opens too.
page=lab
[[ ! -f $(dirname -- "${BASH_SOURCE[0]}")/../labs/00-start-here.ipynb ]] || page=lab/tree/00-start-here.ipynb
[[ -s $token_file ]] || fail "JupyterLab is not installed in this machine yet: vagrant provision"

answers() {
    /usr/bin/python3 - <<'PYTHON' 2>/dev/null
import urllib.request
urllib.request.urlopen("http://127.0.0.1:8888/api", timeout=5)
PYTHON
}

# systemd starts it anew whenever it fails; what has failed three times will not come by waiting.
keeps_failing() { (($(systemctl show --property NRestarts --value linklab || echo 0) >= 3)); }

# JupyterLab needs a few seconds; a laptop without hardware virtualisation, many minutes.
for ((waited_s = 0; waited_s < 1200; waited_s += 2)); do
    if answers; then
        if systemctl is-active --quiet linklab-image; then
            say "the lab image is being made in the background; the first lab shows how far it is"
        fi
        say "ready. Open this in a browser:"
        printf '\n    http://127.0.0.1:%s/%s?token=%s\n\n' "$host_port" "$page" "$(<"$token_file")"
        exit 0
    fi
    ! keeps_failing || fail "JupyterLab does not start; its log: vagrant ssh -c 'journalctl -u linklab --no-pager -n 50'"
    sleep 2
done
fail "JupyterLab did not answer within 20 minutes; its log: vagrant ssh -c 'journalctl -u linklab --no-pager -n 50'"
