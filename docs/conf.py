"""The documentation site: `make docs` builds it with Sphinx and MyST-NB, without a network.

The source folder is the kit's own, so that a link between documents is the same on the site and in the repository.
"""

from __future__ import annotations

import ast
import atexit
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

KIT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(KIT))
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # pages call `linklab`
os.environ["COLUMNS"] = "100"  # whatever terminal this one is, usage is broken into lines at the same words

# Pages are run without what somebody has at home for IPython and matplotlib (whose list of fonts may be another one's).
_home = tempfile.mkdtemp(prefix="linklab-site-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ |= {"IPYTHONDIR": _home, "MPLCONFIGDIR": _home}
_profile = Path(_home, "profile_default", "ipython_kernel_config.py")
_profile.parent.mkdir()
_profile.write_text("get_config().IPKernelApp.log_level = 'ERROR'\n", encoding="utf-8")

import matplotlib.font_manager  # noqa: E402, F401 - makes that list, before pages do

import linklab  # noqa: E402
from linklab.errors import LinklabError  # noqa: E402
from linklab.runtime.backends import choose  # noqa: E402
from tools.site import PUBLIC, commands, labs, search, terminal  # noqa: E402

project = "Linklab"
version = release = linklab.__version__
root_doc = "docs/index"
include_patterns = ["docs/**", "CONTRIBUTING.md", "README.md", "CHANGELOG.md", "SECURITY.md", "labs/glossary.md"]
exclude_patterns = [".git", ".venv", "build", "docs/examples", "docs/studies/data"]
extensions = ["myst_nb", "sphinx.ext.autodoc"]

myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_error_lexer = "text"
# What a notebook keeps for `linklab report`, and no reader sees.
suppress_warnings = ["mystnb.unknown_mime_type"]

# A docstring puts names and words of code between single backticks.
default_role = "py:obj"
autodoc_member_order = "groupwise"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "pydata_sphinx_theme"
html_title = "Linklab"
html_static_path = ["static", "../lib/linklab/show/tokens.css"]
html_css_files = ["tokens.css", "site.css"]
html_favicon = "static/favicon.svg"
html_search_scorer = str(KIT / "docs/static/search.js")
html_copy_source = False
html_show_copyright = False
html_theme_options: dict[str, Any] = {
    "logo": {"image_light": "static/favicon.svg", "image_dark": "static/favicon.svg", "text": "Linklab"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "docs/index": []},
}
html_sidebars: dict[str, list[str]] = {"docs/index": [], "README": []}


def _know_types(_: Sphinx) -> None:
    """Import what modules import for the type checker alone, since signatures name it."""
    for package in PUBLIC:
        room = importlib.import_module(package)
        for name in room.__all__:
            getattr(room, name)  # loads what is loaded late
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "linklab"]:
        for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                exec(compile(ast.Module(node.body, []), str(module.__file__), "exec"), vars(module))


def _need_labs(_: Sphinx) -> None:
    """Refuse to build where no lab starts: what the pages show is what their code prints."""
    try:
        choose()
    except LinklabError as error:
        sys.exit(f"linklab: the site's examples are run in labs, and none starts here: {error}")


def _as_text(_: Sphinx, __: object, node: Any, shown: nodes.Node) -> nodes.Node | None:
    """Show a name of a docstring or signature that is no public one as it is. All other links must lead somewhere."""
    ours = str(node.get("refdoc", "")).startswith("docs/reference/") and node.get("refdomain") == "py"
    return shown if ours else None


def _lead_there(app: Sphinx, failed: Exception | None) -> None:
    """Write the address that people type, which leads to the first page."""
    if failed is None and app.builder.format == "html":
        to = '<!DOCTYPE html><meta charset="utf-8"><title>Linklab</title>'
        to += '<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">Linklab</a>\n'
        Path(app.outdir, "index.html").write_text(to, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Tell Sphinx of what is our own."""
    app.connect("builder-inited", _need_labs)
    app.connect("builder-inited", _know_types)
    app.connect("missing-reference", _as_text)
    app.connect("build-finished", _lead_there)
    commands.setup(app)
    labs.setup(app)
    search.setup(app)
    terminal.setup(app)
