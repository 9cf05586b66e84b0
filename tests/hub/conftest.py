"""What the tests of a real hub share: the class's machine."""

from __future__ import annotations

import pytest

from linklab.runtime.backends import Kind

from . import served
from .served import ClassMachine


@pytest.fixture(scope="module")
def machine(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> ClassMachine:
    """The class's machine, on which root has run what `make hub` runs before it starts JupyterHub."""
    pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")
    if (lack := served.missing()) is not None:
        pytest.skip(lack)
    laid_out = ClassMachine(tmp_path_factory.mktemp("class"))
    prepared = laid_out.run("/srv/venv/bin/python", "-m", "linklab.hub")
    assert prepared.returncode == 0, prepared.stderr
    return laid_out
