# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx settings: ``sphinx-build -W -b html docs docs/_build``."""

import sklearn_ltr

project = "sklearn_ltr"
author = "The sklearn_ltr developers"
copyright = author
version = release = sklearn_ltr.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
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

html_title = project
html_theme = "pydata_sphinx_theme"
html_theme_options = {"navigation_with_keys": False}


def _no_mail(app, doctree):
    # NDCG@10 is not an address.
    from docutils import nodes  # here, so that pytest can import this file without Sphinx

    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def setup(app):
    app.connect("doctree-read", _no_mail)
