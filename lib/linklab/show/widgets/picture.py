"""The picture that a notebook keeps of a widget which talks with its kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

# The picture stands in a notebook's file, and the widget behind it lives as long as its kernel. While it lives it takes
# the picture's place; of one that lives no more JupyterLab shows an error, which is hidden.
_VIEW: Final = ".jp-OutputArea-child:has(> .jupyter-widgets)"
_PICTURE: Final = ".jp-OutputArea-child:has(.linklab-still)"
_SWAP: Final = (
    f"<style>{_PICTURE}:has(+ .jp-OutputArea-child .linklab-widget),"
    f"{_PICTURE} + {_VIEW}:not(:has(.linklab-widget)){{display:none}}</style>"
)


def show_picture(still: Mapping[str, str]) -> DisplayHandle:
    """Show a picture in the cell that runs, and return the handle by which `change_picture` changes it."""
    from IPython.display import display

    handle: DisplayHandle = display(_bundle(still), raw=True, display_id=True)  # type: ignore[no-untyped-call]
    return handle


def change_picture(picture: DisplayHandle, still: Mapping[str, str]) -> None:
    """Show another picture in the place of one."""
    picture.update(_bundle(still), raw=True)  # type: ignore[no-untyped-call]


def _bundle(still: Mapping[str, str]) -> dict[str, str]:
    return {**still, "text/html": f'{_SWAP}<div class="linklab-still">{still["text/html"]}</div>'}
