"""Sphinx configuration: everything is built offline, and a warning is an error (make docs)."""

import sys
from pathlib import Path

from precall._version import __version__

project = "precall"
author = "The precall developers"
copyright = "2026, The precall developers"
version = release = __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
extensions = ["myst_parser", "pages_that_run", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "_extensions"]
myst_heading_anchors = 3

# Parameters named like attributes (recall, precision) are not meant as links.
suppress_warnings = ["ref.python"]

autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"precall {release}"
