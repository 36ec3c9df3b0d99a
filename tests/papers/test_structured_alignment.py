"""The alignment experiment: sequences that differ in what counts, and models that notice or do not."""

import numpy as np
import pytest

from papers import STUDIES, studies
from papers.plots import draw_study
from papers.structured_alignment import METHODS, alignment_score, fit_alignment_unit, make_example

STUDY = STUDIES["structured-alignment"]


def test_homologous_sequences_and_decoys_agree_at_as_many_places_but_not_aligned():
    rng = np.random.default_rng(0)
    examples = [make_example(rng) for _ in range(150)]
    places = [[np.mean(one.native == other) for other in (one.homologous, one.decoy)] for one in examples]
    homologous, decoy = np.mean(places, axis=0)
    assert abs(homologous - decoy) < 0.06
    scores = [[alignment_score(other, one.native) for other in (one.homologous, one.decoy)] for one in examples[:30]]
    assert np.mean(scores, axis=0)[0] > 1.5 * np.mean(scores, axis=0)[1]
    assert alignment_score(examples[0].native, examples[0].native) == 100.0


def test_training_on_the_alignment_pays():
    scores = {}
    for method in ("cross_entropy", "smith_waterman"):
        facts = {"alignment": method, "seed": 0, "length": 20, "n_train": 30, "n_test": 60, "max_states": 1000}
        scores[method] = [fit_alignment_unit(facts | {"fold": fold})["score"] for fold in range(2)]
    assert min(np.subtract(scores["smith_waterman"], scores["cross_entropy"])) > 1.0


def test_report_and_plot():
    wanted = studies.units(STUDY, quick=True)
    assert len(wanted) == 3 * len(METHODS)
    small = [facts | {"length": 6, "n_train": 4, "n_test": 4, "max_states": 50} for facts in wanted]
    outcomes = list(studies.run(STUDY, small))
    lines = STUDY.rows(outcomes)
    assert [line.split()[0] for line in lines] == [*METHODS, "the", "the"]
    assert lines[0].endswith("42.73")
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    figure = draw_study(STUDY, outcomes)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == [m.replace("_", " ") for m in METHODS]
