"""The base class of widgets that talk with the kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Final

import anywidget
import traitlets

from linklab.record import somebody_watches
from linklab.show.widgets.page import SCRIPT, STYLE

# The picture stands in a notebook's file, and the widget behind it lives as long as its kernel. While it lives it takes
# the picture's place; of one that lives no more JupyterLab shows an error, which is hidden.
_VIEW: Final = ".jp-OutputArea-child:has(> .jupyter-widgets)"
_PICTURE: Final = ".jp-OutputArea-child:has(.linklab-still)"
_SWAP: Final = (
    f"<style>{_PICTURE}:has(+ .jp-OutputArea-child .linklab-widget),"
    f"{_PICTURE} + {_VIEW}:not(:has(.linklab-widget)){{display:none}}</style>"
)


class Widget(anywidget.AnyWidget):
    """A widget in a notebook that talks with its kernel, with a picture for whoever opens the notebook later.

    A subclass names its module of the script in ``widget`` (``src/index.js`` lists them), adds the traits that both
    sides share, and says what it looks like as a picture. A notebook stores the picture alone where nobody watches, as
    under ``linklab run`` and nbval: then its outputs are the same at every run.
    """

    _esm = SCRIPT
    _css = STYLE
    widget = traitlets.Unicode().tag(sync=True)

    @abstractmethod
    def still(self) -> Mapping[str, str]:
        """Return the picture as Jupyter's bundle: ``text/html`` or ``image/png``, and in words as ``text/plain``."""

    def _ipython_display_(self) -> None:
        """Show the picture, and before it the widget where somebody watches."""
        from IPython.display import display

        self._picture = display(self._still(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        if somebody_watches():
            display({**(self._repr_mimebundle_() or ({},))[0], "text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Take the widget out of the notebook, and leave a picture of it as it is now."""
        self._picture.update(self._still(), raw=True)
        self.close()

    def _still(self) -> dict[str, str]:
        still = dict(self.still())
        still["text/html"] = f'{_SWAP}<div class="linklab-still">{still["text/html"]}</div>'
        return still
