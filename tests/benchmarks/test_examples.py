"""The commands behind figures in the documents, and the settings that docs/defaults.md compares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import examples
from radboost import DeepBoostClassifier
from radboost.trees import with_tree_options

CANDIDATES = Path(examples.__file__).parent / "accuracy" / "candidates"


def test_the_table_of_costs_is_replaced_and_nothing_else() -> None:
    page = examples.PAGE.read_text(encoding="utf-8")
    new = examples.table([("`Model()`", 1.1214, 0.25), ("forest", 0.6136, 0.3728)])
    assert new.splitlines()[2:] == ["| `Model()` | 1.121 | .250 |", "| forest | .614 | .373 |"]
    changed = examples.with_table(page, new)
    assert new in changed
    assert "balanced weights |" not in changed
    old = examples.TABLE.search(page)
    assert old is not None
    assert changed.replace(f"{new}\n", old.group()) == page
    with pytest.raises(ValueError, match=r"costs\.md must hold one table"):
        examples.with_table("nothing", new)


@pytest.mark.parametrize(("name", "at_least"), [("two", 20), ("many", 20), ("variants", 2)])
def test_candidates_are_settings_of_deepboost(name: str, at_least: int) -> None:
    candidates = json.loads((CANDIDATES / f"{name}.json").read_text())
    assert len(candidates) >= at_least
    assert len({json.dumps(parameters, sort_keys=True) for parameters in candidates.values()}) == len(candidates)
    for parameters in candidates.values():
        DeepBoostClassifier(**with_tree_options(parameters))._read_parameters()
