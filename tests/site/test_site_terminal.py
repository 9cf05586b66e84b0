"""A page's commands are run, and shown with what they printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFIGURATION = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tools.site import terminal
extensions = ["myst_parser"]
setup = terminal.setup
"""


def _built(folder: Path, page: str) -> tuple[int, str, str]:
    """The status of building a site of one page, what was said, and the text of the page's blocks."""
    (folder / "conf.py").write_text(CONFIGURATION, "utf-8")
    (folder / "index.md").write_text(page, "utf-8")
    words = [sys.executable, "-m", "sphinx", "-W", "-q", str(folder), str(folder / "site")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    file = folder / "site" / "index.html"
    page = file.read_text("utf-8") if file.exists() else ""
    blocks = re.findall(r'class="(cell_\w+) .*?<pre>(.*?)</pre>', page, re.DOTALL)
    shown = [f"{kind[5:]}: {re.sub('<.*?>', '', text).strip()}" for kind, text in blocks]
    return done.returncode, done.stderr, "\n".join(shown)


def test_commands_share_a_folder_and_what_varies_is_hidden(tmp_path: Path) -> None:
    page = (
        "# T\n\n```{terminal}\n:varies: took (\\d+) s and (\\d+)\n\n"
        "mkdir made\necho took $((0x7)) s and 12, \\\n   again 3\n"
        "ls -d made solutions; pwd\n```\n\n```{terminal}\n:exit: 3\n\nls made\nexit 3\n```\n"
    )
    status, said, shown = _built(tmp_path, page)
    assert (status, said) == (0, "")
    assert shown.splitlines() == [
        "input: mkdir made",
        "echo took $((0x7)) s and 12, \\",
        "   again 3",
        "output: took … s and …, again 3",
        "input: ls -d made solutions; pwd",
        "output: made",
        "solutions",
        "~/linklab",
        "input: ls made",
        "exit 3",
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("ls nothing-there", "ls nothing-there: exit status 2, and not 0"),
        (":exit: 1\n\ntrue", "true: exit status 0, and not 1"),
        (":exit: 1\n\nfalse\nfalse", "false: exit status 1, and not 0"),
    ],
)
def test_another_status_than_is_wanted_fails_the_build(tmp_path: Path, lines: str, said: str) -> None:
    status, error, _ = _built(tmp_path, f"# T\n\n```{{terminal}}\n{lines}\n```\n")
    assert status != 0
    assert said in error
