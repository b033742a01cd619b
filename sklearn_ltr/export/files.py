# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the text of an export goes."""

import os


def written(text, file):
    """The text if there is no file; else it is written there.

    Parameters
    ----------
    file : str, path, text file or None
    """
    if file is None:
        return text
    if hasattr(file, "write"):
        file.write(text)
    elif isinstance(file, str | os.PathLike):
        with open(file, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    else:
        raise TypeError(f"`file` must be a path, a text file or None; got {file!r}.")
    return None
