"""Clinics of two regions with synthetic rows, and the strategy of their server."""

from collections.abc import Iterable

import numpy as np

from radboost import MultiSourceBoostClassifier
from radboost.federated import Candidates, FedMultiBoost, learn_domains, stumps_at

N_COLUMNS = 5


def clinic(number: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Rows of one clinic: its region shows in the last column, and decides what the first three mean."""
    rng = np.random.default_rng([2021, number])
    south = number % 2 == 1
    X = rng.normal(size=(80 + 10 * (number % 4), N_COLUMNS))
    X[:, -1] += 1.5 if south else -1.5
    sick = X[:, 0] + 0.5 * X[:, 1] > 0 if south else X[:, 0] - 0.5 * X[:, 2] < 0
    return X, np.where(rng.random(len(X)) < 0.05, ~sick, sick), "south" if south else "north"


def together(numbers: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [clinic(number) for number in numbers]
    regions = np.concatenate([np.repeat(region, len(y)) for _, y, region in parts])
    return np.vstack([X for X, _, _ in parts]), np.concatenate([y for _, y, _ in parts]), regions


def clinics_strategy(n_clinics: int, n_rounds: int, per_round: int | None = None) -> FedMultiBoost:
    """Strategy with Q from public rows and candidates at public thresholds."""
    X, _, regions = together(range(10_000, 10_010))
    estimator = MultiSourceBoostClassifier(
        n_rounds, loss="exponential", step="decay", learning_rate=0.3, complexity_penalty=0.0
    )
    return FedMultiBoost(
        estimator,
        candidates=Candidates(stumps_at([np.linspace(-2.5, 2.5, 21)] * N_COLUMNS)),
        domain_model=learn_domains(X, regions),
        clients_per_round=per_round,
        wait_for=n_clinics,
    )
