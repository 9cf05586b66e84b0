# shellcheck shell=bash disable=SC2034,SC2154
# The virtual machine's part of the installation: JupyterLab and the lab image's build as services of the ordinary user.
# Sourced by provision.sh, whose names it uses and whose `changed` it sets.

readonly TOKEN_FILE=$HOME/.config/linklab/jupyter-token

# Made once and kept, so that the address in a student's bookmarks stays good.
# Jupyter takes the file as it is: with a line end behind it, no address would fit.
make_token() {
    [[ ! -s $TOKEN_FILE ]] || return 0
    mkdir -p -- "$(dirname -- "$TOKEN_FILE")"
    (umask 077 && "$PYTHON" -c 'import secrets; print(secrets.token_hex(24), end="")' >"$TOKEN_FILE")
    changed=yes
}

# place TEMPLATE TARGET: fills the template in and installs it if that differs from what is there. Status 1: it was the same.
place() {
    local filled
    filled=$(sed -e "s|@USER@|$(id -un)|g" -e "s|@REPO@|$repo|g" -e "s|@VENV@|$venv|g" -e "s|@TOKEN_FILE@|$TOKEN_FILE|g" "$1")
    [[ ! -f $2 || $(<"$2") != "$filled" ]] || return 1
    as_root tee "$2" <<<"$filled" >/dev/null || fail "root is needed to write $2: run this as a user with passwordless sudo"
}

install_services() {
    local unit
    local -a units=(linklab linklab-image) renewed=()
    (($(id -u) != 0)) || fail "JupyterLab runs as the ordinary user: start provision.sh --vm as that user, who needs passwordless sudo"
    make_token
    for unit in "${units[@]}"; do
        if place "$here/files/$unit.service" "/etc/systemd/system/$unit.service"; then renewed+=("$unit"); fi
    done
    # For `vagrant ssh`: linklab by its name, and make finds the environment that the services use.
    if place "$here/files/profile.sh" /etc/profile.d/linklab.sh; then changed=yes; fi
    if ((${#renewed[@]} > 0)); then
        say "JupyterLab starts with every boot of this machine (${renewed[*]/%/.service})"
        as_root systemctl --quiet enable "${units[@]}"
        changed=yes
    fi
    # In an image that is being built there is no systemd to talk to; the services start with its first boot.
    [[ -d /run/systemd/system ]] || return 0
    if ((${#renewed[@]} > 0)); then
        as_root systemctl daemon-reload
        as_root systemctl --no-block restart "${renewed[@]}"
    fi
    as_root systemctl --no-block start "${units[@]}" openvswitch-switch
}
