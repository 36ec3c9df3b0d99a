"""Pictures and tables beside examples in the documents.

python -m benchmarks.examples costs        table and picture of docs/guide-imbalance-and-costs.md, from its code
python -m benchmarks.examples sources      picture of docs/sources.md, from the sources of Table 4.1
python -m benchmarks.examples reliability  picture of docs/probabilities.md, on handwritten digits
python -m benchmarks.examples explaining   pictures of docs/explaining.md, from the code on that page
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.competitors import PEERS
from benchmarks.competitors import takes_part
from benchmarks.markdown import number, table

DOCS = Path(__file__).resolve().parents[1] / "docs"
IMAGES = DOCS / "images"
BLOCK = re.compile(r"^```python *\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> dict[str, Any]:
    """Run the code of a page; return its names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        exec(compile(block["code"], str(page), "exec"), names)
    return names


def costs() -> None:
    """Print the table of costs, and draw both models of the page."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from radboost import plot

    page = run_page(DOCS / "guide-imbalance-and-costs.md")
    print(cost_table(page))
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    models = {"every mistake the same": page["before"], "with the cost matrix": page["after"]}
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        plot.cost_confusion(model, page["X_test"], page["y_test"], panel, cost=page["cost"])
        mean = page["mean_cost"](model.predict(page["X_test"]))
        panel.set_title(f"{name}: mean cost {mean:.3f}", loc="left")
    figure.savefig(IMAGES / "costs.png", dpi=100)


def cost_table(page: Mapping[str, Any]) -> str:
    """Table of the mean cost and the fraction of mistakes on the test rows of the page."""
    from sklearn.ensemble import RandomForestClassifier

    from radboost import DeepBoostClassifier

    X, y, X_test, cost = (page[name] for name in ("X", "y", "X_test", "cost"))
    choices = {"": None, ", weights from the costs": page["weights"], ", balanced weights": "balanced"}
    forests = {
        about: RandomForestClassifier(class_weight=choice, min_samples_leaf=5, random_state=0).fit(X, y)
        for about, choice in choices.items()
    }
    deep = DeepBoostClassifier(random_state=0).fit(X, y)

    def cheapest(model: Any) -> Any:
        return model.classes_[(model.predict_proba(X_test) @ cost).argmin(axis=1)]

    predicted = {
        "`SoftmaxBoostClassifier()`": page["before"].predict(X_test),
        '`SoftmaxBoostClassifier(cost=cost, decision="argmax")`': page["after"].predict(X_test),
        **{f"random forest{about}": forest.predict(X_test) for about, forest in forests.items()},
        "random forest, its probabilities times the costs": cheapest(forests[""]),
        "`DeepBoostClassifier`, its probabilities times the costs": cheapest(deep),
    }
    rows = [
        [name, number(page["mean_cost"](labels), 3), number(float(np.mean(labels != page["y_test"])), 3)]
        for name, labels in predicted.items()
    ]
    return table(["model", "mean cost", "share of mistakes"], rows)


def sources() -> None:
    """Draw Q along the first component, the weights of the sources, their losses: Figures 4.3, B.2, B.3 and B.4."""
    from matplotlib.figure import Figure

    from papers.multi_boost import load_sourced
    from radboost import MultiSourceBoostClassifier, plot

    figure = Figure(figsize=(10.5, 8.6), layout="constrained")
    for panels, name in zip(figure.subplots(3, 3), ("adult", "fashion_mnist", "amazon"), strict=True):
        data = load_sourced(name, None)  # from the folder that RADBOOST_DATA names
        model = MultiSourceBoostClassifier.paper(100, categorical_features=data.categorical)
        model.fit(data.X, data.y, sources=data.sources)
        plot.sources(model, data.X, data.sources, panels[0])
        panels[0].set_title(f"{name}: Q", fontsize=10)
        weights = model.source_weight_
        panels[1].bar([str(source) for source in weights], list(weights.values()), color="#3b6fb6")
        panels[1].set_title("share of the weights", fontsize=10)
        for source in model.source_names_.tolist():
            panels[2].plot(model.history_[f"source_loss[{source}]"], label=str(source))
        panels[2].set_title("loss of each source, by rounds", fontsize=10)
        panels[2].legend(frameon=False)
    figure.savefig(IMAGES / "multiboost-sources.png", dpi=100)


class Pooled:
    """Probabilities of the rows of all folds, each by the model that did not learn from it."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        self.classes_ = np.unique(y)
        self._probabilities = cross_val_predict(estimator, X, y, cv=folds, method="predict_proba")

    def predict_proba(self, _: Any) -> Any:
        return self._probabilities


def reliability() -> None:
    """Draw digits as they are, and with a fifth of all labels wrong, those of the test rows too."""
    from matplotlib.figure import Figure
    from sklearn.datasets import load_digits

    from radboost import DeepBoostClassifier, SoftmaxBoostClassifier, datasets, plot

    X, y = load_digits(return_X_y=True)
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    models = {
        "DeepBoost": DeepBoostClassifier(),
        "DeepBoost, calibration=None": DeepBoostClassifier(calibration=None),
        "soft-max": SoftmaxBoostClassifier(),
        "soft-max, calibration=None": SoftmaxBoostClassifier(calibration=None),
        **{
            peer.name: peer.build(0)
            for peer in PEERS
            if peer.name == "LightGBM" and takes_part(peer.name, peer.library)
        },
    }
    for panel, (title, noise) in zip(figure.subplots(1, 2), (("digits", 0.0), ("a fifth wrong", 0.2)), strict=True):
        labels = datasets.make_noisy(y, noise, random_state=0) if noise else y
        plot.reliability({name: Pooled(model, X, labels) for name, model in models.items()}, X, labels, panel)
        panel.set_title(title, loc="left")
    figure.savefig(IMAGES / "reliability.png", dpi=100)


def explaining() -> None:
    """Draw what the code of docs/explaining.md draws."""
    import matplotlib as mpl

    mpl.use("Agg")
    page = run_page(DOCS / "explaining.md")
    for name in ("explanation", "dependence"):
        page[f"{name}_axes"].figure.savefig(IMAGES / f"{name}.png", dpi=110)


EXAMPLES = {one.__name__: one for one in (costs, sources, reliability, explaining)}


def main(argv: Sequence[str] | None = None) -> None:
    """Run one of the examples."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.examples", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("example", choices=tuple(EXAMPLES))
    EXAMPLES[parser.parse_args(argv).example]()


if __name__ == "__main__":
    main()
