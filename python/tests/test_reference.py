"""The page of the reference shows the docstrings as they are."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date(capsys):
    runpy.run_path(str(ROOT / "tools" / "python_reference"), run_name="__main__")
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    assert capsys.readouterr().out == page, "write it again: tools/python_reference says how"
