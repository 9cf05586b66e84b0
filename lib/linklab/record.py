"""What a notebook keeps for `linklab report` besides what people see: JSON among a cell's outputs.

Jupyter's pages show nothing for a type that they do not know, and keep it with the notebook.
"""

from __future__ import annotations

import sys
from typing import Any, Final

RESULT_MIME: Final = "application/vnd.linklab.result+json"
"""The checks of a question: `linklab.grade.Result.to_json`, and the Linklab that made it under ``linklab``."""
LAB_MIME: Final = "application/vnd.linklab.lab+json"
"""What a lab ran on: ``linklab``, ``kind``, ``clock``, ``kernel``."""


def publish(mime: str, data: dict[str, Any]) -> None:
    """Adds data to the outputs of the cell that runs; does nothing outside of a notebook."""
    # a program that has not loaded IPython is not run by it
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        shell.display_pub.publish({mime: data})
