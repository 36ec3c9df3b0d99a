"""What all tests of searches have in common."""

from __future__ import annotations

import pytest

from radboost.tuning import race


@pytest.fixture(autouse=True)
def few_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer repeats of the folds than small data would have."""
    monkeypatch.setattr(race, "FIRST_PREDICTIONS", 160)
    monkeypatch.setattr(race, "LAST_PREDICTIONS", 300)
