"""Radial functions around centres, as hypotheses of sparse models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_real
from radboost.families.generators import Generator, LastLook, Proposing, Training, dense
from radboost.families.kernel import KernelHypothesis, evaluate_kernel
from radboost.families.kinds import Arrays, Kind, Names, Shape, Stored
from radboost.model_file.checks import read_array, require

PERCEPTRON_BLOCK = 256


class Centre(KernelHypothesis):
    """x -> exp(-gamma |x - centre|^2): the kernel hypothesis "rbf" for one score."""

    def __init__(self, centre: Sequence[float], gamma: float) -> None:
        # -0.0 and 0.0 are the same centre.
        super().__init__("rbf", gamma, np.array(centre, dtype=np.float64) + 0.0)

    def describe(self, names: Names, /) -> str:
        shown = ", ".join(f"{value:.3g}" for value in self.centre[:3])
        return f"K(x, [{shown}{', ...' if len(self.centre) > 3 else ''}])"

    def __hash__(self) -> int:
        return hash(self.key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Centre) and self.key() == other.key()

    def __repr__(self) -> str:
        return f"Centre(centre={tuple(self.centre.tolist())}, gamma={self.gamma!r})"


class CentreKind(Kind[Centre], of=Centre, code=2):
    def values(self, hypotheses: Sequence[Centre], X: Any) -> FloatArray:
        """Values for all centres with the same gamma at once."""
        rows = dense(X)
        values = np.empty((len(hypotheses), len(rows)))
        gammas = np.array([centre.gamma for centre in hypotheses])
        for gamma in np.unique(gammas):
            indices = np.flatnonzero(gammas == gamma).tolist()
            centres = np.array([hypotheses[index].centre for index in indices])
            values[indices] = evaluate_kernel("rbf", float(gamma), centres, rows, 1)
        return values

    def write(self, hypotheses: Sequence[Centre], n_features: int) -> Stored:
        centres = np.array([centre.centre for centre in hypotheses], dtype="<f8").reshape(-1, n_features)
        return Stored(arrays={"centres": centres, "gammas": np.array([c.gamma for c in hypotheses], dtype="<f8")})

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[Centre]:
        require(shape.n_outputs == 1 or n == 0, "centres are for one score per row")
        gammas = read_array(arrays, "gammas", "<f8", n)
        require(bool((np.isfinite(gammas) & (gammas > 0.0)).all()), "a gamma is not a positive number")
        require("centres" in arrays, "the array 'centres' is missing")
        centres = arrays["centres"]
        fits = centres.dtype == np.dtype("<f8") and centres.shape == (n, shape.n_features)
        require(fits and bool(np.isfinite(centres).all()), "the centres do not fit")
        return [Centre(row, gamma) for row, gamma in zip(centres, gammas.tolist(), strict=True)]


@dataclass(frozen=True)
class KernelFeatures(Generator, name="kernel"):
    """exp(-gamma |x - c|^2) around centres c: given, or the rows that a perceptron gets wrong in one pass (section 10).

    With gamma = 1/2 as in the paper rows should have a size of about 1.
    """

    finite = True

    gamma: float = 0.5
    centres: Any = None
    max_centres: int = 3000

    def validate(self) -> None:
        check_real("gamma", self.gamma, low=0.0, open_low=True)
        check_integer("max_centres", self.max_centres, 1)

    def start(self, training: Training) -> Proposing:
        self.validate()
        gamma, most = float(self.gamma), int(self.max_centres)
        if self.centres is None:
            rows = dense(training.X)
            chosen = rows[_perceptron_mistakes(rows, training, gamma, most)]
        else:
            chosen = np.asarray(self.centres, dtype=np.float64)
            if chosen.ndim != 2 or chosen.shape[1] != training.X.shape[1]:
                raise ValueError(
                    f"centres must be rows with {training.X.shape[1]} columns like X; got the shape {chosen.shape}."
                )
        hypotheses = [Centre(centre, gamma) for centre in chosen]
        return lambda members, residual: hypotheses

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        chosen = "the given centres" if self.centres is not None else "the mistakes of a perceptron"
        return LastLook(f"kernels around {chosen}")


def _perceptron_mistakes(rows: FloatArray, training: Training, gamma: float, most: int) -> list[int]:
    """Indices of the rows that a kernel perceptron gets wrong when it sees each once, in a random order."""
    # The pulls of a row are the negative slopes of the loss where all scores are `middle`. With one score the row is
    # right if the score is not zero and has the sign of the pull. With several it is if the first largest score is
    # where the first largest pull is, which for classes is the own one. A row that is not right becomes a centre: its
    # pulls times the kernel around it are added to the scores of all rows.
    from sklearn.metrics.pairwise import rbf_kernel  # loads much that other fits do without

    order = np.random.default_rng(training.seed).permutation(len(rows))
    middle = training.loss.middle(training.row_weights)
    pulls = -training.loss.gradient(np.full((training.loss.n_outputs, len(rows)), middle)).T
    kept: list[int] = []
    for begin in range(0, len(rows), PERCEPTRON_BLOCK):
        # Kernels to the centres so far and among the rows of a block are matrix products; only mistakes are one by one.
        block = order[begin : begin + PERCEPTRON_BLOCK]
        scores = rbf_kernel(rows[block], rows[kept], gamma) @ pulls[kept] if kept else np.zeros_like(pulls[block])
        among = rbf_kernel(rows[block], rows[block], gamma)
        for i, index in enumerate(block.tolist()):
            wanted = pulls[index]
            right = scores[i] @ wanted > 0.0 if len(wanted) == 1 else scores[i].argmax() == wanted.argmax()
            if right:
                continue
            scores += np.multiply.outer(among[i], wanted)
            kept.append(index)
            if len(kept) == most:
                return kept
    return kept
