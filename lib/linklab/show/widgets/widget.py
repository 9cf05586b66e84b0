"""The base class of widgets that talk with the kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import anywidget
import traitlets

from linklab.record import somebody_watches
from linklab.show.widgets.page import SCRIPT, STYLE
from linklab.show.widgets.picture import change_picture, show_picture


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

        self._picture = show_picture(self.still())
        if somebody_watches():
            display({**(self._repr_mimebundle_() or ({},))[0], "text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Take the widget out of the notebook, and leave a picture of it as it is now."""
        change_picture(self._picture, self.still())
        self.close()
