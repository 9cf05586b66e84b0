"""A look at every link of the built site: ``python -m tools.site.links FOLDER``. No network is used.

Each link within the site must lead to a page, and to a place in it where it names one. Nothing may be loaded from
elsewhere: no script, style, font, picture or frame. Links that people follow may lead away.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADING = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
_STYLE_LOADS = re.compile(r"""(?:url\(|@import)\s*["']?\s*([a-z]+:)?//""")


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.followed: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.followed.append(given["href"])
        elif tag == "link" and not {*given.get("rel", "").split()}.isdisjoint(_LOADING):
            self.loaded.append(given.get("href", ""))
        self.loaded += [given[name] for name in ("src", "data", "poster") if tag != "input" and name in given]


def troubles(site: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere, and for each thing that a page would load from elsewhere."""
    site = site.resolve()
    pages = {page: Page(page.read_text("utf-8")) for page in _pages(site)}
    for page, read in pages.items():
        name = page.relative_to(site)
        for link in read.loaded:
            if not link.startswith("data:") and (urlsplit(link).scheme or urlsplit(link).netloc):
                yield f"{name} loads {link}"
            elif not link.startswith("data:") and not (page.parent / unquote(urlsplit(link).path)).is_file():
                yield f"{name} loads {link}, which is not there"
        for link in read.followed:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.is_file():
                yield f"{name} links to {link}: there is no such file"
            elif site not in target.parents:
                yield f"{name} links to {link}, out of the site"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{name} links to {link}: there is no such place in the page"
    for style in sorted(site.rglob("*.css")):
        if _STYLE_LOADS.search(style.read_text("utf-8")):
            yield f"{style.relative_to(site)} loads something from elsewhere"


def _pages(site: Path) -> list[Path]:
    """Return the pages; what lies in ``_static`` is the theme's."""
    return sorted(page for page in site.rglob("*.html") if "_static" not in page.relative_to(site).parts)


def main() -> int:
    """Say what is wrong with the site in the folder that is named; give the exit status."""
    (folder,) = map(Path, sys.argv[1:])
    pages = len(_pages(folder))
    if not pages:
        print(f"{folder} has no page: sphinx-build -c docs . {folder}")
        return 1
    found = list(troubles(folder))
    for line in found:
        print(line)
    print(f"{pages} pages: {len(found)} links lead nowhere" if found else f"{pages} pages: all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
