"""What pyproject.toml cannot say: which packages a wheel asks for, and what of the kit it carries."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
_END = "# What a wheel does not ask for."
"""In requirements.txt, what stands above it is what labs need."""


def needed() -> list[str]:
    """Return what requirements.txt pins for labs, at least in that version."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").partition(f"\n{_END}\n")[0].splitlines()
    return [line.replace("==", ">=") for line in lines if "==" in line]


class BuildWithLabs(build_py):
    """Puts the labs of students into the package, as ``linklab.carried_labs`` finds them, the studies, as
    ``linklab.discovery`` does, and Linklab's own simpleperf, sealed. No solution is carried.
    """

    def run(self) -> None:
        """Build, and add them, but for an installation that only points to this folder."""
        super().run()
        if self.editable_mode:
            return
        sys.path.insert(0, str(ROOT / "lib"))
        from linklab.measure.reference import sealed

        labs = sorted(path for path in (ROOT / "labs").iterdir() if path.suffix in (".ipynb", ".md", ".py"))
        carried = Path(self.build_lib, "linklab", "carried")
        self.mkpath(str(carried / "labs"))
        for path in labs:
            self.copy_file(str(path), str(carried / "labs" / path.name))
        for path in sorted((ROOT / "studies").rglob("*")):
            if path.suffix in (".py", ".toml"):
                to = carried / path.relative_to(ROOT)
                self.mkpath(str(to.parent))
                self.copy_file(str(path), str(to))
        program = ROOT / "solutions" / "simpleperf.py"
        (carried / program.name).write_text(sealed(program), "ascii")


setup(install_requires=needed(), cmdclass={"build_py": BuildWithLabs})
