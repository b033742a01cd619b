# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx settings: ``sphinx-build -W -b html docs docs/_build``."""

import sys
from pathlib import Path

import sklearn_ltr

DOCS = Path(__file__).parent

project = "sklearn_ltr"
author = "The sklearn_ltr developers"
copyright = author
version = release = sklearn_ltr.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "autolink"  # `name` in a docstring links to what has a page, else is code

autodoc_default_options = {
    "members": True,
    "inherited-members": True,
    # scikit-learn's documentation has these, with references that resolve only there.
    "exclude-members": "get_metadata_routing, set_callbacks, set_fit_request, set_output, "
    "set_predict_request, set_score_request, set_transform_request",
}
numpydoc_show_class_members = False  # autodoc lists the methods
toc_object_entries_show_parents = "hide"  # "fit" and not "MPBoost.fit" on the right

myst_heading_anchors = 2  # links such as #grids, in Markdown pages

copybutton_exclude = ".linenos, .gp, .go"  # prompts and output are not copied

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py",  # all of them are run
    "abort_on_example_error": True,
    "within_subsection_order": "gallery.first_steps_first",
    "doc_module": ("sklearn_ltr",),
    "backreferences_dir": "api/backreferences",
    "image_srcset": ["2x"],
    "default_thumb_file": str(DOCS / "_static" / "thumbnail.png"),
    "download_all_examples": False,
    "write_computation_times": False,
}

html_title = project
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "logo": {"text": project},
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "user_guide/choosing": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_logo = html_favicon = "_static/logo.svg"
html_sidebars = {"index": [], "install": [], "quickstart": [], "citing": [], "benchmarks/*": []}
html_show_sourcelink = False
html_css_files = ["site.css"]
html_static_path = ["_static"]


def _no_mail(app, doctree):
    # NDCG@10 is not an address.
    from docutils import nodes  # here, so that pytest can import this file without Sphinx

    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def setup(app):
    sys.path.insert(0, str(DOCS))  # sphinx-gallery imports gallery.py by name
    app.connect("doctree-read", _no_mail)
