"""The table of docs/coming-from.md: our names are there, and errors lead to them from the names of others."""

import inspect
import re
from pathlib import Path
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier, TreeOptions
from radboost._names import OTHER_NAMES

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
ESTIMATORS: list[Any] = [DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier]
HEADINGS = {"Parameters of the constructor": "parameter", "Options of the trees": "option", "Arguments of fit": "fit"}


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def table() -> list[list[str]]:
    """The cells of each line: ours, what it is, and the names of LightGBM, XGBoost, CatBoost and scikit-learn."""
    text = PAGE.read_text(encoding="utf-8").partition("\n## Names\n")[2].partition("\n## ")[0]
    found = []
    for heading, kind in HEADINGS.items():
        part = text.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
        for line in part.splitlines():
            if line.startswith("| `"):
                ours, *theirs = [cell.strip() for cell in line.strip("|").split("|")]
                found.append([ours, kind, *theirs])
    return found


def known(kind: str) -> set[str]:
    if kind == "option":
        return set(inspect.signature(TreeOptions).parameters)
    methods = [one if kind == "parameter" else one.fit for one in ESTIMATORS]
    return {name for method in methods for name in inspect.signature(method).parameters}


def test_the_table_is_there() -> None:
    assert len(table()) >= 25
    assert len({cells[0] for cells in table()}) == len(table())
    assert {cells[1] for cells in table()} == set(HEADINGS.values())


def test_the_names_of_the_table_are_real_and_lead_to_ours() -> None:
    """A name of another library is ours as well, or one that an error translates into ours."""
    theirs = HistGradientBoostingClassifier
    of_scikit_learn = {*inspect.signature(theirs).parameters, *inspect.signature(theirs.fit).parameters}
    for cells in table():
        assert len(cells) == 6
        (ours,) = names(cells[0])
        assert ours in known(cells[1])
        for other in (name for cell in cells[2:] for name in names(cell)):
            assert other == ours or ours in OTHER_NAMES[other], other
        assert {*names(cells[5])} <= of_scikit_learn, ours


def test_what_few_parameters_are_left_out_is_on_purpose() -> None:
    """Parameters that the page does not name have no counterpart elsewhere."""
    shown = {names(cells[0])[0] for cells in table()}
    own = {"objective", "family", "step", "calibration", "tree_options"}
    assert set(inspect.signature(DeepBoostClassifier).parameters) - shown == own
