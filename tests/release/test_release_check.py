"""``make release-check``: each part passes what is in order, and names what was spoilt and what to do about it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
import yaml

import linklab
from linklab.runtime.image.find import read_image
from tests.runtime.test_image_find import made
from tools import release
from tools.image import wheel

ROOT = Path(__file__).parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
CITATION: dict[str, Any] = yaml.load((ROOT / "CITATION.cff").read_text("utf-8"), yaml.BaseLoader)
VERSION = linklab.__version__


def git(folder: Path, *words: str) -> None:
    named = ["-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *named, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one committed file."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "file.md").write_text("all is well\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def refused(part: Callable[[Path], str], root: Path) -> list[str]:
    """Return the lines by which a part refuses."""
    with pytest.raises(release.Unready) as told:
        part(root)
    return str(told.value).splitlines()


# tree


def test_a_clean_tree_passes_also_with_its_tag(repository: Path) -> None:
    assert release.tree(repository).endswith(f"for the tag v{VERSION}")
    git(repository, "tag", f"v{VERSION}")
    assert release.tree(repository)


def test_a_version_that_was_released_is_not_released_again(repository: Path) -> None:
    git(repository, "tag", f"v{VERSION}")
    (repository / "file.md").write_text("later\n")
    git(repository, "commit", "-qam", "two")
    assert refused(release.tree, repository) == [
        f"v{VERSION} is the tag of another commit: raise __version__ in lib/linklab/__init__.py"
    ]


# version


def test_this_version_is_the_same_everywhere() -> None:
    assert list(release.version_problems(VERSION, CHANGELOG, CITATION)) == []


@pytest.mark.parametrize(
    ("here", "changelog", "citation", "said"),
    [
        ("9.0.0", CHANGELOG, CITATION | {"version": "9.0.0"}, "CHANGELOG.md's newest section is"),
        (VERSION, CHANGELOG, CITATION | {"version": "9.0.0"}, "CITATION.cff is of version 9.0.0"),
        (VERSION, CHANGELOG, CITATION | {"date-released": "2020-01-01"}, "CITATION.cff says released on 2020-01-01"),
        ("next", CHANGELOG, CITATION, "__version__ 'next' is no version"),
    ],
)
def test_another_version_somewhere_is_named(here: str, changelog: str, citation: Any, said: str) -> None:
    assert next(iter(release.version_problems(here, changelog, citation))).startswith(said)


# words


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.md", "see /srv/mine/linklab/docs\n", "names /srv/mine/linklab, which is this machine's"),
        ("c.py", "x = 1\n# FIX" + "ME later\n", "says FIX" + "ME in line 2: finish it"),
    ],
)
def test_words_that_do_not_belong_into_a_release(repository: Path, name: str, content: str, said: str) -> None:
    alien = ("/srv/mine/linklab", "wheels.example.org")
    assert list(release.word_problems(Path(name), b"all is well, localhost\n", alien)) == []
    (found,) = release.word_problems(Path(name), content.encode(), alien)
    assert found.startswith(said)
    assert release.words(repository).startswith("1 files")
    (repository / name).write_text(content + f"{repository}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    assert any(line.startswith(f"{name} names {repository}") for line in refused(release.words, repository))


def test_a_machine_is_known_by_its_folders_and_by_where_pip_is_sent() -> None:
    environment = {"HOME": "/home/ada", "PIP_INDEX_URL": "https://me:word@wheels.example.org/simple"}
    settings = "global.extra-index-url='http://10.0.0.7/simple https://pypi.org/simple'\n"
    found = release.machine_names(Path("/srv/mine/linklab"), settings, environment)
    assert found == ("/home/ada", "/srv/mine/linklab", "10.0.0.7", "wheels.example.org")
    assert release.machine_names(Path("/vagrant"), "", {"HOME": "/root"}) == ()


# licences


def test_an_image_without_a_licence_is_named(tmp_path: Path) -> None:
    image = read_image(made(tmp_path / "image"))
    for name in ("iproute2", "linklab-kernel"):
        (image.root / "usr/share/doc" / name).mkdir(parents=True)
        (image.root / "usr/share/doc" / name / "copyright").write_text("a licence")
    assert list(release.image_problems(image)) == []
    for name in ("iproute2", "linklab-kernel"):
        (image.root / "usr/share/doc" / name / "copyright").unlink()
    assert [line.partition(":")[0] for line in release.image_problems(image)] == [
        "the image lacks the licence of iproute2",
        "the image lacks the licence of its kernels",
    ]


def test_all_that_linklab_asks_for_names_its_licence() -> None:
    found = dict(release.dependencies("linklab"))
    assert {"jupyterlab", "scapy", "numpy", "traitlets"} <= set(found)
    assert [line for name, one in found.items() for line in release.dependency_problems(name, one)] == []


class Pretended(Distribution):
    """A package with these lines of metadata."""

    def __init__(self, headers: str) -> None:
        self._text = f"Name: other\nVersion: 1\n{headers}\n"

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(path)


@pytest.mark.parametrize(
    ("licence", "said"),
    [
        ("AGPL-3.0-or-later", "other 1 is under AGPL-3.0-or-later: add it to COPYLEFT"),
        ("UNKNOWN", "other 1 names no licence"),
        ("LGPL-2.1", ""),
        ("MIT", ""),
    ],
)
def test_a_licence_that_binds_all_or_none_is_named(licence: str, said: str) -> None:
    found = "".join(release.dependency_problems("other", Pretended(f"License: {licence}")))
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_a_package_under_the_gpl_is_named_in_the_documents() -> None:
    for name, licence in release.COPYLEFT.items():
        assert f"{name} ({licence})" in (ROOT / "docs/image.md").read_text("utf-8")
        assert release.licence_of(distribution(name)) == licence
    assert "".join(release.dependency_problems("other", None)).startswith("other is asked for and not installed")


# wheels


@pytest.fixture
def image_wheel(tmp_path: Path) -> Path:
    return wheel.make(read_image(made(tmp_path / "image")), tmp_path / "dist")


def test_the_wheel_of_an_image_is_in_order(image_wheel: Path) -> None:
    assert list(release.wheel_problems(image_wheel, VERSION)) == []


# the command


def test_all_parts_of_the_target_are_parts(capsys: pytest.CaptureFixture[str]) -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\nrelease-check:")[2].partition("\n\n")[0]
    asked = recipe.partition("$(BIN) ")[2].split()
    assert set(asked) - {"image", "docs", "kernels", "widgets"} == set(release.PARTS)
    line = next(line for line in (ROOT / ".ci/parts").read_text("utf-8").splitlines() if "tools.release" in line)
    assert set(line.partition(")")[0].replace("|", " ").split()) == set(release.PARTS)
    with pytest.raises(SystemExit):
        release.main(["wheel"])
    assert "invalid choice: 'wheel'" in capsys.readouterr().err


def test_a_part_that_fails_ends_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(root: Path) -> str:
        return release.settled(iter(["first: do this", "second: do that"]), "well")

    monkeypatch.setattr(release, "PARTS", {"tree": fails})
    assert release.main(["tree"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "first: do this (1 more above)"
