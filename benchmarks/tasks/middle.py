"""Milliseconds per round on some ten thousand real rows: a round, its line search, its candidates."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks import data
from benchmarks.competitors import FAST
from benchmarks.competitors.radboost import DefaultSearching
from benchmarks.competitors.rgb import RGB, RGBSevenCandidates
from benchmarks.results import FASTEST, Result, Target
from benchmarks.settings import Sizes
from benchmarks.tasks.slope import seconds_per_tree

DEPTH = 6
FIELD = [FAST[name] for name in ("RadBoost gini", "RadBoost default", "XGBoost", "LightGBM")]
OURS = [DefaultSearching(), RGB(), RGBSevenCandidates()]


def run(name: str, sizes: Sizes) -> Result:
    """The slope between few rounds and many."""
    train, test = data.parted(data.real(name, sizes.middle_rows), every=4)
    rows = [replace(row, figure=1e3 * row.figure) for row in seconds_per_tree(train, test, sizes, DEPTH, OURS + FIELD)]
    X, y = train
    return Result(
        task=f"middle-{name}",
        title=f"A round on {name}, {X.shape[0]:,} x {X.shape[1]}, {y.max() + 1} classes, depth {DEPTH}",
        unit="ms per round",
        rows=rows,
        targets=[
            Target(DefaultSearching.name, "RadBoost default", 1.5),  # a search takes a third of its round at most
            Target(RGBSevenCandidates.name, RGB.name, 1.4),
            Target("RadBoost default", FASTEST, 1.0),
            Target(RGB.name, FASTEST, 1.0),
        ],
        note="A search is to take a third of its round at most, seven candidates 1.4 times as long as one.",
    )


TASKS: dict[str, Callable[[Sizes], Result]] = {
    f"middle-{name}": partial(run, name) for name in ("adult", "higgs_part", "letters")
}
