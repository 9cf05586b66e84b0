"""How this machine reaches its package archives, in the form in which a guest can do the same.

What stands here is read from the machine at run time and goes into the box alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.vagrant.needs import TrialError

ADDED_AUTHORITIES = Path("/usr/local/share/ca-certificates")
_TRANSPORT = re.compile(r"^Acquire::(https?(::|$)|Check-|Retries|ForceIPv)")
_PIP_TRANSPORT = {"index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "default-timeout", "retries"}
_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


@dataclass(frozen=True)
class Source:
    """One archive of Debian's: what a stanza of deb822 or a line of sources.list says."""

    uris: str
    suites: tuple[str, ...]
    components: str
    signed_by: str = ""

    def for_suite(self, old: str, new: str) -> Source:
        """The same archive with the release exchanged: bookworm-security becomes trixie-security."""
        return Source(
            self.uris, tuple(suite.replace(old, new) for suite in self.suites), self.components, self.signed_by
        )

    def stanza(self) -> str:
        """As deb822."""
        text = f"Types: deb\nURIs: {self.uris}\nSuites: {' '.join(self.suites)}\nComponents: {self.components}\n"
        return text + (f"Signed-By: {self.signed_by}\n" if self.signed_by else "")


def parse_deb822(text: str) -> list[Source]:
    """The binary archives in a file *.sources that are switched on."""
    found = []
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", plain):
        fields = {
            key.lower(): " ".join(value.split())
            for key, value in re.findall(r"^(\S+):((?:.*)(?:\n .*)*)", stanza, re.M)
        }
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        suites = tuple(fields.get("suites", "").split())
        found.append(Source(fields.get("uris", ""), suites, fields.get("components", ""), fields.get("signed-by", "")))
    return found


def parse_one_line(text: str) -> list[Source]:
    """The binary archives in a file *.list."""
    found = []
    for line in text.splitlines():
        match = re.match(r"^\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if match:
            signed = re.search(r"signed-by=(\S+)", match[1] or "")
            found.append(Source(match[2], (match[3],), match[4].strip(), signed[1] if signed else ""))
    return found


def debian_sources(etc_apt: Path, own_suite: str, suite: str) -> str:
    """This machine's archives of Debian for `suite`, as deb822.

    Debian's own are told from others by component `main` and by suites that all begin with the release's name.
    Raises `TrialError` where there are none.
    """
    found = []
    for path in sorted([etc_apt / "sources.list", *(etc_apt / "sources.list.d").glob("*")]):
        if path.suffix == ".sources":
            found += parse_deb822(path.read_text("utf-8"))
        elif path.suffix == ".list" and path.is_file():
            found += parse_one_line(path.read_text("utf-8"))
    own = [it for it in found if "main" in it.components.split() and it.suites]
    own = [it for it in own if all(name.startswith(own_suite) for name in it.suites)]
    if not own:
        raise TrialError(f"{etc_apt} names no archive of Debian {own_suite}, from which the box could be made")
    kept = [
        Source(it.uris, tuple(n for n in it.suites if not n.endswith("-backports")), it.components, it.signed_by)
        for it in own
    ]
    return "\n".join(it.for_suite(own_suite, suite).stanza() for it in kept if it.suites)


def own_suite() -> str:
    """This machine's release of Debian; raises `TrialError` elsewhere."""
    text = Path("/etc/os-release").read_text("utf-8")
    fields: dict[str, str] = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    if fields.get("ID") != "debian" or not fields.get("VERSION_CODENAME"):
        name = fields.get("PRETTY_NAME", "another system")
        raise TrialError(f"the box is made from this machine's archives of Debian, and this is {name}")
    return fields["VERSION_CODENAME"]


def apt_transport(dump: str) -> str:
    """Out of `apt-config dump`: proxies and what else decides how an archive is reached."""
    lines = [line for line in dump.splitlines() if _TRANSPORT.match(line) and not line.endswith(' "";')]
    return "".join(f"{line}\n" for line in lines if "Auto-Detect" not in line and "AutoDetect" not in line)


def pip_settings(listed: str, *, compiles: bool) -> str:
    """Out of `pip config list`: a pip.conf for the guest, which has all certificates in Debian's bundle."""
    lines = ["[global]", f"cert = {_BUNDLE}"]
    for line in listed.splitlines():
        match = re.match(r"^(?:global|install|:env:)\.([\w-]+)='(.*)'$", line.strip())
        if match and match[1] in _PIP_TRANSPORT and f"{match[1]} = " not in "\n".join(lines):
            lines.append(f"{match[1]} = {match[2]}")
    # An emulated processor needs a quarter of an hour to compile what is mostly never imported.
    return "\n".join(lines + ([] if compiles else ["[install]", "compile = false"])) + "\n"
