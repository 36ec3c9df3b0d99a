"""Linear chains: scores w . psi(x, z, s) of substrings from weights, and the gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ChainShape:
    """Shape of the weights of a chain: symbols by features, and substrings of 1, ..., `order` symbols."""

    alphabet_size: int
    n_features: int
    order: int

    @property
    def n_weights(self) -> int:
        n_substrings: int = sum(self.alphabet_size**k for k in range(1, self.order + 1))
        return self.alphabet_size * self.n_features + n_substrings

    def split(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """Weights of features, shape (alphabet_size, n_features), and of substrings by their lengths."""
        first = self.alphabet_size * self.n_features
        emissions = weights[:first].reshape(self.alphabet_size, self.n_features)
        substrings = []
        for k in range(1, self.order + 1):
            substrings.append(weights[first : first + self.alphabet_size**k])
            first += self.alphabet_size**k
        return emissions, substrings

    def potentials(self, weights: NDArray[np.float64], features: Any) -> NDArray[np.float64]:
        """Scores of substrings, shape (length, alphabet_size ** order); features belong to the last symbol."""
        emissions, substrings = self.split(weights)
        scores = np.asarray(features @ emissions.T)
        length, size = scores.shape
        tables = np.zeros(size**self.order)
        potentials = np.empty((length, size**self.order))
        for k in range(1, self.order + 1):
            tables = tables + np.tile(substrings[k - 1], size ** (self.order - k))
            # At the first positions substrings are shorter.
            potentials[k - 1 : length if k == self.order else k] = tables
        potentials += np.tile(scores, size ** (self.order - 1))
        return potentials

    def gradient(self, of_scores: NDArray[np.float64], features: Any) -> NDArray[np.float64]:
        """Derivatives by the weights, from those by all scores, which are zero at entries that are no scores."""
        length, size = len(of_scores), self.alphabet_size
        by_symbol = of_scores.reshape(length, -1, size).sum(axis=1)
        emissions = np.asarray(features.T @ by_symbol).T.ravel()
        substrings = [
            of_scores[k - 1 :].reshape(-1, size ** (self.order - k), size**k).sum(axis=(0, 1))
            for k in range(1, self.order + 1)
        ]
        return np.concatenate([emissions, *substrings])
