"""``make bench``: what Linklab promises, as studies on the studies' engine. A file has a ``STUDY`` and its
``CLAIMS``, and NAME_page.py is its page."""
