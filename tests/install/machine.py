"""A pretended machine for the installer's tests: a copy of its scripts, and a PATH full of stand-ins.

Nothing here needs the network or root, and nothing outside the given folder is written.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# The ordinary tools that the scripts use; they are taken from the real machine as they are.
_REAL_TOOLS = (
    *("awk", "bash", "cat", "chmod", "cut", "dirname", "env", "flock", "grep", "install", "ln", "mkdir"),
    *("mktemp", "readlink", "rm", "sed", "sha256sum", "sort", "stat", "tail", "touch", "tr", "true"),
)

_UNAME = 'case "$1" in -s) echo {system} ;; -m) echo {machine} ;; esac'

# Stands for /usr/bin/python3 and, linked into the environment, for its Python.
_PYTHON = """echo "python $*" >>"$CALLS"
case "$*" in
    *"sys.version_info"*) exit {unfit} ;;
    *secrets.token_hex*) /usr/bin/python3 "$@" ;;
    *sys.version.split*) echo {version}.1 ;;
    *realpath*) echo "$(readlink -f "$0") $(dirname "$(dirname "$0")")" ;;
    "-m venv"*)
        mkdir -p "$4/bin" && ln -s "$(readlink -f "$0")" "$4/bin/python" && touch "$4/pyvenv.cfg"
        printf '#!%s\\necho "uv $*" >>"$CALLS"\\n%s\\n' "{bash}" "{uv}" >"$4/bin/uv"
        chmod +x "$4/bin/uv"
        ;;
    *pyproject.toml*) printf '%s\\n' $3 ;;
    *"config list") echo "{settings}" ;;
    -) echo /wheels/pip-1.whl/pip ;;
esac"""


@dataclass(frozen=True)
class Answer:
    """What a script printed, and its exit status."""

    status: int
    output: str
    errors: str

    @property
    def error_lines(self) -> list[str]:
        """The lines of standard error, empty ones left out."""
        return [line for line in self.errors.splitlines() if line.strip()]


@dataclass
class Machine:
    """A machine in `folder`, with all packages installed, on x86-64, for an ordinary user without sudo."""

    folder: Path
    system: str = "Linux"
    machine: str = "x86_64"
    user_id: int = 1000
    missing: tuple[str, ...] = ()
    not_offered: tuple[str, ...] = ()
    sudo: bool = False
    apt: bool = True
    apt_status: int = 0
    apt_lists: bool = True
    python_version: str = "3.12"
    uv: str = "true"
    pip_settings: str = ""
    free_mb: int = 9000
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Path:
        """The copy of the repository, as far as the installer reads it."""
        return self.folder / "linklab"

    @property
    def calls(self) -> str:
        """What the stand-ins were called with, a line each."""
        record = self.folder / "calls"
        return record.read_text() if record.exists() else ""

    def written(self, name: str) -> str:
        """What was written as root into a file of that name in a folder of the system's."""
        return (self.folder / f"written-{name}").read_text()

    def run(self, script: str, *arguments: str) -> Answer:
        """Runs vagrant/`script` on this machine as it now is."""
        self._lay_out()
        done = subprocess.run(
            [str(self.folder / "bin" / "bash"), str(self.repository / "vagrant" / script), *arguments],
            env={
                "PATH": str(self.folder / "bin"),
                "HOME": str(self.folder),
                "CALLS": str(self.folder / "calls"),
                "LC_ALL": "C",
                **self.settings,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def _lay_out(self) -> None:
        if not self.repository.exists():
            shutil.copytree(REPOSITORY / "vagrant", self.repository / "vagrant")
            for name in ("requirements.txt", "requirements.lock", "pyproject.toml", "setup.py"):
                shutil.copy(REPOSITORY / name, self.repository)
            script = self.repository / "vagrant" / "provision.sh"
            text = script.read_text()
            assert "for name in /usr/bin/python3 python3 " in text
            text = text.replace("for name in /usr/bin/python3 python3 ", "for name in python3 ", 1)
            script.write_text(text.replace("/var/lib/apt/lists", str(self.folder / "lists")))
            # The real one writes to /usr/sbin; what it is called with is what matters to provision.sh.
            packages = self.repository / "vagrant" / "packages.sh"
            packages.rename(packages.with_name("real-packages.sh"))
            packages.write_text('echo "packages.sh $*" >>"$CALLS"\n')
        lists = self.folder / "lists"
        shutil.rmtree(lists, ignore_errors=True)
        lists.mkdir()
        if self.apt_lists:
            (lists / "mirror_dists_stable_main_binary_Packages").touch()
        bin_folder = self.folder / "bin"
        shutil.rmtree(bin_folder, ignore_errors=True)
        bin_folder.mkdir(parents=True)
        for tool in _REAL_TOOLS:
            found = shutil.which(tool)
            assert found, f"the tests of the installer need {tool}"
            (bin_folder / tool).symlink_to(found)
        self._stand_in("uname", _UNAME.format(system=self.system, machine=self.machine))
        self._stand_in("id", f'case "$1" in -u) echo {self.user_id} ;; *) echo student ;; esac')
        unfit = int(self.python_version not in ("3.11", "3.12", "3.13"))
        words = {"version": self.python_version, "unfit": unfit, "bash": bin_folder / "bash", "uv": self.uv}
        if self.python_version:
            self._stand_in("python3", _PYTHON.format(settings=self.pip_settings, **words))
        self._stand_in("setsid", 'echo "setsid $*" >>"$CALLS"')
        self._stand_in("sleep", "true")
        self._stand_in("df", f'echo header; echo "/dev/vda 99 9 {self.free_mb * 1024} 9% /"')
        self._stand_in("systemctl", 'echo "systemctl $*" >>"$CALLS"')
        self._stand_in("tee", f'exec "{bin_folder}/cat" >"{self.folder}/written-${{1##*/}}"')
        if self.sudo:
            self._stand_in("sudo", 'echo "sudo $*" >>"$CALLS"; shift; exec "$@"')
        if self.apt:
            self._stand_in("apt-get", f'echo "apt-get $*" >>"$CALLS"; exit {self.apt_status}')
            # dpkg-query fails where it does not know one of the names
            failed = "; exit 1" if self.missing else ""
            self._stand_in("dpkg-query", self._unless_named(self.missing, 'echo "installed $word"') + failed)
            self._stand_in("apt-cache", self._unless_named(self.not_offered, 'echo "Package: $word"'))

    def _stand_in(self, name: str, body: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!{self.folder}/bin/bash\n{body}\n")
        path.chmod(0o755)

    @staticmethod
    def _unless_named(names: tuple[str, ...], action: str) -> str:
        """A loop over the words that are package names, with `action` for those not in `names`."""
        named = "|".join(names) or "(none)"
        return (
            'for word in "$@"; do case "$word" in -*|*{*|show) ;; '
            f"{'' if not names else f'{named}) ;; '}*) {action} ;; esac; done"
        )
