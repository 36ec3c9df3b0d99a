"""`python -m benchmarks.examples`: the figures beside examples in the documents.

python -m benchmarks.examples digits         the test errors of docs/recipes.md, on handwritten digits
python -m benchmarks.examples costs --write  table and picture of docs/guide-imbalance-and-costs.md, from its code
python -m benchmarks.examples sources        the pictures of docs/sources.md, from the sources of Table 4.1
python -m benchmarks.examples reliability    the picture of docs/probabilities.md, on handwritten digits
python -m benchmarks.examples explaining     the pictures of docs/explaining.md, from the code on that page
python -m benchmarks.examples bounds --write the table and the picture of docs/guarantees.md
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.competitors import PEERS, ours
from benchmarks.bounds import bounds

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guide-imbalance-and-costs.md"
PICTURE = PAGE.parent / "images" / "costs.png"
SOURCES_PICTURE = PAGE.parent / "images" / "multiboost-sources.png"
RELIABILITY_PICTURE = PAGE.parent / "images" / "reliability.png"
EXPLAINING = PAGE.parent / "explaining.md"
BLOCK = re.compile(r"^```python *\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| model \| mean cost \|.*?\n\n", re.MULTILINE | re.DOTALL)


def digits() -> None:
    """Everybody at the defaults, on the folds of docs/recipes.md."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    X, y = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for competitor in (ours("many")[0], *PEERS):
        try:
            errors = 1.0 - cross_val_score(competitor.build(0), X, y, cv=folds, error_score="raise")
        except ImportError as error:
            print(f"{competitor.name}: left out ({error})", flush=True)
            continue
        wrong = float(errors.mean())
        print(f"{competitor.name}: {wrong:.4f}, standard error {(wrong * (1 - wrong) / len(y)) ** 0.5:.4f}", flush=True)


def read_page(page: Path = PAGE) -> dict[str, Any]:
    """What the code on a page leaves behind."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        exec(compile(block["code"], str(page), "exec"), names)
    return names


def decisions(page: Mapping[str, Any]) -> dict[str, Any]:
    """The labels that each line of the table gives to the test patients."""
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

    return {
        "`SoftmaxBoostClassifier()`": page["before"].predict(X_test),
        '`SoftmaxBoostClassifier(cost=cost, decision="argmax")`': page["after"].predict(X_test),
        **{f"random forest{about}": forest.predict(X_test) for about, forest in forests.items()},
        "random forest, its probabilities times the costs": cheapest(forests[""]),
        "`DeepBoostClassifier`, its probabilities times the costs": cheapest(deep),
    }


def table(rows: Sequence[tuple[str, float, float]]) -> str:
    """Name, mean cost and share of mistakes of each model, as the page has them."""
    lines = [f"| {name} | {_short(cost)} | {_short(share)} |" for name, cost, share in rows]
    return "\n".join(["| model | mean cost | share of mistakes |", "|---|---|---|", *lines]) + "\n"


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def with_table(text: str, new: str) -> str:
    """The page with another table."""
    if len(TABLE.findall(text)) != 1:
        raise ValueError(f"{PAGE.name} must hold one table of mean costs")
    return TABLE.sub(lambda _: f"{new}\n", text)


def draw(page: Mapping[str, Any], path: Path) -> None:
    """Both models of the page side by side."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from radboost import plot

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    models = {"every mistake the same": page["before"], "with the cost matrix": page["after"]}
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        plot.cost_confusion(model, page["X_test"], page["y_test"], panel, cost=page["cost"])
        mean = page["mean_cost"](model.predict(page["X_test"]))
        panel.set_title(f"{name}: mean cost {mean:.3f}", loc="left")
    figure.savefig(path, dpi=100)


def costs(*, write: bool) -> None:
    """Print the table; on demand put it and the picture into the documents."""
    page = read_page()
    rows = [
        (name, float(page["mean_cost"](labels)), float(np.mean(labels != page["y_test"])))
        for name, labels in decisions(page).items()
    ]
    print(f"\n{table(rows)}")
    if write:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table(rows)), encoding="utf-8")
        draw(page, PICTURE)


def sources() -> None:
    """Q along the first component, the weights of the sources, their losses: Figures 4.3, B.2, B.3 and B.4."""
    from matplotlib.figure import Figure

    from papers.multi_boost import load_sourced
    from radboost import MultiSourceBoostClassifier, plot

    figure = Figure(figsize=(10.5, 8.6), layout="constrained")
    for line, name in zip(figure.subplots(3, 3), ("adult", "fashion_mnist", "amazon"), strict=True):
        data = load_sourced(name, None)  # from the folder that RADBOOST_DATA names
        model = MultiSourceBoostClassifier.paper(100, categorical_features=data.categorical)
        model.fit(data.X, data.y, sources=data.sources)
        plot.sources(model, data.X, data.sources, line[0])
        line[0].set_title(f"{name}: Q", fontsize=10)
        line[1].bar([str(name) for name in model.source_weight_], list(model.source_weight_.values()), color="#3b6fb6")
        line[1].set_title("share of the weights", fontsize=10)
        for source in model.source_names_.tolist():
            line[2].plot(model.history_[f"source_loss[{source}]"], label=str(source))
        line[2].set_title("loss of each source, by rounds", fontsize=10)
        line[2].legend(frameon=False)
    figure.savefig(SOURCES_PICTURE, dpi=100)
    print(f"Written to {SOURCES_PICTURE}")


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
    """Digits as they are, and with a fifth of all labels wrong, those of the test rows too."""
    from matplotlib.figure import Figure
    from sklearn.datasets import load_digits

    from radboost import DeepBoostClassifier, SoftmaxBoostClassifier, datasets, plot

    X, y = load_digits(return_X_y=True)
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    for panel, (title, noise) in zip(figure.subplots(1, 2), (("digits", 0.0), ("a fifth wrong", 0.2)), strict=True):
        labels = datasets.make_noisy(y, noise, random_state=0) if noise else y
        models = {
            "DeepBoost": DeepBoostClassifier(),
            "DeepBoost, calibration=None": DeepBoostClassifier(calibration=None),
            "soft-max": SoftmaxBoostClassifier(),
            "soft-max, calibration=None": SoftmaxBoostClassifier(calibration=None),
            "LightGBM": next(peer for peer in PEERS if peer.name == "LightGBM").build(0),
        }
        plot.reliability({name: Pooled(model, X, labels) for name, model in models.items()}, X, labels, panel)
        panel.set_title(title, loc="left")
    figure.savefig(RELIABILITY_PICTURE, dpi=100)
    print(f"Written to {RELIABILITY_PICTURE}")


def explaining() -> None:
    """Draw what the code of docs/explaining.md draws."""
    import matplotlib as mpl

    mpl.use("Agg")
    page = read_page(EXPLAINING)
    for name in ("explanation", "dependence"):
        path = EXPLAINING.parent / "images" / f"{name}.png"
        page[f"{name}_axes"].figure.savefig(path, dpi=110)
        print(f"Written to {path}")


def main(argv: Sequence[str] | None = None) -> None:
    """Run one of the examples."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.examples", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("digits", help="test errors on handwritten digits")
    commands.add_parser("sources", help="the pictures of docs/sources.md")
    commands.add_parser("reliability", help="the picture of docs/probabilities.md")
    commands.add_parser("explaining", help="the pictures of docs/explaining.md")
    of_costs = commands.add_parser("costs", help="the table of docs/guide-imbalance-and-costs.md")
    of_bounds = commands.add_parser("bounds", help="the table of docs/guarantees.md")
    for writing in (of_costs, of_bounds):
        writing.add_argument("--write", action="store_true", help="also write it, and the picture, into the documents")
    given = parser.parse_args(argv)
    if given.command == "digits":
        digits()
    elif given.command == "sources":
        sources()
    elif given.command == "reliability":
        reliability()
    elif given.command == "explaining":
        explaining()
    elif given.command == "bounds":
        bounds(write=given.write)
    else:
        costs(write=given.write)


if __name__ == "__main__":
    main()
