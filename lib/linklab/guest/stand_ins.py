"""Scripts that stand in for programs (sudo, modprobe, xterm, ryu-manager) that a lab does not have.

Of others (apt, ssh, nano) they say in a line what a lab has instead.

The lab image has none of them. They are written into /usr/local/bin when a lab boots.
"""

from __future__ import annotations

import shlex
from pathlib import Path

_KERNEL = Path(__file__).parents[1] / "runtime/kernel/lab.config"

_MODPROBE = """\
#!/bin/sh
# all that a lab's kernel has is built in: there is nothing to load, and nothing can be removed
for word; do
    case $word in
        -r | --remove) exit 0 ;;
        -*) continue ;;
    esac
    # a module is called sch_htb, tcp_bbr or ip_gre, its setting CONFIG_NET_SCH_HTB, TCP_CONG_BBR or NET_IPGRE
    name=$(echo "${word#*[_-]}" | tr 'a-z-' 'A-Z_')
    case $word in
        tcp_probe | tcp_reno) continue ;;
    esac
    [ -d "/sys/module/$(echo "$word" | tr - _)" ] || grep -q "^CONFIG_[A-Z0-9_]*$name=y" {kernel} || {
        echo "modprobe: a lab's kernel has no $word, and no modules can be loaded" >&2
        exit 1
    }
    break  # what follows are the module's parameters
done
"""

PROGRAMS = {
    "sudo": """\
#!/bin/sh
# everything in a lab runs as root already
while [ $# -gt 0 ]; do
    case $1 in
        -u | -g | -p | -C | -h | -r | -t | -T | -U | -D | -R) shift 2 ;;
        --) shift; break ;;
        -[isEHnSkbPAB]*) shift ;;
        -*) shift ;;
        *=*) export "$1"; shift ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || exit 0
exec "$@"
""",
    "modprobe": _MODPROBE.replace("{kernel}", str(_KERNEL)),
    "xterm": """\
#!/bin/sh
# there is no screen: the command runs without a window, and its output goes where the script's goes
while [ $# -gt 0 ]; do
    case $1 in
        -e) shift; break ;;
        -title | -T | -display | -geometry | -fa | -fs | -fn | -bg | -fg | -n | -name) shift; shift ;;
        *) shift ;;
    esac
done
if [ $# -eq 0 ]; then
    echo "a lab has no screen: xterm opens no window; give the node its commands by cmd, or at Mininet's prompt" >&2
    exit 1
fi
echo "a lab has no screen: xterm runs this without a window: $*" >&2
[ $# -gt 1 ] || exec sh -c "$1"
exec "$@"
""",
    "ryu-manager": """\
#!/bin/sh
# os-ken is Ryu carried on: names alone differ
exec python3 -c '
import importlib, importlib.abc, importlib.util, sys, types
def absent(name):
    # without a name of its own, by which Python would be told to look for the whole package
    raise ModuleNotFoundError("os-ken, which stands for Ryu in a lab, has no " + name)
class Unusable:
    # what an application imports of Ryu and os-ken has not: whoever calls it or derives from it is told
    def __getattr__(self, *_, **__):
        absent("ryu.app.wsgi")
    __call__ = __mro_entries__ = __getattr__
class Wsgi(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Unusable()
class Ryu(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name == "ryu" or name.startswith("ryu."):
            return importlib.util.spec_from_loader(name, self, is_package=True)
    def create_module(self, spec):
        try:
            return importlib.import_module("os_ken" + spec.name[3:])
        except ModuleNotFoundError:
            return Wsgi(spec.name) if spec.name == "ryu.app.wsgi" else absent(spec.name)
    def exec_module(self, module):
        if module.__name__ == "os_ken.base.app_manager":
            module.RyuApp = module.OSKenApp
sys.meta_path.insert(0, Ryu())
sys.argv[0] = "osken-manager"
import ryu.base.app_manager
from os_ken.cmd.manager import main
sys.exit(main())
' "$@"
""",
}
"""What each of them does, as a script."""

_NO_PACKAGES = (
    "a lab has no Internet and installs nothing: let it write what it measures to a file in its folder, and run the "
    "part that needs more outside of the lab"
)
_NO_SERVICES = 'a lab has no services: start the program itself, as by lab["h1"].popen("python3 -m http.server 80")'
_NO_EDITOR = (
    "a lab has no editor: edit the files of its folder outside of the lab, or write one by "
    'lab.write_file("/tmp/name", text)'
)
_NO_MANUAL = "a lab has no manual pages: COMMAND --help tells a program's options; man outside of the lab has the rest"
_NO_NAMES = 'a lab has no name service: hosts are reached by address, lab["h4"].address or h4\'s own ip address show'
_NO_SSH = 'a lab has no SSH, and needs none: lab["h4"].cmd("...") runs a command on h4, and linklab shell opens a shell'
_INSTEAD = {
    **dict.fromkeys(("apt", "apt-get", "pip", "pip3"), _NO_PACKAGES),
    **dict.fromkeys(("systemctl", "service"), _NO_SERVICES),
    **dict.fromkeys(("nano", "vi", "vim", "emacs"), _NO_EDITOR),
    "man": _NO_MANUAL,
    **dict.fromkeys(("dig", "nslookup", "host"), _NO_NAMES),
    **dict.fromkeys(("ssh", "scp"), _NO_SSH),
}
"""What to say of a program that a lab has not."""

_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# Python's requests cannot be imported without a list of authorities. This one's key was thrown away.
_NOBODY = """\
-----BEGIN CERTIFICATE-----
MIIBlzCCAT2gAwIBAgIUJy5ZCn7SzI6agI8/M+VaiYZpmVcwCgYIKoZIzj0EAwIw
IDEeMBwGA1UEAwwVYSBsYWIgaGFzIG5vIEludGVybmV0MCAXDTI2MTEyNjIxMDEx
NFoYDzIxMjYxMTAyMjEwMTE0WjAgMR4wHAYDVQQDDBVhIGxhYiBoYXMgbm8gSW50
ZXJuZXQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASTVQA6Noon6Gnn7KPsYaKe
C7CQXsv+HZU0B24HvfnJaAc/EN1peDMrbxjcOTGQuc2xTDt32cS4oU8qWHzSfQTh
o1MwUTAdBgNVHQ4EFgQUTwsGbgCV14KDajIyCD1ENiQadjkwHwYDVR0jBBgwFoAU
TwsGbgCV14KDajIyCD1ENiQadjkwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD
AgNIADBFAiBPOiGPHdjo6HLKGOEFC6IGs6DL+eQYAEYRbYUKVuE1SgIhAPkGtanV
fm/aWPHgnMRQxqxmLp1+HWv3Q7NqvGHT/JzL
-----END CERTIFICATE-----
"""


def _write(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


def write_programs(folder: Path) -> None:
    """Write the programs into a folder of a guest, and what libraries look for when they are imported."""
    for name, text in PROGRAMS.items():
        _write(folder / name, text)
    for name, line in _INSTEAD.items():
        _write(folder / name, f"#!/bin/sh\necho {shlex.quote(f'{name}: {line}')} >&2\nexit 127\n")
    _CERTIFICATES.parent.mkdir(parents=True, exist_ok=True)
    _CERTIFICATES.write_text(_NOBODY)
