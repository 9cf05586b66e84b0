"""The words by which people look for a page that does not say them often: entries of the site's index.

The search ranks what stands in the index above all pages that merely have the word.
"""

from __future__ import annotations

from typing import Final

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

WORDS: Final = {
    "docs/students#hand-in-a-lab": ("hand in", "submit", "upload", "homework"),
    "docs/students#when-something-is-wrong": (
        "slow",
        "hangs",
        "stuck",
        "not installed",
        "error",
        "kernel died",
        "crashed",
    ),
    "docs/platforms": (
        "install",
        "Windows",
        "macOS",
        "Mac",
        "M1",
        "laptop",
        "virtual machine",
        "Apple silicon",
        "disk full",
    ),
    "docs/instructors#grade": ("grade a class", "plagiarism", "cheating", "copied answers", "points"),
    "docs/lms": ("Moodle", "Canvas", "Blackboard", "gradebook", "export grades"),
    "docs/add-a-lab": ("own lab", "new lab", "exercise"),
    "docs/mininet": ("Mininet script", "max_queue_size", "queue size", "TCLink"),
    "docs/jupyterhub": ("server", "hub", "many students", "memory"),
    "docs/time-machine": ("record", "capture", "pcap", "Wireshark", "packet loss", "lost packets"),
    "docs/course-plans": ("how long", "hours", "weeks", "semester", "syllabus"),
    "docs/explanation/virtual-time": ("0 ms", "same results", "seed", "repeatable"),
    "docs/explanation/fidelity": ("real hardware", "realistic", "how exact"),
    "docs/sandbox": ("security", "untrusted"),
}
"""The words of a page, or of a section of it."""


def _add_entries(app: Sphinx, tree: nodes.document) -> None:
    for place, words in WORDS.items():
        page, _, section = place.partition("#")
        if page != app.env.docname:
            continue
        found = next((it for it in tree.findall(nodes.section) if not section or section in it["ids"]), None)
        if found is None:
            raise ExtensionError(f"{page} has no section {section}: tools/site/search.py names it")
        entry = addnodes.index(entries=[("single", word, found["ids"][0], "main", None) for word in words])
        found.insert(1, entry)


def setup(app: Sphinx) -> None:
    """Tell Sphinx."""
    app.connect("doctree-read", _add_entries)
