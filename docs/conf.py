"""Sphinx's settings: ``python -m sphinx -d build/doctrees docs build/site``."""

from __future__ import annotations

import functools
import gc
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from jinja2 import FileSystemLoader
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.search.en import SearchEnglish

import cudnn_ctypes
from tools.c_links import link_c_names
from tools.docstring_parts import complete_docstring
from tools.markdown_pages import write_markdown
from tools.reference_pages import reference_names, write_reference

write_reference()

gc.set_threshold(100_000, 50, 100)  # a fifth of the build was spent on looking for garbage
# Words are stemmed once, and the template of docstrings is compiled once, not for each of them.
SearchEnglish.stem = functools.cache(SearchEnglish.stem)  # type: ignore[method-assign]
_templates = FileSystemLoader(Path(docscrape_sphinx.__file__).parent / "templates")
_environment = SandboxedEnvironment(loader=_templates)
docscrape_sphinx.SandboxedEnvironment = lambda loader: _environment

project = "cudnn_ctypes"
release = version = cudnn_ctypes.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks hold their outputs, which a test compares
default_role = "py:obj"
highlight_language = "none"  # literal blocks of docstrings are formulas and C
numpydoc_show_class_members = False
autodoc_typehints = "none"  # docstrings say types shorter
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "cudnn_ctypes"
html_theme_options = {
    "navigation_depth": 2,
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": False,
}
html_context = {"reference_names": reference_names()}
_WITHOUT_NAMES = ("glossary", "types", "statuses", "versions")
html_sidebars = {
    f"{folder}*": ["sidebar-collapse.html", "names.html"]
    for folder in html_context["reference_names"]
} | {page: [] for page in ("contributing", *map("reference/{}".format, _WITHOUT_NAMES))}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False


@functools.cache
def _breakable(name: str) -> str:
    """A name of C or Python that may be broken before its capitals and after its underscores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)", "<wbr>", name)


def _add_filter(app: Any) -> None:
    app.builder.templates.environment.filters["breakable"] = _breakable


def setup(app: Any) -> None:
    """Complete docstrings and link C names in them, break names in the sidebar, write Markdown."""
    app.connect("autodoc-process-docstring", complete_docstring, priority=400)  # before numpydoc
    app.connect("missing-reference", link_c_names)
    app.connect("builder-inited", _add_filter)
    app.connect("build-finished", write_markdown)
