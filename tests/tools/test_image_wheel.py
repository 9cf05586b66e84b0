"""The lab image as a Python package, and Linklab itself as one that works outside of its clone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from linklab import __version__
from linklab.runtime.image.find import finished_images, read_image
from tests.runtime.test_image_find import made
from tools.image import __main__ as command
from tools.image import wheel

ROOT = Path(__file__).parents[2]


def test_an_error_of_the_tool_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "build_image", lambda progress, say: read_image(made(tmp_path / "image")))
        assert command.main(["pack", str(tmp_path)]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "%" not in line]
    assert line.startswith(f"linklab: {tmp_path} is a folder: name a file in it")


def test_the_tool_needs_nothing_but_pythons_own_library() -> None:
    """It runs beside the installation of Linklab's Python packages."""
    words = [sys.executable, "-S", "-c", "import tools.image.__main__"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_image_in_a_wheel_is_installed_by_pip_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel.make(read_image(made(tmp_path / "image")), tmp_path / "dist")
    assert path.name == f"linklab_image-{__version__}-py3-none-any.whl"
    assert [each.name for each in (tmp_path / "dist").iterdir()] == [path.name], "nothing else is left there"
    words = ["-m", "pip", "install", "--no-deps", "--no-index", "--target", str(tmp_path / "packages"), str(path)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    environment = {key: value for key, value in os.environ.items() if key != "LINKLAB_IMAGE"}
    environment |= {"PYTHONPATH": str(tmp_path / "packages"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ["-m", "linklab", "image", "path"]
    found = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True)
    folder = Path(found.stdout.strip())
    assert folder.is_relative_to(tmp_path / "cache")
    assert read_image(folder).about == read_image(tmp_path / "image").about
    (tmp_path / "packages/linklab_image/image.tar.xz").unlink()
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("linklab: the Python package linklab_image has lost its file")
    assert len(done.stderr.splitlines()) == 1


def test_a_wheel_names_all_sources_and_the_same_image_gives_the_same_one(tmp_path: Path) -> None:
    paths = [wheel.make(read_image(made(tmp_path / name)), tmp_path / f"{name}-dist") for name in ("first", "second")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with zipfile.ZipFile(paths[0]) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        text = archive.read(name).decode()
    assert "- iproute2 6.15.0-1: iproute2 6.15.0-1\n- kernels 7.3.4: linux-source-7.3 7.3.4-1~bpo13+1\n" in text


# Linklab's own wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which Linklab was installed from its wheel, which was made of a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "linklab"
    copy.mkdir()
    for name in ("setup.py", "pyproject.toml", "requirements.txt", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("lib", "labs", "solutions", "studies"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", ".*"))
    made = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(copy)]
    done = subprocess.run(made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    venv.create(folder / "environment", with_pip=False)
    python = folder / "environment/bin/python"
    place = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "environment")}))
    (path,) = folder.glob("linklab-*-py3-none-any.whl")
    words = ["-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(path)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    # what Linklab asks for is that of this environment, but for Linklab itself
    others = [entry for entry in sys.path if entry.endswith("-packages")]
    (place / "others.pth").write_text("".join(f"{entry}\n" for entry in others))
    return python


def answer(python: Path, *words: str, cwd: Path, **environment: str) -> str:
    """Run the installed Linklab's Python outside of the clone; return what it prints."""
    done = subprocess.run(
        [python, *words], cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.large
def test_a_wheel_has_all_that_labs_need_and_no_solution(installed: Path, tmp_path: Path) -> None:
    package = Path(answer(installed, "-c", "import linklab; print(linklab.__path__[0])", cwd=tmp_path).strip())
    assert package.is_relative_to(installed.parents[1]), "not the clone's"
    given = {path.name for path in (ROOT / "labs").iterdir() if path.suffix in (".ipynb", ".md", ".py")}
    assert {path.name for path in (package / "carried/labs").iterdir() if path.is_file()} == given
    studies = [path for path in (ROOT / "studies").rglob("*") if path.suffix in (".md", ".py", ".toml")]
    assert [path for path in studies if not (package / "carried" / path.relative_to(ROOT)).is_file()] == []
    lacks = [
        str(path.relative_to(ROOT / "lib/linklab"))
        for path in (ROOT / "lib/linklab").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if "widgets/src" not in path.as_posix()  # what `make widgets` builds from
        if not (package / path.relative_to(ROOT / "lib/linklab")).is_file()
    ]
    assert lacks == []
    finished = (ROOT / "solutions/simpleperf.py").read_text()
    assert (package / "carried/simpleperf.py").read_text() != finished
    assert not [path for path in package.rglob("*") if path.is_file() and path.read_bytes() == finished.encode()]
    for words in (["--version"], ["image", "--help"], ["study", "list"], ["grade", "--help"]):
        assert answer(installed, "-m", "linklab", *words, cwd=tmp_path)
    listed = answer(installed, "-m", "linklab", "study", "list", cwd=tmp_path)
    assert {"mtu", "video", "report-udp", "switches-rtt"} <= {line.split()[0] for line in listed.splitlines()}


@pytest.mark.slow
def test_its_dependencies_are_those_that_are_pinned(installed: Path, tmp_path: Path) -> None:
    code = "from importlib.metadata import requires; print(*requires('linklab'), sep='\\n')"
    wanted = answer(installed, "-c", code, cwd=tmp_path).splitlines()
    names = {re.split(r"[ (>=]", line)[0] for line in wanted if "extra ==" not in line}
    assert {"jupyterlab", "scapy", "scipy", "mininet", "prettytable"} <= names
    assert not {"jupyterhub", "pytest", "selenium", "build", "distributed"} & names
    assert not [line for line in wanted if "==" in line and "extra ==" not in line]


@pytest.mark.lab
@pytest.mark.slow
def test_a_lab_starts_from_a_wheel_outside_of_the_clone(installed: Path, tmp_path: Path) -> None:
    if not finished_images():
        pytest.skip("needs the lab image: python -m tools.image")
    code = (
        "import linklab; from mininet.topo import Topo; from linklab.measure import SimpleperfFlow, run\n"
        "class Two(Topo):\n"
        "    def build(self):\n"
        "        self.addLink(self.addHost('h1'), self.addHost('h2'), bw=10, delay='5ms')\n"
        "with linklab.start(Two()) as lab:\n"
        "    print(lab['h1'].cmd('ping -c 2 10.0.0.2'))\n"
        "    print(run(lab, SimpleperfFlow('h1', 'h2', 1)).throughput_mbps)\n"
    )
    (tmp_path / "work").mkdir()
    (tmp_path / "work/lab.py").write_text(code)
    said = answer(installed, "lab.py", cwd=tmp_path / "work", LINKLAB_IMAGE=str(finished_images()[0].folder))
    assert "2 received" in said
    assert 8 < float(said.splitlines()[-1]) < 10
