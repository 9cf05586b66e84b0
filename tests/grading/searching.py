"""A cell of a submission that searches the machine for what is not its own."""

from __future__ import annotations

from tests.grading.judging import ROOT

_SEARCH = """
import os, sys
found = []
for base, folders, files in os.walk("/"):
    if base in ("/proc", "/sys", "/usr", "/dev", sys.prefix):
        folders.clear()
        continue
    for name in files:
        path = os.path.join(base, name)
        try:
            text = open(path, errors="replace").read(2_000_000)
        except OSError:
            continue
        if any(word in text for word in WORDS):
            found.append(path)
print("FOUND", found)

def refuse(error):
    raise error

def shows(place):
    # Anything but Linklab and its Python, which often lie in a home, and the folders that lead there.
    for base, folders, files in os.walk(place, onerror=refuse):
        paths = {name: os.path.join(base, name) for name in folders}
        yield from files
        yield from (path for path in paths.values() if not any(f"{own}/".startswith(f"{path}/") for own in OWN))
        folders[:] = [name for name, path in paths.items() if path not in OWN]

OWN = {sys.prefix, sys.base_prefix, LINKLAB}
print("SEEN", [place for place in PLACES if os.path.isfile(place) or os.path.isdir(place) and any(shows(place))])
"""


def search(words: str, places: list[str]) -> str:
    """The cell's source: it prints FOUND, the files that hold any of some words, and SEEN, places that show anything.

    `words` is Python for a list of them, so that the cell does not hold what it looks for.
    """
    return f"WORDS = {words}\nPLACES = {places!r}\nLINKLAB = {str(ROOT / 'lib' / 'linklab')!r}\n{_SEARCH}"
