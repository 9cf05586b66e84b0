"""``make bench``: what Linklab promises, as studies on the studies' engine. A file has a ``STUDY`` and its ``PAGE``."""
