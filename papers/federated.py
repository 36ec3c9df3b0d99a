"""Table B.1 of Storcheus's thesis (2021), run again: a federation of writers in two domains.

EMNIST by writer cannot be had. Pictures of MNIST and Fashion-MNIST are dealt to made-up writers by their style (see
`federated_fits.deal`), so that the figures cannot be the thesis's; the order of the algorithms can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from papers.federated_fits import fit_federated_unit
from papers.multi_source import SourcesTable
from papers.study import Facts

ALGORITHMS = ("FedAdaBoost-1", "FedAdaBoost-2", "FedAdaBoost-all", "FedMultiBoost", "FedAvg", "AFL")

# What the thesis reports for EMNIST: the errors on both domains, on the uniform mixture, on the worse one.
PAPER: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "mnist-4-9": {
        "FedAdaBoost-1": (0.075, 0.133, 0.104, 0.133),
        "FedAdaBoost-2": (0.095, 0.096, 0.095, 0.096),
        "FedAdaBoost-all": (0.076, 0.125, 0.101, 0.125),
        "FedMultiBoost": (0.064, 0.076, 0.070, 0.076),
    },
    "mnist-1-7": {
        "FedAdaBoost-1": (0.029, 0.050, 0.039, 0.050),
        "FedAdaBoost-2": (0.062, 0.030, 0.046, 0.062),
        "FedAdaBoost-all": (0.032, 0.043, 0.037, 0.043),
        "FedMultiBoost": (0.030, 0.035, 0.032, 0.035),
    },
    "fashion-0-6": {},
}


@dataclass(frozen=True)
class FederatedTable(SourcesTable):
    """Writers are held back fold by fold; 20 of the others are asked in each round."""

    rounds: int = 500
    quick_rounds: int = 200
    paper: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=lambda: PAPER)

    named_by: ClassVar[str] = "federated"
    algorithms: ClassVar[tuple[str, ...]] = ALGORITHMS
    n_sources: ClassVar[int] = 2
    legend = (
        "means (standard deviations) over the folds; agnostic: the mean of the larger error; paper: its own\n"
        "on EMNIST. Stumps trained by writers, exponential loss; FedAvg and AFL: linear models. Rows by domain (Table\n"
        "B.2): mnist-4-9 6891 + 6891, mnist-1-7 7586 + 7584, fashion-0-6 7000 + 7000, 100 to a writer"
    )

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_federated_unit(facts, data_dir)


STUDIES = (FederatedTable("fedmultiboost-b.1", "Storcheus (2021), Table B.1: owners who keep their data"),)
