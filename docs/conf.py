"""Sphinx's settings: ``python -m sphinx -d build/doctrees docs build/site``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import cudnn_ctypes
from tools.reference_pages import write_reference

write_reference()

gc.set_threshold(100_000, 50, 100)  # a fifth of the build was spent on looking for garbage

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
numpydoc_show_class_members = False
autodoc_typehints = "none"  # docstrings say types shorter
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
html_theme = "pydata_sphinx_theme"
html_title = "cudnn_ctypes"
html_theme_options = {
    "navigation_depth": 2,
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
