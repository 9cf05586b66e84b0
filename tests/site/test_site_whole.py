"""The whole site, built twice: the same to the byte, every link leads somewhere, and search needs no server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from linklab.runtime.backends import Kind
from tests.commands import browser
from tools.site.links import troubles

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.thorough]


def _built(folder: Path, **variables: str) -> Path:
    words = [sys.executable, "-m", "sphinx", "-n", "-W", "-q", "-d", str(folder / "doctrees"), "-c", "docs"]
    words += [".", str(folder / "site")]
    done = subprocess.run(words, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def _files(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def site(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site."""
    return _built(tmp_path_factory.mktemp("one"), PYTHONHASHSEED="1", COLUMNS="40")


def test_all_links_lead_somewhere_and_nothing_is_fetched(site: Path) -> None:
    assert list(troubles(site)) == []


def test_built_again_it_is_the_same(site: Path, tmp_path: Path) -> None:
    one, two = _files(site), _files(_built(tmp_path, PYTHONHASHSEED="2", COLUMNS="200", LC_ALL="C"))
    assert sorted(one) == sorted(two)
    assert [name for name, data in one.items() if data != two[name]] == []


@pytest.fixture
def page(tmp_path: Path) -> Iterator[browser.Page]:
    """A browser; what it opens are files."""
    if (missing := browser.missing()) is not None:
        pytest.skip(missing)
    opened = browser.Page(tmp_path / "profile")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("words", "title"),
    [("villamizar", "Your first study"), ("udp_throughput", "linklab.analysis"), ("kingada", "For instructors")],
)
def test_a_search_finds_its_page_without_a_server(site: Path, page: browser.Page, words: str, title: str) -> None:
    page.browser.get((site / "index.html").as_uri())
    page.see("button.search-button-field").click()
    page.see("dialog input[name=q]").send_keys(words, Keys.ENTER)
    page.wait(lambda: any(title in found.text for found in page.all("ul.search li a")), f"{words} finds {title}")
    next(found for found in page.all("ul.search li a") if title in found.text).click()
    page.wait(lambda: title in page.browser.find_element(By.TAG_NAME, "h1").text, f"the page {title} is there")
    loaded = page.browser.execute_script("return performance.getEntriesByType('resource').map(found => found.name)")
    assert [name for name in loaded if not name.startswith(("file:", "data:"))] == []
