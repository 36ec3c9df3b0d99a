"""The sequence alignment experiment of Storcheus's thesis (2021), section 6.6.2, on generated sequences.

An example is a native sequence, which is to be predicted, and what is seen of it: a homologous sequence, made from it
by a few substitutions, insertions and deletions, and a decoy, which agrees with the native one at as many places, but
scattered ones. By places both are as good a model; by local alignment the homologous one is far better, and only a
model that is trained on the alignment can know. The thesis does not say how it generated its sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from papers.study import Facts, Study
from radboost.structured import SequenceClassifier, StringLoss, loss_value, smith_waterman
from radboost.structured.losses import get_string_loss

METHODS = ("cross_entropy", "hamming", "ngram", "edit_distance", "smith_waterman")
LENGTH, SYMBOLS, TRAINED, TESTED, SEEDS = 50, 4, 40, 100, 10
SUBSTITUTED, EDITS, DECOY = 0.05, 3, 0.4
ORDER, ALPHA, STATES, ROUNDS = 2, 0.01, 3000, 60
PAPER = {"cross_entropy": 42.73, "smith_waterman": 44.65}


@dataclass(frozen=True)
class Example:
    native: NDArray[np.int64]
    homologous: NDArray[np.int64]
    decoy: NDArray[np.int64]

    @property
    def seen(self) -> NDArray[np.float64]:
        """At each place the symbol of the homologous sequence and that of the decoy, as indicators."""
        eye = np.eye(SYMBOLS)
        return np.hstack([eye[self.homologous], eye[self.decoy]])


def make_example(rng: np.random.Generator, length: int = LENGTH) -> Example:
    native = rng.integers(0, SYMBOLS, length)
    homologous = np.where(rng.random(length) < SUBSTITUTED, rng.integers(0, SYMBOLS, length), native).tolist()
    for _ in range(EDITS):
        place = int(rng.integers(0, length))
        if rng.random() < 0.5:
            del homologous[place]
            homologous.append(int(rng.integers(SYMBOLS)))
        else:
            homologous.insert(place, int(rng.integers(SYMBOLS)))
            homologous.pop()
    decoy = np.where(rng.random(length) < DECOY, native, rng.integers(0, SYMBOLS, length))
    return Example(native, np.array(homologous), decoy)


def alignment_score(one: Any, other: Any) -> float:
    """The Smith-Waterman score of two sequences, 2 for a match and -1 for anything else."""
    return -loss_value(smith_waterman(), one, other, SYMBOLS)


def fit_alignment_unit(facts: dict[str, Any], data_dir: str | None = None) -> dict[str, Any]:
    """A model trained by one loss: its predictions' mean score against the native sequences, and places they share."""
    rng = np.random.default_rng([facts["seed"], facts["fold"], 6])
    examples = [make_example(rng, facts["length"]) for _ in range(facts["n_train"] + facts["n_test"])]
    learned, tested = examples[: facts["n_train"]], examples[facts["n_train"] :]
    loss: StringLoss = get_string_loss(facts["alignment"])
    model = SequenceClassifier(
        loss, order=ORDER, alpha=ALPHA, max_states=facts["max_states"], n_rounds=ROUNDS, n_jobs=1
    ).fit([one.seen for one in learned], [one.native for one in learned])
    predicted = model.predict([one.seen for one in tested])
    pairs = list(zip(predicted, tested, strict=True))
    return {
        "score": float(np.mean([alignment_score(string, one.native) for string, one in pairs])),
        "places": float(np.mean([np.mean(string == one.native) for string, one in pairs])),
        "nearer": float(np.mean([_nearer(string, one) for string, one in pairs])),
        "exact": model.exact_,
        "objective_error": model.objective_error_,
        "homologous": float(np.mean([alignment_score(one.homologous, one.native) for one in tested])),
        "decoy": float(np.mean([alignment_score(one.decoy, one.native) for one in tested])),
    }


def _nearer(string: NDArray[Any], one: Example) -> bool:
    """Whether the prediction is aligned better with the native sequence than the decoy is."""
    return alignment_score(string, one.native) > alignment_score(one.decoy, one.native)


@dataclass(frozen=True)
class AlignmentStudy(Study):
    """Models trained by each loss, judged by the alignment of what they predict, over ten draws of the sequences."""

    name: str = "structured-alignment"
    title: str = "Storcheus (2021), section 6.6.2: sequence alignment, trained by the loss that counts and by others"

    named_by = "alignment"
    legend = (
        "means (standard deviations) over the draws. score: Smith-Waterman score of predicted and native sequences (2\n"
        "for a match, -1 otherwise), by which models are judged; places: share of places that agree; nearer: share of\n"
        "predictions that are aligned better than the decoy; gain: mean difference of scores from cross-entropy's on\n"
        "the same draws, and the p-value of a paired t-test; bound: what the true objective can differ from the one\n"
        "that was minimised, where losses were known within bounds only. paper: on sequences of its own, unspecified"
    )

    @property
    def heading(self) -> str:
        return _line("trained by", ["score", "places", "nearer", "gain", "p", "bound", "paper"])

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        del datasets
        size = (
            {"length": 15, "n_train": 20, "n_test": 30}
            if quick
            else {"length": LENGTH, "n_train": TRAINED, "n_test": TESTED}
        )
        folds = range(3 if quick else SEEDS)
        same = {**size, "max_states": 500 if quick else STATES}
        return [{"alignment": method, "fold": fold, **same} for method in METHODS for fold in folds]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_alignment_unit(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        found: dict[str, dict[int, dict[str, Any]]] = {}
        for outcome in outcomes:
            found.setdefault(outcome.facts["alignment"], {})[outcome.facts["fold"]] = outcome.result
        usual = found.get("cross_entropy", {})
        lines = []
        for method, results in found.items():
            columns = [[one[key] for one in results.values()] for key in ("score", "places", "nearer")]
            cells = [f"{np.mean(column):.3f} ({np.std(column):.3f})" for column in columns]
            folds = sorted(set(results) & set(usual))
            cells += _compared([results[k]["score"] for k in folds], [usual[k]["score"] for k in folds], method)
            cells.append(f"{np.mean([one['objective_error'] for one in results.values()]):.2f}")
            lines.append(_line(method, [*cells, f"{PAPER[method]:.2f}" if method in PAPER else ""]))
        some = next(iter(found.values())).values()
        for what in ("homologous", "decoy"):
            scores = [one[what] for one in some]
            lines.append(_line(f"the {what}", [f"{np.mean(scores):.3f} ({np.std(scores):.3f})"]))
        return lines


def _compared(scores: list[float], usual: list[float], method: str) -> list[str]:
    if method == "cross_entropy" or len(scores) < 2:
        return ["", ""]
    return [f"{np.mean(np.subtract(scores, usual)):+.3f}", f"{ttest_rel(scores, usual).pvalue:.1e}"]


def _line(method: str, cells: Sequence[str]) -> str:
    return f"{method:<17}{''.join(f'{cell:>18}' for cell in cells)}".rstrip()


STUDIES = (AlignmentStudy(),)
