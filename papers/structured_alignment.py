"""Sequence alignment experiment of Storcheus's thesis (2021), section 6.6.2, on generated sequences.

A native sequence is predicted from two others: a homologous sequence, made from it by a few substitutions, insertions
and deletions, and a decoy, which agrees with the native one at as many positions, but scattered ones. By positions both
are as good; by local alignment the homologous one is far better, and only a model that is trained on the alignment can
learn that. The thesis does not say how it generated its sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from papers.harness import Facts, Outcome, Result, Row, Study, distinct, mean_std, results_of
from radboost.structured import SequenceClassifier, StringLoss, loss_value, smith_waterman
from radboost.structured.losses import get_string_loss

METHODS = ("cross_entropy", "hamming", "ngram", "edit_distance", "smith_waterman")
LENGTH, SYMBOLS, TRAINED, TESTED, SEEDS = 50, 4, 40, 100, 10
SUBSTITUTED, EDITS, DECOY = 0.05, 3, 0.4
ORDER, ALPHA, STATES, ROUNDS = 2, 0.01, 3000, 60
PAPER = {"cross_entropy": 42.73, "smith_waterman": 44.65}


@dataclass(frozen=True)
class Example:
    """Three sequences of symbols, each of shape (length,)."""

    native: NDArray[np.int64]
    homologous: NDArray[np.int64]
    decoy: NDArray[np.int64]

    @property
    def seen(self) -> NDArray[np.float64]:
        """Symbols of the homologous sequence and of the decoy as indicators, shape (length, 2 * SYMBOLS)."""
        eye = np.eye(SYMBOLS)
        return np.hstack([eye[self.homologous], eye[self.decoy]])


def make_example(rng: np.random.Generator, length: int = LENGTH) -> Example:
    native = rng.integers(0, SYMBOLS, length)
    homologous = np.where(rng.random(length) < SUBSTITUTED, rng.integers(0, SYMBOLS, length), native).tolist()
    for _ in range(EDITS):
        position = int(rng.integers(0, length))
        if rng.random() < 0.5:
            del homologous[position]
            homologous.append(int(rng.integers(SYMBOLS)))
        else:
            homologous.insert(position, int(rng.integers(SYMBOLS)))
            homologous.pop()
    decoy = np.where(rng.random(length) < DECOY, native, rng.integers(0, SYMBOLS, length))
    return Example(native, np.array(homologous), decoy)


def alignment_score(one: Any, other: Any) -> float:
    """Smith-Waterman score of two sequences, 2 for a match and -1 for anything else."""
    return -loss_value(smith_waterman(), one, other, SYMBOLS)


@dataclass(frozen=True)
class AlignmentStudy(Study):
    """Models trained by each loss, evaluated by the alignment of what they predict, over ten draws of the sequences."""

    runs = 10
    quick_runs = 3
    columns = ("trained by", "score", "places", "nearer", "gain", "p", "bound", "paper")
    legend = (
        "means (standard deviations) over the draws. score: Smith-Waterman score of predicted and native sequences (2\n"
        "for a match, -1 otherwise), by which models are evaluated; places: fraction of positions that agree; nearer:\n"
        "fraction of predictions that are aligned better than the decoy; gain: mean difference of scores from\n"
        "cross-entropy's on the same draws, and the p-value of a paired t-test; bound: what the true objective can\n"
        "differ from the one that was minimized, if losses were known within bounds only. paper: on sequences of its\n"
        "own, unspecified"
    )

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        size = {"length": LENGTH, "n_train": TRAINED, "n_test": TESTED, "max_states": STATES}
        if quick:
            size = {"length": 15, "n_train": 20, "n_test": 30, "max_states": 500}
        return [{"alignment": method, "fold": fold, **size} for method in METHODS for fold in range(runs)]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Train a model by one loss; mean measures of its predictions."""
        rng = np.random.default_rng([facts["seed"], facts["fold"], 6])
        examples = [make_example(rng, facts["length"]) for _ in range(facts["n_train"] + facts["n_test"])]
        learned, tested = examples[: facts["n_train"]], examples[facts["n_train"] :]
        loss: StringLoss = get_string_loss(facts["alignment"])
        model = SequenceClassifier(
            loss, order=ORDER, alpha=ALPHA, max_states=facts["max_states"], n_rounds=ROUNDS, n_jobs=1
        ).fit([one.seen for one in learned], [one.native for one in learned])
        predicted = model.predict([one.seen for one in tested])
        pairs = list(zip(predicted, tested, strict=True))
        scores = [alignment_score(string, one.native) for string, one in pairs]
        decoys = [alignment_score(one.decoy, one.native) for one in tested]
        return {
            "score": float(np.mean(scores)),
            "places": float(np.mean([np.mean(string == one.native) for string, one in pairs])),
            "nearer": float(np.mean(np.greater(scores, decoys))),
            "exact": model.exact_,
            "objective_error": model.objective_error_,
            "homologous": float(np.mean([alignment_score(one.homologous, one.native) for one in tested])),
            "decoy": float(np.mean(decoys)),
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        usual = [one["score"] for one in results_of(outcomes, alignment=METHODS[0])]
        for method in distinct(outcomes, "alignment"):
            results = results_of(outcomes, alignment=method)
            cells = [mean_std([one[key] for one in results], 3) for key in ("score", "places", "nearer")]
            scores, compared = [one["score"] for one in results], ["", ""]
            if method != METHODS[0] and len(scores) > 1:
                compared = [f"{np.mean(np.subtract(scores, usual)):+.3f}", f"{ttest_rel(scores, usual).pvalue:.1e}"]
            bound = f"{np.mean([one['objective_error'] for one in results]):.2f}"
            rows.append([method, *cells, *compared, bound, f"{PAPER[method]:.2f}" if method in PAPER else ""])
        for what in ("homologous", "decoy"):
            scores = [one[what] for one in results_of(outcomes, alignment=METHODS[0])]
            rows.append([f"the {what}", mean_std(scores, 3), *[""] * 6])
        return rows


STUDIES = (
    AlignmentStudy(
        "structured-alignment",
        "Storcheus (2021), section 6.6.2: sequence alignment, trained by the loss that counts and by others",
    ),
)
