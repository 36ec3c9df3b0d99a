"""The curve of bounds against rows: the papers' formulas by hand, and the table of the page."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import bounds
from radboost import DeepBoostClassifier, guarantees
from reference.data import smooth, smooth_classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_theorem_as_printed_and_put_right(n_classes: int) -> None:
    X, y = smooth(1, m=300) if n_classes == 2 else smooth_classes(1, m=300)
    model = DeepBoostClassifier.paper(10, max_depth=2).fit(X, y)
    ensemble, margins = model.ensemble_, guarantees.margins(model, X, y)
    weights, p = np.abs(ensemble.weights), ensemble.n_families
    mean = weights @ ensemble.complexities / weights.sum()
    for times in (bounds.AS_PRINTED, bounds.PUT_RIGHT):
        totals = []
        for rho in guarantees.RHO_GRID:
            ratio = n_classes**2 * rho**2 * 300 / (4 * math.log(p))
            n = max(1, math.ceil(times / rho**2 * math.log(ratio))) if ratio > 1 else 1
            terms = [
                np.mean(margins <= rho + 1e-12),
                {2: 4, 3: 24}[n_classes] / rho * mean,
                2 / rho * math.sqrt(math.log(p) / 300),
                math.sqrt(n * math.log(p) / 300 + math.log(2 * 32 / 0.05) / 600),
            ]
            totals.append(sum(terms))
        assert bounds.of_the_papers(model, X, y, times) == pytest.approx(min(totals))
    printed, put_right = (bounds.of_the_papers(model, X, y, times) for times in (4.0, 16.0))
    assert guarantees.bound(model, X, y).total < printed < put_right


def test_the_table_goes_into_the_page(tmp_path) -> None:
    page = bounds.PAGE.read_text(encoding="utf-8")
    found = [bounds.Point("a", 1000, 0.1, 5.0, 5.5, 1.5), bounds.Point("b", 20_000, 0.01, 2.0, 2.1, 0.44)]
    new = bounds.table(found)
    assert new.splitlines()[2:] == [
        "| a | 1,000 | 0.100 | 5.00 | 5.50 | 1.500 |",
        "| b | 20,000 | 0.010 | 2.00 | 2.10 | **0.440** |",
    ]
    changed = bounds.with_table(page, new)
    assert new in changed
    assert len(changed.splitlines()) == len(page.splitlines()) - bounds.TABLE.search(page)[0].count("\n") + 5
    with pytest.raises(ValueError, match="one table"):
        bounds.with_table("nothing", new)
    pytest.importorskip("matplotlib")
    bounds.draw(found, tmp_path / "bounds.png")
    assert (tmp_path / "bounds.png").read_bytes().startswith(b"\x89PNG")
