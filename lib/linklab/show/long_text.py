"""Long text that a cell prints: a page shows its last lines, where results stand, and the lines before them on demand.

The notebook keeps all of it as it was printed.
"""

from __future__ import annotations

from typing import Final

LINES_SHOWN: Final = 12
_PRINTED: Final = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stdout']"
STYLE: Final = (
    # column-reverse: it begins at its end, and stays there while text comes
    f"<style>@media screen{{.jp-Cell:not(:focus-visible) {_PRINTED}{{display:flex;flex-direction:column-reverse;"
    f"max-height:calc({LINES_SHOWN} * var(--jp-code-font-size) * var(--jp-code-line-height) + 8px);overflow-y:auto}}"
    f"{_PRINTED} pre{{flex:none}}}}</style>"
)
"""What folds text in JupyterLab's page, once it is among a notebook's outputs. A cell that is chosen with the keyboard
shows all of it, and so do print and other pages."""
