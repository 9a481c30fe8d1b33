"""The Python code of the pages runs, on a table of houses with strings and gaps."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = 80
    houses = pd.DataFrame({
        "area": rng.normal(120, 30, rows).round(),
        "district": rng.choice(["north", "south", "harbour"], rows),
        "garden": rng.random(rows) > 0.4,
    })
    houses["price"] = 3 * houses["area"] + 100 * (houses["district"] == "harbour") + rng.normal(0, 20, rows)
    houses.loc[rng.choice(rows, 6), "area"] = np.nan
    houses.loc[rng.choice(rows, 6), "district"] = None
    houses.to_csv(tmp_path / "houses.csv", index=False)
    monkeypatch.chdir(tmp_path)


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/how-to/python.md"])
@pytest.mark.usefixtures("folder")
def test_the_code_of_the_page_runs(page):
    names: dict = {}
    first, *others = blocks(page)
    exec(first, names)
    for block in others:
        exec(block, {**names, "X": names["X_test"], "y": names["y_test"].to_numpy()})
    if page == "README.md":
        assert len(first.strip().splitlines()) == 10
        inside = (names["low"] <= names["y_test"]) & (names["y_test"] <= names["high"])
        assert inside.mean() > 0.7
    plt.close("all")
