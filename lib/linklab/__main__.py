"""``python -m linklab`` is the same as ``linklab``."""

import sys

from linklab.cli import main

sys.exit(main())
