"""Figure 6.5 of the thesis, the sum over all strings beside automata; and its alignment experiment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from papers import structured, structured_alignment
from papers.harness import Outcome, run
from papers.structured_alignment import METHODS, alignment_score, make_example
from radboost.structured import LossCache, gradient_terms

(STUDY,), (ALIGNMENT,) = structured.STUDIES, structured_alignment.STUDIES
SMALL = replace(STUDY, quick_lengths=(2, 3, 9), longest_naive=4, max_states=200)
TIMES = ("made", "kept", "naive")


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("name", structured.LOSSES)
def test_the_naive_sum_is_what_automata_find(name: str, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured, "BLOCK", 700)  # several blocks, the last one shorter
    for trial in range(3):
        y, potentials = structured.draw(length, 0, trial)
        log_z, q = structured.naive_terms(structured.LOSSES[name], y, potentials)
        terms = gradient_terms(structured.LOSSES[name], y, potentials, order=2, cache=LossCache())
        assert log_z == pytest.approx(terms.log_z, abs=1e-9)
        np.testing.assert_allclose(q, terms.q, atol=1e-9)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return run(SMALL, SMALL.wanted(quick=True))


def test_what_a_unit_finds(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        found = outcome.result
        assert len(found["made"]) == len(found["kept"]) == len(found["log_z"]) == 2
        assert len(found["naive"]) == (2 if outcome.facts["length"] <= 3 else 0)
        assert found["naive_log_z"] == pytest.approx(found["log_z"][: len(found["naive"])], abs=1e-9)
        if outcome.facts["length"] < 9:
            assert all(found["exact"])
        elif outcome.facts["structured"] == "Smith-Waterman":
            assert not any(found["exact"])  # 200 states are far too few
        for exact, error in zip(found["exact"], found["log_z_error"], strict=True):
            assert exact == (error < 1e-9)
    again = SMALL.fit(outcomes[0].facts, None)
    assert {key: again[key] for key in again if key not in TIMES} == {
        key: value for key, value in outcomes[0].result.items() if key not in TIMES
    }
    assert SMALL.fit(outcomes[0].facts | {"seed": 1}, None)["log_z"] != again["log_z"]


def test_rows_and_picture(outcomes: list[Outcome]) -> None:
    rows = SMALL.rows(outcomes)
    assert [row[:3] for row in rows] == [[name, str(k), "2"] for name in structured.LOSSES for k in (2, 3, 9)]
    for row, outcome in zip(rows, outcomes, strict=True):
        assert row[3] == f"{1e3 * np.mean(outcome.result['made']):.2f}"
        assert (row[5] == "-") == (outcome.facts["length"] == 9)
        assert row[6] == f"{np.mean(outcome.result['exact']):.0%}"
    figure = SMALL.draw(outcomes)
    assert [panel.get_title(loc="left") for panel in figure.axes] == list(structured.LOSSES)
    panel = figure.axes[1]
    lines = {line.get_label(): line for line in panel.lines}
    made = [np.mean(one.result["made"]) for one in outcomes if one.facts["structured"] == "Smith-Waterman"]
    np.testing.assert_allclose(lines["automaton made"].get_ydata(), made)
    assert lines["all strings"].get_xdata().tolist() == [2, 3]
    rings = [line for line in panel.lines if line.get_fillstyle() == "none"]
    assert [line.get_xdata().tolist() for line in rings] == [[], [9], [9]]


def test_homologous_sequences_and_decoys_agree_at_as_many_positions_but_not_aligned() -> None:
    rng = np.random.default_rng(0)
    examples = [make_example(rng) for _ in range(150)]
    places = [[np.mean(one.native == other) for other in (one.homologous, one.decoy)] for one in examples]
    homologous, decoy = np.mean(places, axis=0)
    assert abs(homologous - decoy) < 0.06
    scores = [[alignment_score(other, one.native) for other in (one.homologous, one.decoy)] for one in examples[:30]]
    assert np.mean(scores, axis=0)[0] > 1.5 * np.mean(scores, axis=0)[1]
    assert alignment_score(examples[0].native, examples[0].native) == 100.0


@pytest.mark.slow
def test_training_on_the_alignment_pays() -> None:
    scores = {}
    for method in ("cross_entropy", "smith_waterman"):
        facts = {"alignment": method, "seed": 0, "length": 20, "n_train": 30, "n_test": 60, "max_states": 1000}
        scores[method] = [ALIGNMENT.fit(facts | {"fold": fold}, None)["score"] for fold in range(2)]
    assert min(np.subtract(scores["smith_waterman"], scores["cross_entropy"])) > 1.0


@pytest.mark.slow
def test_a_small_run_of_the_alignment() -> None:
    wanted = ALIGNMENT.wanted(quick=True)
    assert len(wanted) == 3 * len(METHODS)
    small = [facts | {"length": 6, "n_train": 4, "n_test": 4, "max_states": 50} for facts in wanted]
    rows = ALIGNMENT.rows(run(ALIGNMENT, small))
    assert [row[0] for row in rows] == [*METHODS, "the homologous", "the decoy"]
    assert [row[-1] for row in rows if row[-1]] == ["42.73", "44.65"]
    assert [bool(row[5]) for row in rows] == [False, True, True, True, True, False, False]
