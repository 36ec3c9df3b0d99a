"""`skops.io` keeps fitted models; what a user has to trust are classes of RadBoost alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from properties.cases import Case, essence, one_of_each

skops_io = pytest.importorskip("skops.io")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PAGE = Path(__file__).parents[2] / "docs" / "exporting.md"


@one_of_each(lambda case: not case.sourced)  # these cases put functions of the tests into their models
def test_kept_by_skops(case: Case) -> None:
    X, y = case.data(3, missing=0.1)
    model = case.make(n_jobs=1).fit(X, y)
    expected = essence(model, X)
    if hasattr(model, "staged_predict"):
        list(model.staged_predict(X))  # trees then keep what they predict with, which no file does
    for hypothesis in getattr(model.ensemble_, "hypotheses", ()):
        hypothesis.values(X)
    written = skops_io.dumps(model)
    to_trust = skops_io.get_untrusted_types(data=written)
    assert all(name.startswith("radboost.") for name in to_trust)
    listed = set(re.findall(r"`(radboost\.[\w.]+)`", PAGE.read_text(encoding="utf-8")))
    assert set(to_trust) <= listed
    assert essence(skops_io.loads(written, trusted=to_trust), X) == expected
