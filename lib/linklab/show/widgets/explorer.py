"""A figure of theory whose sliders can be moved, in a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from linklab.show.widgets.widget import Widget

if TYPE_CHECKING:
    from linklab.show.theory import Explorer


class ExplorerWidget(Widget):
    """An `Explorer`'s figure, which follows its sliders."""

    about = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        super().__init__(widget="theory", about=explorer.about, values=dict(explorer.values))
        self._drawn()

    @traitlets.observe("values")
    def _drawn(self, _change: Any = None) -> None:
        self.picture = self._explorer.picture(self.values)

    def still(self) -> Mapping[str, str]:
        """Return the figure of the values as they are, and its sentence."""
        return self._explorer.still(self.values)
