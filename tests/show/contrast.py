"""How well colours can be seen: contrast by WCAG 2.2, greys in print, and what readers who are colour-blind see."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from matplotlib.colors import to_rgb

Colour = Any
"""Whatever matplotlib takes for a colour, or three numbers from 0 to 1."""
WHITE: Final = "#FFFFFF"
JUPYTER_DARK: Final = "#111111"
"""JupyterLab's ``--jp-layout-color0`` in its dark theme."""
_LUMINANCE: Final = np.array([0.2126, 0.7152, 0.0722])
_XYZ: Final = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009).
VISIONS: Final[dict[str, Any]] = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio, 1 to 21 (WCAG 2.2)."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def inverted(colour: Colour) -> tuple[float, ...]:
    """Return a colour as CSS's ``invert(1) hue-rotate(180deg)`` shows it (Filter Effects Module Level 1)."""
    matrix = np.array([[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]])
    return tuple(np.clip(matrix @ (1 - _rgb(colour)), 0, 1))


def dark(ground: Colour) -> Colour:
    """Return what an inverted figure's ground becomes; for white the page's grey, which is worse than black."""
    return JUPYTER_DARK if contrast(ground, WHITE) < 1.01 else inverted(ground)


def lightness(colour: Colour) -> float:
    """Return CIE L*, 0 to 100: the grey that a printer makes of it."""
    return float(_lab(_linear(_rgb(colour)))[0])


def distance(one: Colour, other: Colour, vision: str) -> float:
    """Return the distance in CIELAB as somebody with such a vision sees it."""
    matrix = VISIONS[vision]
    apart = [_lab(np.clip(matrix @ _linear(_rgb(it)), 0, 1)) for it in (one, other)]
    return float(np.linalg.norm(apart[0] - apart[1]))


def _rgb(colour: Colour) -> Any:
    return np.array(to_rgb(colour))


def _linear(rgb: Any) -> Any:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _luminance(colour: Colour) -> float:
    return float(_LUMINANCE @ _linear(_rgb(colour)))


def _lab(linear: Any) -> Any:
    ratios = (_XYZ @ linear) / (_XYZ @ np.ones(3))
    x, y, z = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
