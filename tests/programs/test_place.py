"""A place that is ended while it starts."""

from __future__ import annotations

import os
import sys

import pytest

from linklab.programs.place import LoopbackPlace
from linklab.programs.submission import SubmittedProgram
from tests.processes import children


def test_ctrl_c_while_bubblewrap_starts_leaves_nothing(nothing_left: None) -> None:
    before = children(os.getpid())

    class Interrupting(SubmittedProgram):
        def encoded(self) -> dict[str, str]:
            """Ctrl-C comes between bubblewrap's fork and its child's asking to die with it."""
            (bubblewrap,) = set(children(os.getpid())) - set(before)
            while not children(bubblewrap):
                pass
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LoopbackPlace(Interrupting("program.py", {}, sys.executable, None))
