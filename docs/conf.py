"""Sphinx configuration: everything is built offline, and a warning is an error (make docs)."""

from sawtooth._version import __version__

project = "sawtooth"
author = "The sawtooth developers"
copyright = "2026, The sawtooth developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

# Parameters named like attributes (recall, precision) are not meant as links.
suppress_warnings = ["ref.python"]

autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"sawtooth {release}"
