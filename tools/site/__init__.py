"""What the documentation site has of its own: commands that are run (`terminal`), the command line's options
(`commands`), and a look at every link of what was built (`links`). `docs/conf.py` loads the first two."""

from typing import Final

PUBLIC: Final = (
    "linklab",
    "linklab.frr",
    *(f"linklab.{room}" for room in ("network", "measure", "analysis", "show", "grade", "study")),
)
"""The packages that have a page of the reference: what their `__all__` names."""
