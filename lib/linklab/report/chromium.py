"""A page as a PDF file, printed by the distribution's Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.runtime import bwrap

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


_PRINTED: Final = "page.pdf"


def find() -> str:
    """Chromium's path. Raises LinklabError naming what to install."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found:
            return found
    raise LinklabError("a PDF file needs Chromium, which is not installed: sudo apt-get install chromium")


def print_pdf(page: Path, pdf: Path, program: str) -> None:
    """Prints a page into a file, at one stroke. Raises LinklabError where Chromium does not do it, OSError otherwise.

    Chromium gets a profile of its own for this, reaches no network, and shows the page in its sandbox, which refuses to
    run as root: for root it is another user, who sees no file but the page (bubblewrap).
    """
    as_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory(prefix="linklab-report-", ignore_cleanup_errors=True) as folder:
        # Chromium of some distributions sees the temporary folder of its own alone; a folder beside the page works.
        made = pdf.with_name(f".{pdf.name}.{os.getpid()}.pdf")
        try:
            if as_root:
                said = _run_as_another(program, page, Path(folder))
                printed = Path(folder, _PRINTED)
                if printed.is_file() and not printed.is_symlink():
                    shutil.copyfile(printed, made)
            else:
                said = _run(_command(program, folder, made.resolve(), page.resolve()))
            if not made.is_file() or made.read_bytes()[:5] != b"%PDF-":
                again = "; run linklab report as an ordinary user instead of root" if as_root else ""
                raise LinklabError(f"{program} printed no PDF file of {page}: {said or 'it said nothing'}{again}")
            made.replace(pdf)
        finally:
            made.unlink(missing_ok=True)


def _command(program: str, profile: str, pdf: Path, page: Path) -> list[str]:
    return [program, *_FLAGS, f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.as_uri()]


def _run_as_another(program: str, page: Path, folder: Path) -> str:
    """Print the page into `_PRINTED` of a folder; the last line of what the program complains of."""
    home = Path(bwrap.HOME)
    shutil.copyfile(page, folder / "page.html")
    settings = (f"/etc/{name}" for name in ("chromium", "chromium.d", "fonts"))
    more = ["--unshare-net", *(word for it in settings for word in ("--ro-bind-try", it, it))]
    words = _command(program, f"{home}/profile", home / _PRINTED, home / "page.html")
    return _run([*bwrap.for_program(folder, program, more=more), *words], bwrap.program_environment())


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """The last line of what a program complains of."""
    process = subprocess.Popen(
        command,
        env=environment,
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
