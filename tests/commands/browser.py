"""A headless Chromium that uses JupyterLab's page as a student does: menus, and what is to be seen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions as until
from selenium.webdriver.support.wait import WebDriverWait

_PATIENCE_S = 600
_BEGIN_S = 60
_LOOK_S = 0.1
"""How long after a look at the page the next one comes; Selenium's own half second would be waited for at each step."""
_FRONT = ".jp-NotebookPanel:not(.lm-mod-hidden)"
_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--force-color-profile=srgb",
    "--window-size=1280,900",
)


def missing() -> str | None:
    """What a machine lacks for this; None where nothing is missing."""
    absent = [program for program in ("chromium", "chromedriver") if shutil.which(program) is None]
    return f"needs {' and '.join(absent)}: sudo apt-get install chromium chromium-driver" if absent else None


class Page:
    """JupyterLab's page in a browser of its own, with an empty profile."""

    def __init__(self, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium's sandbox refuses to run as root
        self.browser = Chrome(options=options, service=ChromeService(str(shutil.which("chromedriver"))))

    def open(self, url: str) -> None:
        """Opens an address of JupyterLab."""
        self.browser.get(url)
        self.arrive()

    def arrive(self) -> None:
        """Waits until JupyterLab is there, and has taken its splash away."""
        self.see(".jp-LabShell")
        self.wait(lambda: not self.all("#jupyterlab-splash"), "the splash went away")

    def see(self, selector: str) -> WebElement:
        """Waits until something that matches can be seen."""
        found: WebElement = WebDriverWait(self.browser, _PATIENCE_S, _LOOK_S).until(
            until.visibility_of_element_located((By.CSS_SELECTOR, selector)), f"{selector} is not to be seen"
        )
        return found

    def all(self, selector: str) -> list[WebElement]:
        """What matches now."""
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, happened: Callable[[], bool], what: str, patience_s: float = _PATIENCE_S) -> None:
        """Waits until `happened`; fails with `what` did not."""
        WebDriverWait(self.browser, patience_s, _LOOK_S, ignored_exceptions=[]).until(
            lambda _: happened(), f"not: {what}"
        )

    def menu(self, title: str, command: str) -> None:
        """Clicks an entry of the menu bar, known by JupyterLab's name of its command."""
        assert (asked := self._texts(".jp-Dialog")) == [], f"JupyterLab asks something first: {asked}"
        (bar,) = [item for item in self.all("#jp-MainMenu .lm-MenuBar-item") if item.text == title]
        bar.click()
        self.see(f'.lm-Menu-item[data-command="{command}"]').click()

    def show(self, element: WebElement) -> None:
        """Scrolls to something."""
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)

    def front_tabs(self) -> list[str]:
        """The titles of the tabs in front, in the middle of the page."""
        return self._texts("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current")

    def kernel_status(self) -> str:
        """``idle``, ``busy``, ...: the sign at the upper right of the notebook that is in front; "" while none is.

        JupyterLab takes the sign away and draws it anew while a notebook's kernel starts.
        """
        with suppress(StaleElementReferenceException):
            for sign in self.all(f"{_FRONT} .jp-Notebook-ExecutionIndicator"):
                return sign.get_attribute("data-status") or ""
        return ""

    def run_all(self, notebook: str, done: Callable[[list[str]], bool], patience_s: float) -> None:
        """Runs a notebook from top to bottom by the menu; `done` is given the prompts of its code cells."""
        self.start_all(notebook)
        self.wait(lambda: done(self.prompts()) and self.kernel_status() == "idle", "the notebook was run", patience_s)

    def start_all(self, notebook: str) -> None:
        """Waits until a notebook is in front, tells it by the menu to run, and waits until it begins to.

        While the page is not connected to its kernel yet, the notebook's sign may say ``idle``; who runs cells then
        gets nothing, or the question which kernel to select. The status bar tells. Still the menu may run nothing,
        without a word: then it is asked again, as people do.
        """
        # a page that was there before shows first what was in front then
        self.wait(lambda: notebook in self.front_tabs(), f"{notebook} is in front")
        self.see(f"{_FRONT} .jp-Notebook-ExecutionIndicator")
        for trial in range(3):
            self.wait(self._ready, "the notebook's kernel is ready")
            before = self.prompts()
            self.menu("Run", "runmenu:run-all")
            with suppress(TimeoutException) if trial < 2 else nullcontext():
                self.wait(partial(self._other_prompts, before), "the notebook began to run", _BEGIN_S)
                return

    def _ready(self) -> bool:
        below = self._texts("#jp-main-statusbar .jp-StatusBar-TextItem")
        return self.kernel_status() == "idle" and any(text.casefold().endswith("| idle") for text in below)

    def _other_prompts(self, before: list[str]) -> bool:
        return self.prompts() != before

    def prompts(self) -> list[str]:
        """What stands beside each code cell: ``[ ]:`` not run, ``[*]:`` running or waiting, ``[3]:`` run."""
        return self._texts(f"{_FRONT} .jp-CodeCell .jp-InputArea-prompt")

    def _texts(self, selector: str) -> list[str]:
        """The text of all that matches, in one go: JupyterLab may draw any of it anew at any moment."""
        script = "return [...document.querySelectorAll(arguments[0])].map(found => found.textContent.trim())"
        texts: list[str] = self.browser.execute_script(script, selector)
        return texts

    def save(self) -> None:
        """Saves the notebook by the menu, and waits until its tab has lost the mark of unsaved changes."""
        self.menu("File", "docmanager:save")
        self.wait(lambda: not self.all(".lm-TabBar-tab.lm-mod-current.jp-mod-dirty"), "it was saved")

    def close(self) -> None:
        """Ends the browser."""
        self.browser.quit()
