"""nbformat, loaded without a grammar that no notebook needs.

nbformat loads jsonschema, and jsonschema, from 4.25 on, builds parsers of international addresses (RFC 3987) as soon as
it is loaded: a second of each process that opens a notebook. No schema of a notebook asks for such an address. Where
`rfc3987_syntax` is not to be had jsonschema does without, so it is hidden for as long as nbformat loads.

Import this before nbclient and JupyterLab, which load nbformat as well.
"""

from __future__ import annotations

import sys
from typing import Final

_GRAMMAR: Final = "rfc3987_syntax"

_hidden = _GRAMMAR not in sys.modules
if _hidden:
    sys.modules[_GRAMMAR] = None  # type: ignore[assignment]  # Python then says that there is no such module
try:
    import nbformat
finally:
    if _hidden:
        del sys.modules[_GRAMMAR]

__all__ = ["nbformat"]
