"""nbformat and nbclient as Linklab imports them: in a sixth of the time that they take by themselves.

Both load jsonschema, which loads rfc3987-syntax where that is installed, as JupyterLab asks it to be. That package
compiles a grammar of IRIs (RFC 3987) while it is imported: 0.8 s of 1.0 s, in each process that runs or judges a
notebook. No schema of a notebook asks whether a text is an IRI, and jsonschema does without a package that is missing.
So this one is missing while jsonschema is imported here, and only then.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

_GRAMMAR = "rfc3987_syntax"

if TYPE_CHECKING or _GRAMMAR in sys.modules:
    import nbclient
    import nbformat
else:
    sys.modules[_GRAMMAR] = None  # what Python's import system takes for "there is none"
    try:
        import nbclient
        import nbformat
    finally:
        del sys.modules[_GRAMMAR]

__all__ = ["nbclient", "nbformat"]
