#!/usr/bin/env bash
# Installs what Linklab needs, on this machine (`make lab`) or in the virtual machine (`vagrant up`). What is there
# already stays as it is, so a second run changes nothing. Root is asked for only where something of the system's is
# missing: for labs that is Python with venv alone, the rest comes with the lab image.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repo=$(dirname -- "$here")
# shellcheck source=vagrant/common.sh
source "$here/common.sh"

readonly PACKAGE_LIST=$here/apt-packages.txt
usage="usage: provision.sh [--image] [--dev] [--tests] [--hub] [--vagrant | --vagrant-arm64] [--vm] (--image: start making the lab image beside; --dev: also the Python packages to work on Linklab with; --tests: also what \`make test\` needs; --hub: also what \`make hub\` needs; --vagrant: also what \`make test-vagrant\` needs; --vagrant-arm64: also for a machine of arm64; --vm: JupyterLab as a service of the virtual machine)"

sections=" "
extras=" "
image=
vm=
changed=
for word in "$@"; do
    case $word in
        --image) image=yes ;;
        --dev) extras+="grading hub dev " ;;
        --tests)
            sections+="tests hub " # they try JupyterHub too
            extras+="grading hub dev "
            ;;
        --hub)
            sections+="hub "
            extras+="hub "
            ;;
        --vagrant | --vagrant-arm64)
            sections+="vagrant ${word#--} "
            extras+="grading hub dev "
            ;;
        --vm)
            sections+="vm "
            vm=yes
            ;;
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
    [[ $system == Linux ]] || fail "make lab needs Linux, and this is $system: pip install linklab, or use the virtual machine (vagrant up)"
    case $machine in
        x86_64) architecture=amd64 ;;
        aarch64 | arm64)
            architecture=arm64
            command -v qemu-system-x86_64 >/dev/null || sections+="qemu "
            ;;
        *) fail "this machine is $machine: Linklab runs on x86-64 and arm64" ;;
    esac
}

# Sets PYTHON to the first Python that serves: 3.11 to 3.13, with venv. Status 1: there is none.
find_python() {
    local name
    for name in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            PYTHON=$(command -v "$name")
            return 0
        fi
    done
    return 1
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
    ((${#listed[@]} > 0)) || return 0
    { command -v apt-get && command -v dpkg-query; } >/dev/null ||
        fail "apt-get was not found, which would install ${listed[*]%\?}: install them in this system's own way, or use the virtual machine (vagrant up)"
    # dpkg-query fails when it does not know a name; its answer for the others is complete all the same.
    { dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${listed[@]%\?}" 2>/dev/null || true; } |
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

# Also where this machine's lists of packages were never read: then nobody can tell.
known_to_apt() { ! compgen -G "/var/lib/apt/lists/*_Packages*" >/dev/null || [[ -n $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }

install_packages() {
    local -a missing required=() wanted=()
    local name status=0 listed
    listed=$(missing_packages) || exit
    [[ -n $listed ]] || return 0
    mapfile -t missing <<<"$listed"
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
    if ((status == 77 && ${#required[@]} == 0)); then
        say "only an administrator can install them, so what needs them is skipped: sudo apt-get install --no-install-recommends ${wanted[*]%\?}"
        return 0
    fi
    ((status != 77)) || fail "only an administrator can install them: sudo apt-get update && sudo apt-get install --no-install-recommends ${required[*]}"
    ((status == 0)) || exit "$status"
    changed=yes
}

# Ubuntu 24.04 lets a program make user namespaces only if an AppArmor profile says so. Every lab runs in bubblewrap,
# which needs them when an ordinary user starts it, so this system's gets such a profile and nothing else is loosened.
allow_bubblewrap() {
    local restricted=/proc/sys/kernel/apparmor_restrict_unprivileged_userns status=0
    local -a ordinary=()
    [[ -r $restricted && $(<"$restricted") == 1 ]] || return 0
    (($(id -u) != 0)) || ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    ! "${ordinary[@]}" bwrap --unshare-user --ro-bind / / true 2>/dev/null || return 0
    if ! command -v bwrap >/dev/null; then
        sections=" bubblewrap "
        install_packages
    fi
    as_root bash "$here/allow-bwrap.sh" || status=$?
    case $status in
        0) changed=yes ;;
        77) say "this machine refuses bubblewrap its user namespaces; an administrator can allow them: sudo bash $here/allow-bwrap.sh" ;;
        *) exit "$status" ;;
    esac
}

# What the environment was made for. Scripts in it carry its path, so a moved folder needs a new one as well.
made_for() { printf '%s %s %s\n' "$("$PYTHON" -c 'import sys; print(sys.version.split()[0])')" "$venv" "$repo"; }
pinned() { cat "$repo/requirements.txt" "$repo/requirements.lock" "$repo/pyproject.toml" "$repo/setup.py" | sha256sum | cut -d' ' -f1; }

# Status 0: the environment is usable. A sound one without our stamp (made by hand) is kept and completed.
usable() {
    [[ -x $venv/bin/python && -f $venv/pyvenv.cfg ]] || return 1
    [[ ! -f $venv/.linklab-made-for ]] || [[ $(<"$venv/.linklab-made-for") == "$(made_for)" ]] || return 1
    [[ $("$venv/bin/python" -c 'import os, sys; print(os.path.realpath(sys.executable), sys.prefix)' 2>/dev/null) == \
        "$(readlink -f "$PYTHON") $venv" ]]
}

# Status 0: all is installed that is asked for. Extras that were installed before are asked for from then on.
installed() {
    local stamp=$venv/.linklab-installed name before=
    [[ ! -f $stamp ]] || read -r _ before <"$stamp" || true
    for name in $before; do [[ $extras == *" $name "* ]] || extras+="$name "; done
    extras=$(tr ' ' '\n' <<<"$extras" | sort -u | tr '\n' ' ')
    [[ -f $stamp && $(<"$stamp") == "$(pinned)$extras" ]]
}

make_environment() {
    local log=$venv/linklab-pip.log lock=$repo/requirements.lock
    if usable && installed; then return; fi
    if [[ -e $venv && ! -w $venv ]]; then
        fail "$venv belongs to $(stat -c %U "$venv"), so $(id -un) cannot complete it: sudo rm -r $venv, then run the same command again"
    fi
    if ! usable; then
        if [[ -e $venv ]]; then
            [[ -f $venv/pyvenv.cfg ]] || fail "$venv is no virtual environment, so it is left alone: move it away or set LINKLAB_VENV to another folder"
            say "making the Python environment anew: the old one was made by another Python or for another folder"
            rm -rf -- "$venv"
        fi
        mkdir -p -- "$(dirname -- "$venv")"
        "$PYTHON" -m venv --without-pip "$venv" || fail "$PYTHON could not make $venv: check the free space and the package python3-venv"
    fi
    made_for >"$venv/.linklab-made-for"
    installed || true
    rm -f "$venv/.linklab-installed"
    say "installing the Python packages into $venv"
    : >"$log"
    # Python's own pip installs uv, and uv all else: pip itself would take a minute.
    awk '/^[a-z]/ { ours = /^(uv|setuptools)==/ } ours' "$lock" >"$venv/linklab-first.txt"
    logged "$venv/bin/python" "$(own_pip)" install --disable-pip-version-check --no-input --require-hashes -r "$venv/linklab-first.txt"
    "$venv/bin/python" - "$repo/pyproject.toml" "$extras" >"$venv/linklab-extras.txt" <<'PYTHON'
import sys, tomllib
known = tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]
print(*(line for name in sys.argv[2].split() for line in known[name]), sep="\n")
PYTHON
    hand_on_pip_settings
    logged "$venv/bin/uv" pip install --python "$venv/bin/python" --constraints "$lock" --verify-hashes --no-build-isolation \
        --requirements "$repo/requirements.txt" --requirements "$venv/linklab-extras.txt" --editable "$repo"
    printf '%s%s' "$(pinned)" "$extras" >"$venv/.linklab-installed"
    changed=yes
}

# Prints where the pip is that comes with Python.
own_pip() {
    "$PYTHON" - <<'PYTHON'
import ensurepip, pathlib, sysconfig
folder = sysconfig.get_config_var("WHEEL_PKG_DIR") or pathlib.Path(ensurepip.__file__).with_name("_bundled")
print(next(pathlib.Path(folder).glob("pip-*.whl")) / "pip")
PYTHON
}

# logged COMMAND...: what it prints goes to the log; where it fails its last words are shown, then what to do.
logged() {
    "$@" >>"$log" 2>&1 || {
        { grep -iE '^ *(error|×|├─▶|╰─▶)' "$log" || tail -n 5 "$log"; } | tail -n 3 >&2
        fail "the Python packages could not be installed (log: $log): $(mend "$log" "check the network" "$venv" "${TMPDIR:-/tmp}"), then run the same command again"
    }
}

# Prints the addresses and folders in one of pip's lists, with commas. pip leaves a folder out that is not there, uv ends.
places_there() {
    local each there=
    for each in ${1//\\n/ }; do [[ $each != *://* && ! -e $each ]] || there+=${there:+,}$each; done
    printf '%s' "$there"
}

# uv reads none of pip's settings, and whoever has a mirror has told pip.
hand_on_pip_settings() {
    local name value
    while IFS='=' read -r name value; do
        value=${value#\'}
        value=${value%\'}
        case ${name##*.} in
            index-url) export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$value} ;;
            extra-index-url) export UV_INDEX=${UV_INDEX:-${value//\\n/ }} ;;
            find-links) export UV_FIND_LINKS=${UV_FIND_LINKS:-$(places_there "$value")} ;;
            no-index) export UV_NO_INDEX=${UV_NO_INDEX:-$value} ;;
            trusted-host) export UV_INSECURE_HOST=${UV_INSECURE_HOST:-${value//\\n/ }} ;;
            cert) export SSL_CERT_FILE=${SSL_CERT_FILE:-$value} ;;
            proxy) export HTTPS_PROXY=${HTTPS_PROXY:-$value} ;;
        esac
    done < <("$venv/bin/python" "$(own_pip)" config list 2>/dev/null)
}

# Labs that are started earlier wait for it. start_image PYTHON: on amd64 it needs nothing of the environment.
start_image() {
    PYTHONPATH=$repo/lib setsid nice "$1" -m tools.image >/dev/null 2>&1 </dev/null 9<&- &
}

# Two runs at once would build one environment twice. Shared folders without locks go on without.
exec 9<"$repo"
flock 9 2>/dev/null || true

cd -- "$repo"
check_machine
# Virtiofs shows the laptop's own owner numbers, and the guest's ordinary user has 1000, as the first on a laptop has.
if [[ -n $vm && ! -w $repo ]]; then
    fail "$(id -un) ($(id -u)) cannot write the shared folder $repo of user $(stat -c %u "$repo"): on the laptop, LINKLAB_SYNCED_FOLDER=nfs vagrant reload --provision"
fi
find_python || sections+="python "
install_packages
find_python || fail "no Python from 3.11 to 3.13 with venv was found: use Debian 12, Debian 13 or Ubuntu 24.04, or the virtual machine (vagrant up)"
[[ -z $image || $architecture != amd64 ]] || start_image "$PYTHON"
allow_bubblewrap
make_environment
[[ -z $image || $architecture == amd64 ]] || start_image "$venv/bin/python"
if [[ -n $vm ]]; then
    # shellcheck source=vagrant/service.sh
    source "$here/service.sh"
    install_services
fi
exec 9<&-
[[ -n $changed || -n $image ]] || say "everything was installed already; nothing was changed"
