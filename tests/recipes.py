# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Code of the guide's pages that no doctest runs, as it needs packages that may not be there."""

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[1] / "docs" / "user_guide"


def run(page, heading, number, begins, before, after, folder):
    """Run a block of code of a page in a folder, in a fresh interpreter.

    Parameters
    ----------
    page : str
        Name of a file in the guide.
    heading : str
        Text after which blocks count.
    number : int
        Of the block, from 0 on.
    begins : str
        What the block begins with.
    before, after : str
        Code to run before and after it.
    folder : path
    """
    text = (GUIDE / page).read_text(encoding="utf-8").split(heading)[1]
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)
    code = re.sub(r"^   ", "", blocks[number], flags=re.MULTILINE)
    assert code.startswith(begins)
    result = subprocess.run(
        [sys.executable, "-c", before + code + after],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr
