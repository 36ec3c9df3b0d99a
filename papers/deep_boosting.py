"""Tables 1 to 3 of "Deep Boosting" (Cortes, Mohri, Syed 2014): grids of section 4 and reported figures.

Table 1 counts the splits of a tree (1 or 2), Tables 2 and 3 all its nodes (a full tree of depth 3 has 15).

The paper runs AdaBoost on H_2 alone. Here its base hypotheses are H_1 and H_2 together: without a penalty the
pair that extends the best stump is never worse than the stump, so only exact ties can differ.

"deep-boosting-2-first-code" is Table 2 with the normaliser of the code that its authors published first
(`papers.first_code`); without a penalty there is no difference, so that AdaBoost is left out.
"""

from __future__ import annotations

from dataclasses import replace

from papers.first_code import FirstCodeClassifier
from papers.spec import Algorithm, Figures, Grid, Table

_POWERS_OF_TWO = tuple(2.0**-i for i in range(7))
_POWERS_OF_TEN = tuple(10.0**-i for i in range(3, 8))
_DEPTHS = tuple(range(1, 7))


def _stump_columns() -> tuple[Algorithm, ...]:
    plain = {"loss": "exponential", "complexity_penalty": 0.0, "l1_penalty": 0.0}
    pairs = {"loss": "exponential", "family": "stump_pairs"}
    beta: Grid = {"l1_penalty": _POWERS_OF_TWO}
    coarse_beta: Grid = {"l1_penalty": (0.25, 0.0625, 0.015625)}
    return (
        Algorithm("AdaBoost H1", plain | {"family": "stumps"}, {}, {}),
        Algorithm("AdaBoost H2", plain | {"family": "stump_pairs"}, {}, {}),
        Algorithm("AdaBoost-L1", pairs | {"complexity_penalty": 0.0}, beta, coarse_beta),
        Algorithm(
            "DeepBoost",
            pairs,
            beta | {"complexity_penalty": (0.0001, 0.005, 0.01, 0.05, 0.1, 0.5)},
            coarse_beta | {"complexity_penalty": (0.005, 0.05)},
        ),
    )


def _tree_columns(loss: str, plain: str) -> tuple[Algorithm, ...]:
    trees = {"loss": loss, "family": "trees"}
    depth: Grid = {"max_depth": _DEPTHS}
    coarse_depth: Grid = {"max_depth": (2, 4, 6)}
    beta: Grid = {"l1_penalty": _POWERS_OF_TEN}
    coarse_beta: Grid = {"l1_penalty": (1e-3, 1e-5)}
    return (
        Algorithm(plain, trees | {"complexity_penalty": 0.0, "l1_penalty": 0.0}, depth, coarse_depth),
        Algorithm(f"{plain}-L1", trees | {"complexity_penalty": 0.0}, depth | beta, coarse_depth | coarse_beta),
        Algorithm(
            "DeepBoost",
            trees,
            depth | beta | {"complexity_penalty": _POWERS_OF_TEN},
            coarse_depth | coarse_beta | {"complexity_penalty": (1e-3, 1e-5)},
        ),
    )


_TABLE_1 = {
    "breastcancer": (
        Figures(0.0429, 0.0248, 1, 100),
        Figures(0.0437, 0.0214, 2, 100),
        Figures(0.0408, 0.0223, 1.436, 43.6),
        Figures(0.0373, 0.0225, 1.215, 21.6),
    ),
    "ionosphere": (
        Figures(0.1014, 0.0414, 1, 100),
        Figures(0.075, 0.0413, 2, 100),
        Figures(0.0708, 0.0331, 1.392, 39.35),
        Figures(0.0638, 0.0394, 1.168, 17.45),
    ),
    "german": (
        Figures(0.243, 0.0445, 1, 100),
        Figures(0.2505, 0.0487, 2, 100),
        Figures(0.2455, 0.0438, 1.54, 54.1),
        Figures(0.2395, 0.0462, 1.76, 76.5),
    ),
    "diabetes": (
        Figures(0.253, 0.0330, 1, 100),
        Figures(0.260, 0.0518, 2, 100),
        Figures(0.254, 0.04868, 1.9975, 100),
        Figures(0.253, 0.0510, 1.9975, 100),
    ),
    "ocr17": (
        Figures(0.0085, 0.0072, 1, 100),
        Figures(0.008, 0.0054, 2, 100),
        Figures(0.0075, 0.0068, 1.086, 37.8),
        Figures(0.0070, 0.0048, 1.369, 36.9),
    ),
    "ocr49": (
        Figures(0.0555, 0.0167, 1, 100),
        Figures(0.032, 0.0114, 2, 100),
        Figures(0.03, 0.0122, 1.99, 99.3),
        Figures(0.0275, 0.0095, 1.96, 96),
    ),
    "ocr17-mnist": (
        Figures(0.0056, 0.0017, 1, 100),
        Figures(0.0048, 0.0014, 2, 100),
        Figures(0.0046, 0.0013, 2, 100),
        Figures(0.0040, 0.0014, 1.99, 100),
    ),
    "ocr49-mnist": (
        Figures(0.0414, 0.00539, 1, 100),
        Figures(0.0209, 0.00521, 2, 100),
        Figures(0.0200, 0.00408, 1.9975, 100),
        Figures(0.0177, 0.00438, 1.9975, 100),
    ),
}

_TABLE_2 = {
    "breastcancer": (
        Figures(0.0267, 0.00841, 29.1, 67.1),
        Figures(0.0264, 0.0098, 28.9, 51.7),
        Figures(0.0243, 0.00797, 20.9, 55.9),
    ),
    "ionosphere": (
        Figures(0.0661, 0.0315, 29.8, 75.0),
        Figures(0.0657, 0.0257, 31.4, 69.4),
        Figures(0.0501, 0.0316, 26.1, 50.0),
    ),
    "german": (
        Figures(0.239, 0.0165, 3, 91.3),
        Figures(0.239, 0.0201, 7, 87.5),
        Figures(0.234, 0.0148, 16.0, 14.1),
    ),
    "diabetes": (
        Figures(0.249, 0.0272, 3, 45.2),
        Figures(0.240, 0.0313, 3, 28.0),
        Figures(0.230, 0.0399, 5.37, 19.0),
    ),
    "ocr17": (
        Figures(0.004, 0.00316, 15.0, 88.3),
        Figures(0.003, 0.00100, 30.4, 65.3),
        Figures(0.002, 0.00100, 26.0, 61.8),
    ),
    "ocr49": (
        Figures(0.0180, 0.00555, 30.9, 92.4),
        Figures(0.0175, 0.00357, 62.1, 89.0),
        Figures(0.0175, 0.00510, 30.2, 83.0),
    ),
    "ocr17-mnist": (
        Figures(0.00471, 0.0022, 15, 88.7),
        Figures(0.00471, 0.0021, 33.4, 66.8),
        Figures(0.00409, 0.0021, 22.1, 59.2),
    ),
    "ocr49-mnist": (
        Figures(0.0198, 0.00500, 29.9, 82.4),
        Figures(0.0197, 0.00512, 66.3, 81.1),
        Figures(0.0182, 0.00551, 30.1, 80.9),
    ),
}

_TABLE_3 = {
    "breastcancer": (
        Figures(0.0351, 0.0101, 15, 65.3),
        Figures(0.0264, 0.0120, 59.9, 16.0),
        Figures(0.0264, 0.00876, 14.0, 23.8),
    ),
    "ionosphere": (
        Figures(0.074, 0.0236, 7, 44.7),
        Figures(0.060, 0.0219, 30.0, 25.3),
        Figures(0.043, 0.0188, 18.4, 29.5),
    ),
    "german": (
        Figures(0.233, 0.0114, 7, 72.8),
        Figures(0.232, 0.0123, 7, 66.8),
        Figures(0.225, 0.0103, 14.4, 67.8),
    ),
    "diabetes": (
        Figures(0.250, 0.0374, 3, 46.0),
        Figures(0.246, 0.0356, 3, 45.5),
        Figures(0.246, 0.0356, 3, 45.5),
    ),
    "ocr17": (
        Figures(0.00300, 0.00100, 15.0, 75.3),
        Figures(0.00400, 0.00141, 7, 53.8),
        Figures(0.00250, 0.000866, 22.1, 25.8),
    ),
    "ocr49": (
        Figures(0.0205, 0.00654, 31.0, 63.5),
        Figures(0.0200, 0.00245, 31.0, 54.0),
        Figures(0.0170, 0.00361, 63.2, 37.0),
    ),
    "ocr17-mnist": (
        Figures(0.00422, 0.00191, 15, 71.4),
        Figures(0.00417, 0.00188, 15, 55.6),
        Figures(0.00399, 0.00211, 25.9, 27.6),
    ),
    "ocr49-mnist": (
        Figures(0.0211, 0.00412, 28.7, 79.3),
        Figures(0.0201, 0.00433, 33.5, 61.7),
        Figures(0.0201, 0.00411, 72.8, 41.9),
    ),
}

TABLES = (
    Table("deep-boosting-1", "boosted stumps, exponential loss", _stump_columns(), "n_splits", _TABLE_1),
    Table(
        "deep-boosting-2",
        "boosted trees, exponential loss",
        _tree_columns("exponential", "AdaBoost"),
        "n_nodes",
        _TABLE_2,
    ),
    Table(
        "deep-boosting-2-first-code",
        "boosted trees, exponential loss, the penalties of the authors' first code",
        tuple(
            replace(column, estimator=FirstCodeClassifier) for column in _tree_columns("exponential", "AdaBoost")[1:]
        ),
        "n_nodes",
        {name: figures[1:] for name, figures in _TABLE_2.items()},
    ),
    Table(
        "deep-boosting-3",
        "boosted trees, logistic loss",
        _tree_columns("logistic", "LogReg"),
        "n_nodes",
        _TABLE_3,
    ),
)
