"""Mininet's own tests and examples in labs: what docs/mininet.md says passes, passes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from tools import mininet_material

pytestmark = pytest.mark.lab

DOCUMENT = Path(__file__).parents[2] / "docs" / "mininet.md"
PIECE = "examples/test/test_multilink.py"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("apt-get") is None:
        pytest.skip("needs apt-get")
    try:
        return mininet_material.fetch(tmp_path_factory.mktemp("mininet"))
    except RuntimeError as error:
        pytest.skip(f"needs the source package of Mininet: {error}")


def test_the_document_says_what_does_not_run(source: Path) -> None:
    assert mininet_material.rows(DOCUMENT.read_text("utf-8")) == mininet_material.whys()
    assert set(mininet_material.whys()) | {PIECE} < set(mininet_material.pieces(source))


@pytest.mark.large
def test_what_the_document_says_runs_runs(virtual: Kind, source: Path) -> None:
    """One of them; python -m tools.mininet_material runs all."""
    outcome = mininet_material.run(source, PIECE)
    assert outcome.status == 0, outcome.said
    assert outcome.summary == "1 test"
