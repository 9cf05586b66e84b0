"""``make release-check``: what a release must be before it gets its tag. ``python -m tools.release PART`` is one part.

Each part says in its last line what it found, or what is to be done; nothing of the tree is changed but ``dist``, where
the wheels of the release lie in the end, with their checksums.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

import jsonschema
import yaml
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

import linklab
from linklab.cli import Parser, answered
from linklab.errors import LinklabError
from linklab.notebooks.build import build_all
from linklab.runtime.image.find import Image, read_image
from linklab.runtime.image.tree import MAX_BYTES
from tools.image.build import build_image
from tools.image.wheel import make

ROOT: Final = Path(__file__).parents[1]
DIST: Final = "dist"
SUMS: Final = "SHA256SUMS"
MOST_BYTES: Final[Mapping[str, int]] = {"linklab": 11 * 10**6, "linklab_image": MAX_BYTES + 10**6}
"""What a wheel may have: Linklab's has 10 MB, most of them the two kernels; an image's has the packed image and a list
of its sources.
"""
CFFCONVERT: Final = "cffconvert==2.0.0"
"""It carries the schema of CITATION.cff, version 1.2.0. What it needs itself is older than what Jupyter needs."""
COPYLEFT: Final[Mapping[str, str]] = {"scapy": "GPL-2.0-only"}
"""What a wheel asks for under the GPL; docs/image.md says what that means. No file of it is shipped."""
_KNOWN: Final = ("localhost", "pypi.org", "files.pythonhosted.org")
_OURS: Final = ("/root", "/vagrant", "/home/vagrant")
"""Folders of users and clones that our own virtual machine has, and the documents name."""
_UNFINISHED: Final = re.compile(
    rb"^(?:<<<<<<< |>>>>>>> |\|\|\|\|\|\|\| )|\b(?:FIX" + rb"ME|XX" + rb"X)\b", re.MULTILINE
)
_RELEASED: Final = re.compile(r"^## \[(?P<version>[^]]+)\] - (?P<date>\d{4}-\d\d-\d\d)$", re.MULTILINE)
_SECTION: Final = re.compile(r"^## ", re.MULTILINE)
_COPYLEFT: Final = re.compile(r"\b(?<!L)A?GPL|(?<!Lesser )General Public License", re.IGNORECASE)
_ALIEN: Final = re.compile(r"\.(?:min|bundle)\.(?:js|css)$")
_LAB: Final = (
    "import linklab; from linklab.network import TWO_HOSTS\n"
    "with linklab.start(TWO_HOSTS) as lab:\n"
    "    print(lab['h1'].cmd(f\"ping -c 2 {lab['h2'].address}\"))\n"
)


class Unready(LinklabError):
    """The release is not ready: one line for each thing to do."""

    def __init__(self, problems: list[str]) -> None:
        more = f" ({len(problems) - 1} more above)" if len(problems) > 1 else ""
        super().__init__("\n".join([*problems[1:], problems[0] + more]))


def settled(problems: Iterator[str], said: str) -> str:
    """Return what is said where there is no problem. Raises `Unready` where there are some."""
    if found := list(problems):
        raise Unready(found)
    return said


# What is committed


def tree(root: Path) -> str:
    """Return that the tree is clean and its version free. Raises `Unready` for changes, and for a version that has its
    tag at another commit.
    """
    changed = _git(root, "status", "--porcelain").splitlines()
    head, tag = _git(root, "rev-parse", "HEAD").strip(), f"v{linklab.__version__}"
    tagged = _git(root, "rev-list", "-n", "1", tag, "--").strip() if tag in _git(root, "tag").split() else head

    def problems() -> Iterator[str]:
        yield from (f"{line[3:]} is not as committed: commit it, or take it away" for line in changed)
        if tagged != head:
            yield f"{tag} is the tag of another commit: raise __version__ in lib/linklab/__init__.py"

    return settled(problems(), f"commit {head[:12]} and nothing else, for the tag {tag}")


def version(root: Path) -> str:
    """Return which version this is, where all that names it agrees. Raises `Unready` where something does not."""
    citation_text = (root / "CITATION.cff").read_text("utf-8")
    citation = yaml.load(citation_text, yaml.BaseLoader)  # all texts, as the schema wants them
    with TemporaryDirectory() as scratch:
        _run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", scratch, CFFCONVERT])
        schema = json.loads(next(Path(scratch).glob("cffconvert/schemas/1.2.0/schema.json")).read_text("utf-8"))

    def problems() -> Iterator[str]:
        changelog = (root / "CHANGELOG.md").read_text("utf-8")
        yield from version_problems(linklab.__version__, changelog, citation)
        for wrong in jsonschema.Draft7Validator(schema).iter_errors(citation):
            yield f"CITATION.cff is not valid: {wrong.message} (at {wrong.json_path})"
        if unreleased(changelog):
            yield f"CHANGELOG.md has lines under Unreleased: move them under {linklab.__version__}, with today's date"

    return settled(problems(), f"{linklab.__version__}, the same in the package, CHANGELOG.md and CITATION.cff")


def version_problems(here: str, changelog: str, citation: Mapping[str, Any]) -> Iterator[str]:
    """Yield where changelog and citation name another version, or another day, than they should. Pure."""
    try:
        if str(Version(here)) != here:
            yield f"__version__ {here!r} is not in its plain form: write {Version(here)}"
    except InvalidVersion:
        yield f"__version__ {here!r} is no version: write one as 1.2.3 in lib/linklab/__init__.py"
    newest = _RELEASED.search(changelog)
    if newest is None:
        yield "CHANGELOG.md has no released section: write `## [1.2.3] - 2026-01-31`"
        return
    if newest["version"] != here:
        yield f"CHANGELOG.md's newest section is {newest['version']}, and Linklab is {here}: write a section for it"
    if citation.get("version") != here:
        yield f"CITATION.cff is of version {citation.get('version')}, and Linklab is {here}: mend `version`"
    if citation.get("date-released") != newest["date"]:
        said = citation.get("date-released")
        yield f"CITATION.cff says released on {said}, CHANGELOG.md {newest['date']}: mend the wrong one"


def unreleased(changelog: str) -> str:
    """Return what stands under Unreleased; empty where nothing does."""
    return next(
        (part.partition("\n")[2] for part in _SECTION.split(changelog) if "Unreleased" in part[:20]), ""
    ).strip()


def words(root: Path) -> str:
    """Return that no committed file names this machine, or says that it is unfinished. Raises `Unready` for those."""
    names = [Path(name) for name in _git(root, "ls-files", "-z").split("\0") if name]
    alien = machine_names(root, _run([sys.executable, "-m", "pip", "config", "list"]), os.environ)

    def problems() -> Iterator[str]:
        for name in names:
            path = root / name
            if path.is_file() and not path.is_symlink():
                yield from (f"{name} {said}" for said in word_problems(name, path.read_bytes(), alien))

    return settled(problems(), f"{len(names)} files name nothing of this machine, and are finished")


def machine_names(root: Path, pip_settings: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is this machine's alone: the clone's folder, the user's home, and hosts that pip is sent to. Pure."""
    settings = [pip_settings, *(value for name, value in environment.items() if name.startswith("PIP_"))]
    hosts = {urlsplit(url).hostname or "" for text in settings for url in re.findall(r"https?://[^\s'\"]+", text)}
    folders = {str(root), environment.get("HOME", "")} - {*_OURS, "", "/"}
    return (*sorted(folders), *sorted(hosts - {*_KNOWN, ""}))


def word_problems(name: Path, content: bytes, alien: tuple[str, ...]) -> Iterator[str]:
    """Yield what a file should not say. Pure. A starter has marks like a conflict's, a packed file any letters."""
    for word in alien:
        if word.encode() in content:
            yield f"names {word}, which is this machine's: write it so that it is true anywhere"
    if name.suffix not in (".starter", ".xz") and (found := _UNFINISHED.search(content)):
        line = content[: found.start()].count(b"\n") + 1
        yield f"says {found[0].decode().strip()} in line {line}: finish it"


# What is made of something else


def generated(root: Path) -> str:
    """Return that all that is made from data is as it would be made now. Raises `Unready` for what is not."""
    with TemporaryDirectory() as fonts:
        # matplotlib keeps a list of fonts for all its environments; one without its own fonts draws other letters
        os.environ["MPLCONFIGDIR"] = fonts
        return _generated(root)


def _generated(root: Path) -> str:
    # what takes long to load is not needed for the other parts
    from linklab import show
    from linklab.network import COURSE
    from linklab.study.catalogue import pages
    from linklab.study.notebook import PageRequest, run_page

    docs = root / "docs"
    studies = docs / "studies"
    notebooks = build_all(root, check=True)
    wanted: dict[Path, bytes] = {docs / "course-network.svg": show.network(COURSE).svg.encode()}
    sources = dict.fromkeys(pages().values(), studies) | {root / "tools/bench/fidelity_page.py": docs}
    for source, folder in sources.items():
        _, made = run_page(source, PageRequest(studies / "data"))
        wanted |= {folder / file: text.encode() for file, text in made.items()}

    def problems() -> Iterator[str]:
        yield from (f"{it.path} is not what its source makes: make notebooks" for it in notebooks if it.stale)
        for path, content in wanted.items():
            if not path.is_file() or path.read_bytes() != content:
                yield f"{path.relative_to(root)} is not what its data make: {_MAKES.get(path.name, _MAKES[''])}"
        for path in sorted(path for name in pages() for path in studies.glob(f"{name}-*.svg")):
            if path not in wanted:
                yield f"{path.relative_to(root)} is in no page: git rm it"

    return settled(problems(), f"{len(notebooks) + len(wanted)} notebooks, pages and pictures are what their data make")


_MAKES: Final[Mapping[str, str]] = {
    "course-network.svg": "write show.network(COURSE).svg there",
    "benchmark-fidelity.md": "linklab study page tools/bench/fidelity_page.py --from docs/studies/data --output docs",
    "": "linklab study page --from docs/studies/data",
}


# Whose work is shipped


def licences(root: Path) -> str:
    """Return that each work that is shipped or asked for names its licence. Raises `Unready` for those that do not."""
    image = read_image(image_of_this_tree())
    asked = dict(dependencies("linklab"))

    def problems() -> Iterator[str]:
        yield from image_problems(image)
        for name, found in asked.items():
            yield from dependency_problems(name, found)
        yield from script_problems(root / "lib" / "linklab")
        if not (root / "LICENSE").is_file():
            yield "LICENSE is missing: Linklab's own licence goes into its wheel"

    counted = f"{len(image.about.packages)} packages of the image, {len(asked)} of Python"
    return settled(problems(), f"{counted} and all scripts of others have their licence")


def image_of_this_tree() -> Path:
    """Return the folder of the image of this tree's packages and kernels, built where it is missing: labs boot the
    newest one in the cache, which may be another's.
    """
    return build_image(lambda message, fraction: None).folder


def image_problems(image: Image) -> Iterator[str]:
    """Yield which packages and kernels of an image lack their licence, or the name of their source."""
    for package in image.about.packages:
        licence = image.root / "usr/share/doc" / package.name / "copyright"
        if not licence.is_file():
            yield f"the image lacks the licence of {package.name}: mend packages.txt"
        if not (package.source and package.source_version):
            yield f"image.json does not name the source of {package.name}: make it anew"
    if not (image.root / "usr/share/doc/linklab-kernel/copyright").is_file():
        yield "the image lacks the licence of its kernels: make it anew"


def dependencies(name: str) -> Iterator[tuple[str, Distribution | None]]:
    """Yield what a package asks for, and what that asks for, by name; None for what is not installed here."""
    seen, waiting = {canonicalize_name(name)}, [name]
    while waiting:
        try:
            found = distribution(waiting.pop())
        except PackageNotFoundError:
            continue
        for requirement in map(Requirement, found.requires or ()):
            known = canonicalize_name(requirement.name)
            if known in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            seen.add(known)
            waiting.append(known)
            try:
                yield known, distribution(known)
            except PackageNotFoundError:
                yield known, None


def dependency_problems(name: str, found: Distribution | None) -> Iterator[str]:
    """Yield what is wrong with the licence of a package that a wheel asks for."""
    if found is None:
        yield f"{name} is asked for and not installed: run make release-check, which installs it"
        return
    licence = licence_of(found)
    if not licence:
        yield f"{name} {found.version} names no licence: look for another package, or ask its makers"
    elif _COPYLEFT.search(licence) and name not in COPYLEFT:
        yield f"{name} {found.version} is under {licence}: add it to COPYLEFT and docs/image.md, or do without it"


def licence_of(found: Distribution) -> str:
    """Return the licence that a package's metadata name; empty for none. A whole licence is its first words."""
    told = {name: found.metadata.get_all(name) or [] for name in ("License-Expression", "Classifier", "License")}
    classified = [each.rpartition(" :: ")[2] for each in told["Classifier"] if each.startswith("License")]
    said = " ".join(" ".join(told["License-Expression"] or classified[:1] or told["License"]).split())
    return "" if said.upper() == "UNKNOWN" else said[:120]


def script_problems(package: Path) -> Iterator[str]:
    """Yield the packed scripts and styles of others that lie in the package without their licence."""
    for path in sorted(package.rglob("*")):
        if "node_modules" in path.parts:  # what `make widgets` builds with, which nobody gets
            continue
        if _ALIEN.search(path.name) and not (path.parent / f"{path.name.partition('.')[0]}.LICENSE").is_file():
            yield f"{path.relative_to(package)} has no {path.name.partition('.')[0]}.LICENSE beside it: put it there"


# What is built and installed


def wheels(root: Path) -> str:
    """Build both wheels into ``dist``, and write their checksums. Raises `Unready` for one that is not well formed."""
    dist = root / DIST
    shutil.rmtree(dist, ignore_errors=True)
    _run([sys.executable, "-m", "build", "--outdir", str(dist), str(root)])
    make(read_image(image_of_this_tree()), dist)
    made = sorted(dist.glob("*.whl"))
    files = sorted(path for path in dist.iterdir() if path.is_file())
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (dist / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), "ascii")

    def problems() -> Iterator[str]:
        if {path.name.partition("-")[0] for path in made} != set(MOST_BYTES):
            yield f"{DIST} holds {', '.join(path.name for path in made)}: there should be one wheel of each of two"
        for path in made:
            yield from wheel_problems(path, linklab.__version__)

    sizes = ", ".join(f"{path.name.partition('-')[0]} {path.stat().st_size / 1e6:.1f} MB" for path in made)
    return settled(problems(), f"{sizes}; {DIST}/{SUMS} has their checksums")


def wheel_problems(path: Path, wanted: str) -> Iterator[str]:
    """Yield what is wrong with a wheel: its size, its version, its metadata, a file that is not as its record says."""
    most = MOST_BYTES.get(path.name.partition("-")[0], 0)
    if path.stat().st_size > most:
        yield f"{path.name} has {path.stat().st_size / 1e6:.1f} MB, more than {most / 1e6:.0f}: leave out what is large"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        folder = next((name.partition("/")[0] for name in names if ".dist-info/" in name), "")
        try:
            metadata = Metadata.from_email(archive.read(f"{folder}/METADATA"), validate=True)
            record = archive.read(f"{folder}/RECORD").decode()
        except (KeyError, ExceptionGroup) as wrong:
            said = "; ".join(map(str, wrong.exceptions)) if isinstance(wrong, ExceptionGroup) else str(wrong)
            yield f"{path.name} has metadata that no package index takes ({said}): mend pyproject.toml"
            return
        if str(metadata.version) != wanted:
            yield f"{path.name} is of version {metadata.version}, and Linklab is {wanted}: build it anew"
        if not (metadata.license or metadata.license_expression or metadata.license_files):
            yield f"{path.name} names no licence: mend its metadata"
        listed = {line.rsplit(",", 2)[0] for line in record.splitlines()}
        for name in sorted({name for name in names if not name.endswith("/")} ^ listed):
            yield f"{path.name}: {name} is not both in the wheel and in its record: build it anew"
        if broken := archive.testzip():
            yield f"{path.name}: {broken} is damaged: build it anew"


def install(root: Path) -> str:
    """Install both wheels into a fresh environment, with all that they ask for, and start a lab there, outside of the
    clone and with an empty cache. Raises `Unready` where the version is another one, or no ping is answered.
    """
    made = sorted((root / DIST).glob("*.whl"))
    if len(made) != len(MOST_BYTES):
        raise Unready([f"there are {len(made)} wheels in {DIST}: the part wheels builds them"])
    with TemporaryDirectory(prefix="linklab-release-") as name:
        scratch = Path(name)
        venv.create(scratch / "venv", with_pip=True)
        python = scratch / "venv/bin/python"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("LINKLAB_", "PYTHON"))}
        inside = kept | {"XDG_CACHE_HOME": str(scratch / "cache"), "HOME": str(scratch)}
        _run([str(python), "-m", "pip", "install", "-q", *map(str, made)], env=kept)
        _run([str(python), "-m", "pip", "check"], env=kept)
        (scratch / "work").mkdir()
        run = {"cwd": scratch / "work", "env": inside}
        said = _run([str(scratch / "venv/bin/linklab"), "--version"], **run).strip()
        pinged = _run([str(python), "-c", _LAB], **run)

    def problems() -> Iterator[str]:
        if said != f"linklab {linklab.__version__}":
            yield f"the installed wheel says {said!r} and not linklab {linklab.__version__}: build it anew"
        if "2 received" not in pinged:
            yield f"no ping was answered in a lab of the installed wheels ({pinged.strip()[-80:]}): try it by hand"

    return settled(problems(), f"pip installed both wheels, {said}, and a lab of theirs answered two pings")


PARTS: Final[Mapping[str, Callable[[Path], str]]] = {
    "tree": tree,
    "version": version,
    "words": words,
    "generated": generated,
    "licences": licences,
    "wheels": wheels,
    "install": install,
}


def _git(root: Path, *words: str) -> str:
    return _run(["git", "-C", str(root), *words])


def _run(command: list[str], **settings: Any) -> str:
    """Return what a program prints. Raises LinklabError with the end of what it said where it fails."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **settings
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        short = " ".join(Path(word).name if number == 0 else word for number, word in enumerate(command[:4]))
        print("\n".join(said[-30:]))
        raise LinklabError(f"{short} ... failed: {said[-1] if said else f'exit status {done.returncode}'}")
    return done.stdout


def main(words_given: list[str] | None = None) -> int:
    """Carry out one part; return the exit status: 0 where the release is ready as far as that goes, else 1."""
    parser = Parser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    arguments: argparse.Namespace = parser.parse_args(words_given)

    def carried_out() -> int:
        if ROOT not in Path(linklab.__file__).parents:
            raise LinklabError(f"this Python has another Linklab ({linklab.__file__}): run make release-check")
        print(PARTS[arguments.part](ROOT))
        return 0

    return answered(carried_out)


if __name__ == "__main__":
    sys.exit(main())
