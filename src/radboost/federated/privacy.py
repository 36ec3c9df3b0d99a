"""Clipped contributions and noise on the totals, with an account of the privacy spent."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from radboost._validation import check_integer, check_real


class BudgetSpentError(RuntimeError):
    """Another release would cost more privacy than was allowed."""


class Account(Protocol):
    """Counts releases with Gaussian noise."""

    def spend(self, n_asked: int) -> None:
        """Raises BudgetSpentError, and counts nothing, where the budget does not allow for another release."""


@dataclass(frozen=True)
class Privacy:
    """Differential privacy of owners: what changes when one of them, with all its rows, stays away.

    In every exchange the sums of an owner, counted in rows, are scaled down to the Euclidean length `clip`, and the
    server adds Gaussian noise of the standard deviation `noise_multiplier` times `clip` to the totals. The numbers of
    rows, and who takes part, are not protected.

    Parameters
    ----------
    clip : float
        About the number of rows of an owner; more only lets large owners count in full.
    noise_multiplier : float
        The larger, the more private. Every round has two releases.
    delta : float
        The probability with which epsilon may be exceeded; less than one in the number of owners.
    max_epsilon : float or None
        The fit stops before it would spend more.
    seed : int or None
        Of the noise. A seed that others know takes the protection away: it is for tests. None: one that nobody knows.
    """

    clip: float
    noise_multiplier: float
    delta: float = 1e-5
    max_epsilon: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        check_real("clip", self.clip, low=0.0, open_low=True)
        check_real("noise_multiplier", self.noise_multiplier, low=0.0, open_low=True)
        check_real("delta", self.delta, low=0.0, high=0.5, open_low=True)
        if self.max_epsilon is not None:
            check_real("max_epsilon", self.max_epsilon, low=0.0, open_low=True)
        if self.seed is not None:
            check_integer("seed", self.seed, 0)

    def noise(self) -> Noise:
        return Noise(self, secrets.randbits(128) if self.seed is None else self.seed)


def clipped(sums: Sequence[int], units: Sequence[float], clip: float) -> list[int]:
    """Sums scaled down where their length in units exceeds the clip."""
    length = math.sqrt(math.fsum((value / unit) ** 2 for value, unit in zip(sums, units, strict=True)))
    return list(sums) if length <= clip else [int(value * (clip / length)) for value in sums]


class Noise:
    """Gaussian noise on totals, rounded to integers: rounding afterwards costs no privacy."""

    def __init__(self, privacy: Privacy, seed: int) -> None:
        self._privacy = privacy
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def added(self, totals: Sequence[int], units: Sequence[float]) -> list[int]:
        size = self._privacy.noise_multiplier * self._privacy.clip
        drawn = self._generator.standard_normal(len(totals)).tolist()
        return [total + round(size * unit * one) for total, unit, one in zip(totals, units, drawn, strict=True)]


def flower_account(privacy: Privacy, population: int) -> Any:
    """Flower's accountant, asked before each release."""
    from flwr.serverapp import RdpAccountant
    from flwr.supercore.privacy_accounting import (
        GaussianPrivacyEvent,
        NeighboringRelation,
        PrivacyConfig,
        SamplingMethod,
    )

    config = PrivacyConfig(
        target_delta=privacy.delta,
        population_size=population,
        neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
        sampling_method=SamplingMethod.NO_AMPLIFICATION,  # that owners are drawn is not counted
        max_epsilon=privacy.max_epsilon,
    )

    class FlowerAccount:
        def __init__(self) -> None:
            self.accountant = RdpAccountant(config)

        def spend(self, n_asked: int) -> None:
            event = GaussianPrivacyEvent(float(privacy.noise_multiplier), max(1, n_asked), population)
            if privacy.max_epsilon is not None and self.accountant.would_exceed(event):
                raise BudgetSpentError("the privacy budget is spent")
            self.accountant.compose(event)

    return FlowerAccount()
