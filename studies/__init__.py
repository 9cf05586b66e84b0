"""The studies that come along: a folder for each, with its runs (``study``), its page, and what the paper published."""
