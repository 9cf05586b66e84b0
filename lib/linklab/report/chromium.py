"""A page as a PDF file, printed by the distribution's Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIMIT_S: Final = 300
_FLAGS: Final = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    # The page needs no network, and it shows what others wrote.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
)


def find() -> str:
    """Chromium's path. Raises LinklabError naming what to install."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found:
            return found
    raise LinklabError("a PDF file needs Chromium, which is not installed: sudo apt-get install chromium")


def print_pdf(page: Path, pdf: Path, program: str) -> None:
    """Prints a page into a file, at one stroke. Raises LinklabError where Chromium does not do it, OSError otherwise.

    Chromium gets a profile of its own for this, and reaches no network.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-report-", ignore_cleanup_errors=True) as folder:
        # Chromium of some distributions sees the temporary folder of its own alone; a folder beside the page works.
        made = pdf.with_name(f".{pdf.name}.{os.getpid()}.pdf")
        command = [program, *_FLAGS, f"--user-data-dir={folder}", f"--print-to-pdf={made.resolve()}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium's own refuses to run as root
        try:
            said = _run([*command, page.resolve().as_uri()])
            if not made.is_file() or made.read_bytes()[:5] != b"%PDF-":
                raise LinklabError(f"{program} printed no PDF file of {page}: {said or 'it said nothing'}")
            made.replace(pdf)
        finally:
            made.unlink(missing_ok=True)


def _run(command: list[str]) -> str:
    """The last line of what a program complains of."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        complaint = process.communicate(timeout=LIMIT_S)[1]
    except subprocess.TimeoutExpired:
        raise LinklabError(f"{command[0]} was not done with the PDF file after {LIMIT_S} s and was ended") from None
    finally:
        _end(process)
    lines = complaint.strip().splitlines()
    return lines[-1][:200] if lines else ""


def _end(process: subprocess.Popen[str]) -> None:
    # Chromium is many processes, which are a group of their own here
    if process.poll() is None:
        os.killpg(process.pid, 9)
        process.wait()
