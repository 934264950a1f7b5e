"""How Sphinx makes a site of these pages: `make docs`, into site/, without a network."""

project = "undust"
copyright = "the undust developers, Apache-2.0"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = "undust"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

# The commands shown are commands of a shell, with what they print; there is no lexer for that which knows undust.
highlight_language = "text"
