"""A matplotlib figure that shows itself in a notebook: once, with a description, and in dark themes too."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image
from PIL.PngImagePlugin import PngInfo

_PIXELS_PER_INCH: Final = 160
_CSS_PIXELS_PER_INCH: Final = 96
_PAD_INCHES: Final = 0.08
_CLASS: Final = "linklab-figure"
DARK_FILTER: Final = "invert(1) hue-rotate(180deg)"
"""Turns white into black and keeps hues: blue stays blue, and becomes lighter."""
_STYLE: Final = (
    f'<style>@media screen{{body[data-jp-theme-light="false"] img.{_CLASS}{{filter:{DARK_FILTER}}}}}</style>'
)


class Drawing(Figure):
    """A figure that pyplot knows nothing of. ``alt_text`` says in words what it shows.

    ``constrained`` lets matplotlib place all axes. A figure is drawn on white. JupyterLab says in its page whether the
    theme is dark, and then shows the figure inverted; any other page shows it as a white card. A
    ``photograph`` is never inverted.

    Raises ValueError if ``alt_text`` says nothing.
    """

    def __init__(
        self,
        width_inches: float,
        height_inches: float,
        alt_text: str,
        title: str | None = None,
        *,
        constrained: bool = False,
        photograph: bool = False,
    ) -> None:
        if not alt_text.strip():
            raise ValueError("a figure needs words for those who do not see it: give alt_text")
        engine = ConstrainedLayoutEngine(w_pad=_PAD_INCHES, h_pad=_PAD_INCHES) if constrained else None
        super().__init__(figsize=(width_inches, height_inches), dpi=100, facecolor="#FFFFFF", layout=engine)
        FigureCanvasAgg(self)
        self.alt_text = alt_text
        self.title = title
        self.photograph = photograph

    def png(self) -> bytes:
        """Return the figure as a PNG file, with the description in its metadata.

        It has 256 colours at most, which makes the file two thirds smaller. A photograph keeps its own.
        """
        drawn, packed = BytesIO(), BytesIO()
        self.savefig(drawn, format="png", dpi=_PIXELS_PER_INCH, pil_kwargs={"compress_level": 1})
        image = Image.open(drawn).convert("RGB")
        if not self.photograph:
            image = image.quantize(dither=Image.Dither.NONE)
        metadata = PngInfo()
        metadata.add_text("Title", self.title or "Figure")
        metadata.add_text("Description", self.alt_text)
        image.save(packed, "png", pnginfo=metadata)
        return packed.getvalue()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook shows: an image with a description; the image alone where HTML does not go."""
        data = b64encode(self.png()).decode()
        pixels = round(_CSS_PIXELS_PER_INCH * self.get_figwidth())
        style, named = ("", "") if self.photograph else (_STYLE, f'class="{_CLASS}" ')
        html = (
            f'{style}<img {named}src="data:image/png;base64,{data}" alt="{escape(self.alt_text)}" '
            f'style="width:{pixels}px;max-width:100%">'
        )
        return {"text/html": html, "image/png": data, "text/plain": self.alt_text}
