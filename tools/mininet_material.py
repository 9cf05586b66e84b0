"""Mininet's own tests and examples, run in labs as they are: ``python -m tools.mininet_material --write FILE``.

They come from the distribution's source package of Mininet, which apt fetches into a folder of its own: nothing of them
is kept here, and the machine's sources of packages stay as they are.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

START, END = "<!-- table of python -m tools.mininet_material -->", "<!-- end of the table -->"
_LIBRARY = Path(__file__).parents[1] / "lib"
_LIMIT_S = 1800
_LAST_LINES = 20
_ROW = re.compile(r"^\| `([^`]+)` \| (.*) \|$", re.MULTILINE)

# Tests that cannot run in a file where the others can, and why; then files of which none can.
LEFT_OUT = {"mininet/test/test_hifi.py": ("testCPULimits", "is about CPU limits, as examples/test/test_cpu.py")}
_SSH = "needs an SSH server in the lab (openssh-server) and a user's keys"
_OFDATAPATH = "needs the reference switch ofdatapath, which no distribution has any more"
CANNOT = {
    "examples/test/test_baresshd.py": _SSH,
    "examples/test/test_clusterSanity.py": _SSH,
    "examples/test/test_controlnet.py": f"{_OFDATAPATH}: it reads that one's log",
    "examples/test/test_cpu.py": "is about CPU limits: programs in endless loops, for which virtual time stands still",
    "examples/test/test_mobility.py": "fails with Mininet alone as well: it deletes the flow by which switches ask "
    "today's ovs-testcontroller about unknown frames",
    "examples/test/test_multipoll.py": "its example reads one line at a time where several came at once, as on virtual "
    "time they always do, and so falls behind",
    "examples/test/test_nat.py": "needs the Internet",
    "examples/test/test_limit.py": "is about CPU limits, as test_cpu",
    "examples/test/test_scratchnet.py": f"awaits a controller on port 6633, and today's listen on 6653; {_OFDATAPATH}",
    "examples/test/test_sshd.py": _SSH,
    "examples/test/test_tree1024.py": "1024 hosts need 3 GB of memory",
    "examples/test/test_treeping64.py": "8,064 pings through controllers: more than a quarter of an hour, and not yet "
    "run to its end",
    "examples/test/test_vlanhost.py": "calls vconfig, which the lab image has not: `ip link add link h1-eth0 name "
    "h1-eth0.10 type vlan id 10` does the same",
    "mininet/test/test_ptyleak.py": "awaits that a host which is removed and added again gets a terminal of the same "
    "numbers: here they shift by one the first time, and then no more, so nothing is left open",
    "mininet/test/test_walkthrough.py": "imports distutils, which Python has not since 3.12",
}
# Examples without a test that need a person, a screen or a second machine, and one that test_scratchnet runs.
_NOT_TRIED = {
    "__init__",
    "scratchnetuser",
    "miniedit",
    "consoles",
    "cluster",
    "clustercli",
    "clusterdemo",
    "clusterperf",
}


@dataclass(frozen=True)
class Outcome:
    """How a piece ended: its exit status, and what it printed."""

    status: int
    said: str

    @property
    def summary(self) -> str:
        """What unittest says of it: how many tests ran, and how many of them were skipped."""
        ran = re.findall(r"^Ran (\d+) tests? in", self.said, re.MULTILINE)
        skipped = re.findall(r"skipped=(\d+)", self.said)
        if not ran:
            return "runs to its end"
        return f"{ran[-1]} test{'s' if ran[-1] != '1' else ''}" + (
            f", {skipped[-1]} of them skipped by itself" if skipped else ""
        )


def fetch(folder: Path) -> Path:
    """Fetches Mininet's source package, unpacks it below `folder` and returns where. Raises RuntimeError."""
    parts = folder / "sources"
    parts.mkdir(parents=True)
    for path in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")):
        if path.is_file() and path.suffix in (".list", ".sources"):
            # the same places, for sources instead of packages
            text = re.sub(r"^Types:.*", "Types: deb-src", path.read_text("utf-8"), flags=re.MULTILINE)
            (parts / path.name).write_text(re.sub(r"^deb(-src)?\b", "deb-src", text, flags=re.MULTILINE), "utf-8")
    for name in ("lists", "cache"):
        (folder / name).mkdir()
    options = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": parts,
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "",
    }
    apt = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    for words in (["update"], ["source", "--download-only", "--tar-only", "mininet"]):
        done = subprocess.run([*apt, *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"apt-get {words[0]} says: {(done.stderr.strip() or 'nothing').splitlines()[-1]}")
    archive = next(folder.glob("mininet_*.orig.tar.*"))
    subprocess.run(["tar", "--extract", "--file", archive.name], cwd=folder, check=True)
    return next(folder.glob("mininet-*"))


def pieces(source: Path) -> list[str]:
    """All tests, and the examples that no test runs, by their paths in the source."""
    tests = [*source.glob("mininet/test/test_*.py"), *source.glob("examples/test/test_*.py")]
    tested = {path.stem.removeprefix("test_") for path in tests}
    examples = [path for path in source.glob("examples/*.py") if path.stem not in tested | _NOT_TRIED]
    return sorted(str(path.relative_to(source)) for path in (*tests, *examples))


def run(source: Path, piece: str) -> Outcome:
    """Runs a piece by ``linklab mininet`` on virtual time, in a folder of its own."""
    words = []
    if piece in LEFT_OUT:
        names = set(re.findall(r"def (test\w+)\(", (source / piece).read_text("utf-8")))
        words = [word for name in sorted(names - {LEFT_OUT[piece][0]}) for word in ("-k", name)]
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "linklab", "mininet", str(source / piece), *words]
        environment = os.environ | {"PYTHONPATH": str(_LIBRARY)}
        with subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as running:
            try:
                said, _ = running.communicate(b"exit\n", _LIMIT_S)
            except subprocess.TimeoutExpired:
                running.kill()
                said, _ = running.communicate()
    return Outcome(running.returncode, said.decode(errors="replace"))


def rows(text: str) -> dict[str, str]:
    """Return the table in a document: each piece that does not run whole, and why."""
    return dict(_ROW.findall(text.partition(START)[2].partition(END)[0]))


def whys() -> dict[str, str]:
    """Return what the table must say."""
    left_out = {piece: f"runs; its {name} {why}" for piece, (name, why) in LEFT_OUT.items()}
    return dict(sorted((CANNOT | left_out).items()))


def main() -> int:
    """Run all and print the table, or put it into a document between its two marks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="the document that has the table")
    parser.add_argument("--all", action="store_true", help="try those too that are known to fail; some take 10 minutes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = _wrong(fetch(Path(folder)), everything=asked.all)
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    lines = [f"| `{piece}` | {why} |" for piece, why in whys().items()]
    table = "\n".join([START, "", "| piece | why it does not run |", "| --- | --- |", *lines])
    if asked.write is None:
        print(table)
        return 0
    text = asked.write.read_text("utf-8")
    before, _, rest = text.partition(START)
    asked.write.write_text(f"{before}{table}\n\n{END}{rest.partition(END)[2]}", "utf-8")
    return 0


def _wrong(source: Path, *, everything: bool) -> list[str]:
    """Run the pieces; return what is wrong with what is said here of them."""
    wrong = []
    for piece in pieces(source):
        passes = piece not in CANNOT
        if passes or everything:
            outcome = run(source, piece)
            print(piece, outcome.status, outcome.summary, file=sys.stderr, flush=True)
            if passes != (outcome.status == 0):
                what = "fails: mend it, or say why in CANNOT" if passes else "passes by now: take it out of CANNOT"
                wrong += [*outcome.said.splitlines()[-_LAST_LINES:], f"{piece} {what}"]
    return wrong


if __name__ == "__main__":
    sys.exit(main())
