"""A matplotlib figure that shows itself in a notebook, once, and with a description."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_PIXELS_PER_INCH: Final = 160
_CSS_PIXELS_PER_INCH: Final = 96


class Drawing(Figure):
    """A figure that pyplot knows nothing of. ``alt_text`` says in words what it shows."""

    def __init__(self, width_inches: float, height_inches: float, alt_text: str, title: str | None) -> None:
        super().__init__(figsize=(width_inches, height_inches), dpi=100, facecolor="#FFFFFF")
        FigureCanvasAgg(self)
        self.alt_text = alt_text
        self.title = title

    def png(self) -> bytes:
        """The figure as a PNG file, with the description in its metadata."""
        stream = BytesIO()
        metadata = {"Title": self.title or "Network", "Description": self.alt_text}
        self.savefig(stream, format="png", dpi=_PIXELS_PER_INCH, metadata=metadata)
        return stream.getvalue()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: an image with a description; the image alone where HTML does not go."""
        data = b64encode(self.png()).decode()
        pixels = round(_CSS_PIXELS_PER_INCH * self.get_figwidth())
        html = (
            f'<img src="data:image/png;base64,{data}" alt="{escape(self.alt_text)}" '
            f'style="width:{pixels}px;max-width:100%">'
        )
        return {"text/html": html, "image/png": data, "text/plain": self.alt_text}
