"""The picture of a network in a notebook that somebody watches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from linklab.show.widgets.widget import Widget

if TYPE_CHECKING:
    from linklab.show.stage.picture import NetworkPicture


class NetworkWidget(Widget):
    """A `NetworkPicture` that can be touched; it has all its data, and asks the kernel nothing."""

    packed = traitlets.Unicode().tag(sync=True)

    def __init__(self, picture: NetworkPicture) -> None:
        self._still = picture.still()
        super().__init__(widget="network", packed=picture.data)

    def still(self) -> Mapping[str, Any]:
        """Return the picture where no script runs."""
        return self._still
