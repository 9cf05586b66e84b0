"""What tests of a network's page share: a browser, and questions to the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains

from linklab import show

Ask = Callable[[str], Any]


@pytest.fixture
def opened(browser: Chrome, tmp_path: Path) -> Callable[..., Ask]:
    """Opens a picture, and returns what answers a question in the page's own words; `p` is the picture there."""

    def open_it(*shown: Any, **more: Any) -> Ask:
        browser.get(show.network(*shown, **more).save(tmp_path / "network.html").as_uri())
        browser.execute_async_script(  # a picture learns its size after the first frame, and draws then
            "const frame = requestAnimationFrame, done = arguments[0];"
            "linklabWidget.then(() => frame(() => frame(done)));"
        )
        return ask

    def ask(question: str) -> Any:
        return browser.execute_async_script(
            "const done = arguments[1]; window.linklabWidget.then((p) => done(eval(arguments[0])));", question
        )

    return open_it


@contextmanager
def screen(browser: Chrome, width: int, height: int) -> Iterator[None]:
    """A window of this size, in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def pressed(browser: Chrome, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()
