#!/usr/bin/env bash
# Installs what Linklab needs, on this machine (`make lab`) or in the virtual machine (`vagrant up`). What is there
# already stays as it is, so a second run changes nothing; root is asked for only when something of root's is missing.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repo=$(dirname -- "$here")
# shellcheck source=vagrant/common.sh
source "$here/common.sh"

readonly PYTHON=/usr/bin/python3
readonly PACKAGE_LIST=$here/apt-packages.txt
usage="usage: provision.sh [--tests] [--vagrant | --vagrant-arm64] [--hub] [--vm] [--no-doctor] (--tests: also what \`make test\` needs; --vagrant: also what \`make test-vagrant\` needs; --vagrant-arm64: also for a machine of arm64; --hub: also what \`make hub\` needs; --vm: JupyterLab as a service of the virtual machine)"

sections=" run "
vm=
doctor=yes
changed=
for word in "$@"; do
    case $word in
        --tests) sections+="native tests hub " ;; # they try JupyterHub too
        --vagrant) sections+="vagrant " ;;
        --vagrant-arm64) sections+="vagrant vagrant-arm64 " ;;
        --hub) sections+="hub " ;;
        --vm) vm=yes ;;
        --no-doctor) doctor= ;;
        -h | --help)
            printf '%s\n' "$usage"
            exit 0
            ;;
        *) fail "unknown argument $word; $usage" ;;
    esac
done

# A virtual environment may lie elsewhere: a folder shared by VirtualBox knows no symbolic links on a Windows host.
venv=${LINKLAB_VENV:-.venv}
[[ $venv == /* ]] || venv=$repo/$venv

check_machine() {
    local system machine
    system=$(uname -s)
    machine=$(uname -m)
    [[ $system == Linux ]] || fail "labs need Linux, and this is $system: use the virtual machine instead (vagrant up)"
    case $machine in
        x86_64) architecture=amd64 ;;
        aarch64 | arm64)
            architecture=arm64
            say "this machine is arm64: labs on virtual time run in QEMU, on a lab image that LINKLAB_IMAGE or linklab.toml names"
            ;;
        *) fail "this machine is $machine: Linklab runs on x86-64 and arm64" ;;
    esac
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        fail "apt-get was not found: Linklab installs on Debian 12, Debian 13 and Ubuntu 24.04; elsewhere use the virtual machine (vagrant up)"
    fi
}

# Status 0: labs have an image to boot, so that nothing of what builds one, and of what native labs run, is needed.
image_at_hand() {
    [[ -z ${LINKLAB_IMAGE:-} ]] || return 0
    ! grep -qs '^ *image *=' "$repo/linklab.toml" || return 0
    compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/linklab/image/*/image.json" >/dev/null
}

# Prints the packages of the wanted sections for this architecture, optional ones with a "?" behind.
listed_packages() {
    awk -v sections="$sections" -v architecture="[$architecture]" '
        { sub(/#.*/, "") }
        $1 == "==" { wanted = index(sections, " " $2 " "); next }
        !wanted || NF == 0 { next }
        { name = $1; fits = 1
          for (i = 2; i <= NF; i++)
              if ($i == "[optional]") name = name "?"
              else if ($i != architecture) fits = 0
          if (fits && !seen[name]++) print name }' "$PACKAGE_LIST"
}

missing_packages() {
    local -a listed
    mapfile -t listed < <(listed_packages)
    # dpkg-query fails when it does not know a name; its answer for the others is complete all the same.
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${listed[@]%\?}" 2>/dev/null |
        awk -v listed="${listed[*]}" '
            $1 == "installed" { there[$2] = 1 }
            END { n = split(listed, names, " ")
                  for (i = 1; i <= n; i++) { plain = names[i]; sub(/\?$/, "", plain)
                                             if (!(plain in there)) print names[i] } }'
}

# as_root COMMAND...: at once for root, by sudo for others. Status 77: there is no way to become root here.
as_root() {
    # Without 9<&- whatever stays running would keep our lock.
    if (($(id -u) == 0)); then
        "$@" 9<&-
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n "$@" 9<&-
    elif command -v sudo >/dev/null && [[ -t 0 && -t 1 ]]; then
        say "sudo may ask for your password"
        sudo -v || return 77
        sudo "$@" 9<&-
    else
        return 77
    fi
}

known_to_apt() { [[ -n $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }

install_packages() {
    local -a missing required=() wanted=()
    local name status=0
    mapfile -t missing < <(missing_packages)
    for name in "${missing[@]}"; do
        [[ $name == *\? ]] || required+=("$name")
    done
    for name in "${missing[@]}"; do
        # Package lists may be old or not there yet, so absence counts only where nothing else is to be installed.
        # Otherwise a package that the distribution lacks would call for root on every run.
        if [[ $name == *\? ]] && ((${#required[@]} == 0)) && ! known_to_apt "${name%\?}"; then
            say "${name%\?} is not offered by this distribution: left out"
        else
            wanted+=("$name")
        fi
    done
    ((${#wanted[@]} > 0)) || return 0
    say "packages missing: ${wanted[*]%\?}"
    as_root bash "$here/packages.sh" "${wanted[@]}" || status=$?
    if ((status == 77)); then
        for name in "${wanted[@]}"; do
            if [[ $name == *\? ]] && known_to_apt "${name%\?}"; then required+=("${name%\?}"); fi
        done
        fail "only an administrator can install them: sudo apt-get update && sudo apt-get install --no-install-recommends ${required[*]}"
    fi
    ((status == 0)) || exit "$status"
    changed=yes
}

# Ubuntu 24.04 lets a program make user namespaces only if an AppArmor profile says so. Every lab runs in bubblewrap,
# which needs them when an ordinary user starts it, so bwrap gets such a profile and nothing else is loosened.
allow_bubblewrap() {
    local restricted=/proc/sys/kernel/apparmor_restrict_unprivileged_userns status=0
    local -a ordinary=()
    [[ -r $restricted && $(<"$restricted") == 1 ]] || return 0
    (($(id -u) != 0)) || ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    ! "${ordinary[@]}" bwrap --unshare-user --ro-bind / / true 2>/dev/null || return 0
    as_root bash "$here/allow-bwrap.sh" || status=$?
    case $status in
        0) changed=yes ;;
        77) say "this machine refuses bubblewrap its user namespaces; an administrator can allow them: sudo bash $here/allow-bwrap.sh" ;;
        *) exit "$status" ;;
    esac
}

check_python() {
    local version
    version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
        fail "$PYTHON does not run: sudo apt-get install --reinstall python3"
    case $version in
        3.11 | 3.12 | 3.13) ;;
        *) fail "$PYTHON is Python $version, and Linklab needs 3.11 to 3.13: use Debian 12, Debian 13 or Ubuntu 24.04" ;;
    esac
    "$PYTHON" -c 'import mininet.net' 2>/dev/null ||
        fail "$PYTHON cannot import Mininet, which the package mininet brings: sudo apt-get install --reinstall mininet"
}

# What the environment was made for. Scripts in it carry its path, so a moved folder needs a new one as well.
made_for() { printf '%s %s %s\n' "$("$PYTHON" -c 'import sys; print(sys.version.split()[0])')" "$venv" "$repo"; }
pinned() { cat "$repo/requirements.txt" "$repo/pyproject.toml" | sha256sum | cut -d' ' -f1; }

# Status 0: the environment is usable. A sound one without our stamp (made by hand) is kept and completed.
usable() {
    [[ -x $venv/bin/python && -f $venv/pyvenv.cfg ]] || return 1
    grep -qi '^include-system-site-packages *= *true' "$venv/pyvenv.cfg" || return 1
    [[ ! -f $venv/.linklab-made-for ]] || [[ $(<"$venv/.linklab-made-for") == "$(made_for)" ]] || return 1
    [[ $("$venv/bin/python" -c 'import os, sys; print(os.path.realpath(sys.executable), sys.prefix)' 2>/dev/null) == \
        "$(readlink -f "$PYTHON") $venv" ]]
}

make_environment() {
    local log
    if usable && [[ -f $venv/.linklab-installed && $(<"$venv/.linklab-installed") == "$(pinned)" ]]; then
        return
    fi
    if [[ -e $venv && ! -w $venv ]]; then
        fail "$venv belongs to $(stat -c %U "$venv"), so $(id -un) cannot complete it: sudo rm -r $venv, then run the same command again"
    fi
    if ! usable; then
        if [[ -e $venv ]]; then
            [[ -f $venv/pyvenv.cfg ]] || fail "$venv is no virtual environment, so it is left alone: move it away or set LINKLAB_VENV to another folder"
            say "making the Python environment anew: the old one was made by another Python or for another folder"
            rm -rf -- "$venv"
        fi
        say "making the Python environment $venv"
        mkdir -p -- "$(dirname -- "$venv")"
        "$PYTHON" -m venv --system-site-packages "$venv" || fail "$PYTHON could not make $venv: check the free space and the package python3-venv"
    fi
    made_for >"$venv/.linklab-made-for"
    rm -f "$venv/.linklab-installed"
    log=$venv/linklab-pip.log
    say "installing the Python packages of requirements.txt (log: $log)"
    run_pip "$log" -r "$repo/requirements.txt"
    run_pip "$log" --no-deps -e "$repo"
    # A guest reads these files too and cannot keep what it compiles: every start would compile them anew.
    "$venv/bin/python" -m compileall -q "$repo/lib" || true
    pinned >"$venv/.linklab-installed"
    changed=yes
}

# run_pip LOG ARGUMENT...
run_pip() {
    local log=$1
    shift
    : >"$log"
    # pip imports what the distribution ships too, and complains about versions that are not Linklab's affair.
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
        "$venv/bin/python" -m pip install --progress-bar off --no-input --retries 5 "$@" 2>&1 |
        progress "$log" 0 '^ *Collecting ' "found" || {
        { grep -iE '^ *error: ' "$log" || tail -n 5 "$log"; } | tail -n 3 >&2
        fail "pip could not install what requirements.txt names (log: $log): $(mend "$log" "check the network" "$venv" "${TMPDIR:-/tmp}"), then run the same command again"
    }
}

run_doctor() {
    "$venv/bin/linklab" doctor ||
        say "the installation is complete, but the doctor found something that does not work: see its table above"
}

# Two runs at once would build one environment twice. Shared folders without locks go on without.
exec 9<"$repo"
flock 9 2>/dev/null || true

check_machine
# Virtiofs shows the laptop's own owner numbers, and the guest's ordinary user has 1000, as the first on a laptop has.
if [[ -n $vm && ! -w $repo ]]; then
    fail "$(id -un) ($(id -u)) cannot write the shared folder $repo of user $(stat -c %u "$repo"): on the laptop, LINKLAB_SYNCED_FOLDER=nfs vagrant reload --provision"
fi
image_at_hand || sections+="native "
install_packages
check_python
allow_bubblewrap
make_environment
if [[ -n $vm ]]; then
    # shellcheck source=vagrant/service.sh
    source "$here/service.sh"
    install_services
fi
exec 9<&-
[[ -n $changed ]] || say "everything was installed already; nothing was changed"
[[ -z $doctor ]] || run_doctor
