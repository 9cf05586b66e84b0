"""What the tests of a real hub share: the class's machine."""

from __future__ import annotations

import pytest

from linklab.runtime.backends import Kind

from . import served
from .served import ClassMachine


@pytest.fixture(scope="module")
def machine(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> ClassMachine:
    """The class's machine, with a lab image for all."""
    pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")
    if (lack := served.missing()) is not None:
        pytest.skip(lack)
    assert virtual.image is not None
    return ClassMachine(tmp_path_factory.mktemp("class"), virtual.image.folder)
