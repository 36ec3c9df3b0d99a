"""`python -m benchmarks.pruning`: test errors of pruned models against their size, for docs/pruning.md.

    python -m benchmarks.pruning --data-dir DIR

The two-class and the many-class sets of `benchmarks.accuracy`, on clean labels and with a fifth of the training labels
exchanged. How models are pruned was chosen on seed 0; the figures are of seed 1. Beside pruned models stand the first
rounds of the same fit, and fits of as few rounds, with steps of the same length and with longer ones. Results are kept
in a file of JSON lines; a second run only prints them and draws the picture.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from benchmarks.accuracy.tasks import MANY_CLASSES, NOISES, TWO_CLASSES, Parts, Source, Task, all_tasks
from radboost import DeepBoostClassifier
from radboost.model_file import model_bytes

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "pruning.png"
SEED = 1
FOLDS = 3
SHARES = (0.5, 0.2, 0.1, 0.05)
FIFTH = 0.2
SUITES = {"two classes": tuple(TWO_CLASSES), "many classes": MANY_CLASSES}
Record = dict[str, Any]


def error(labels: NDArray[Any], parts: Parts) -> float:
    return float(np.mean(labels != parts.y_test))


def log_loss_of(model: Any, parts: Parts) -> float:
    known = parts.y_test >= 0
    chances = model.predict_proba(parts.X_test[known])
    return float(log_loss(parts.y_test[known], chances, labels=np.arange(len(model.classes_))))


def first_hypotheses(model: Any, parts: Parts, size: int) -> float:
    """The error of the last round in which the model had at most so many hypotheses."""
    sizes = np.array(model.history_["n_hypotheses"][: model.n_iter_])
    last = max(0, int(np.flatnonzero(sizes <= size).max(initial=0)))
    for round_index, labels in enumerate(model.staged_predict(parts.X_test)):
        if round_index == last:
            return error(labels, parts)
    raise AssertionError("a model has rounds")


def with_fewer_rounds(model: Any, parts: Parts, share: float, longer: float) -> float:
    """The error of a fit with a share of the rounds, and steps that are so much longer."""
    short = model._as_fitted()
    short.n_rounds = max(1, round(share * model.chosen_["n_rounds"]))
    short.learning_rate = min(1.0, longer * model.chosen_["learning_rate"])
    short.calibration = None
    return error(short.fit(parts.X_train, parts.y_train).predict(parts.X_test), parts)


def measure(task: Task, parts: Parts) -> Record:
    """One fit, and everything that is compared with it."""
    rows, labels = parts.X_train, parts.y_train
    model = DeepBoostClassifier(random_state=task.seed, n_jobs=1).fit(rows, labels)
    n_trees = len(model.ensemble_)
    found: Record = {"dataset": task.dataset, "noise": task.noise, "fold": task.fold, "n_trees": n_trees}
    found["whole"] = error(model.predict(parts.X_test), parts)
    found["bytes"], found["log_loss"] = model_bytes(model), log_loss_of(model, parts)
    for share in SHARES:
        size = max(1, int(share * n_trees))
        pruned = model.prune(rows, labels, max_trees=size)
        found[f"pruned {share:g}"] = error(pruned.predict(parts.X_test), parts)
        found[f"first {share:g}"] = first_hypotheses(model, parts, size)
        if share == FIFTH:
            found["pruned bytes"], found["pruned log_loss"] = model_bytes(pruned), log_loss_of(pruned, parts)
            pruned.calibration_ = None
            found["pruned plain log_loss"] = log_loss_of(pruned, parts)
    found["fewer rounds"] = with_fewer_rounds(model, parts, FIFTH, 1.0)
    found["fewer, longer"] = with_fewer_rounds(model, parts, FIFTH, 1.0 / FIFTH)
    small = model.prune(rows, labels)
    found["default"], found["default n_trees"] = error(small.predict(parts.X_test), parts), len(small.ensemble_)
    return found


def run(tasks: Iterable[Task], source: Source, path: Path) -> list[Record]:
    """Measures what the file does not have yet."""
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    there = {(one["dataset"], one["noise"], one["fold"]) for one in known}
    for task in tasks:
        if (task.dataset, task.noise, task.fold) in there:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = measure(task, source.parts(task))
        known.append(found)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), flush=True)
    return known


def mean(records: Sequence[Record], name: str) -> float:
    """Over the sets, of the mean over the folds of each."""
    sets = sorted({one["dataset"] for one in records})
    return float(np.mean([np.mean([one[name] for one in records if one["dataset"] == each]) for each in sets]))


def part_of(records: Sequence[Record], suite: str, noise: float) -> list[Record]:
    return [one for one in records if one["dataset"] in SUITES[suite] and one["noise"] == noise]


def tables(records: Sequence[Record]) -> None:
    """A fifth of the trees; all shares; the default."""
    columns = {
        "whole": "whole",
        "pruned": f"pruned {FIFTH:g}",
        "first fifth": f"first {FIFTH:g}",
        "fewer rounds": "fewer rounds",
        "fewer, longer steps": "fewer, longer",
    }
    print("| sets | " + " | ".join(columns) + " | bytes | log loss: whole / pruned / not calibrated |")
    print("|---" * (len(columns) + 3) + "|")
    for suite, noise, chosen in _parts(records):
        whole = mean(chosen, "whole")
        cells = [f"{mean(chosen, name):.4f} ({mean(chosen, name) / whole - 1:+.1%})" for name in columns.values()]
        cells[0] = f"{whole:.4f}"
        cells.append(f"{mean(chosen, 'pruned bytes') / mean(chosen, 'bytes'):.2f}")
        names = ("log_loss", "pruned log_loss", "pruned plain log_loss")
        cells.append(" / ".join(f"{mean(chosen, name):.3f}" for name in names))
        print(f"| {suite}, {noise:.0%} wrong | " + " | ".join(cells) + " |")
    print("\n| sets | " + " | ".join(f"{share:g}: pruned / first" for share in SHARES) + " | default: trees, error |")
    print("|---" * (len(SHARES) + 2) + "|")
    for suite, noise, chosen in _parts(records):
        whole = mean(chosen, "whole")
        cells = [
            " / ".join(f"{mean(chosen, f'{kind} {share:g}') / whole - 1:+.1%}" for kind in ("pruned", "first"))
            for share in SHARES
        ]
        trees = mean([{**one, "share": one["default n_trees"] / one["n_trees"]} for one in chosen], "share")
        cells.append(f"{trees:.2f}, {mean(chosen, 'default') / whole - 1:+.1%}")
        print(f"| {suite}, {noise:.0%} wrong | " + " | ".join(cells) + " |")
    summary(records)
    print("\n| set | whole | pruned | first fifth |")
    print("|---" * 4 + "|")
    for each in sorted({(one["dataset"], one["noise"]) for one in records}):
        chosen = [one for one in records if (one["dataset"], one["noise"]) == each]
        cells = [f"{mean(chosen, name):.4f}" for name in ("whole", f"pruned {FIFTH:g}", f"first {FIFTH:g}")]
        print(f"| {each[0]}, {each[1]:.0%} wrong | " + " | ".join(cells) + " |")


def summary(records: Sequence[Record]) -> None:
    """Over all sets, clean and noisy together: relative errors, and paired differences with their standard errors."""
    sets = sorted({one["dataset"] for one in records})
    by_set = [[one for one in records if one["dataset"] == each] for each in sets]

    def errors(name: str) -> NDArray[np.float64]:
        parts = [[[one for one in chosen if one["noise"] == noise] for noise in NOISES] for chosen in by_set]
        return np.array([np.mean([mean(part, name) for part in each if part]) for each in parts])

    def compared(name: str, other: str) -> str:
        away = errors(name) - errors(other)
        deviation = away.std(ddof=1) / np.sqrt(len(away)) if len(away) > 1 else np.nan
        return f"{away.mean():+.4f} ± {deviation:.4f}, lower on {np.sum(away < 0)}, higher on {np.sum(away > 0)}"

    whole = errors("whole")
    others = [("fewer rounds", "fewer rounds"), ("fewer, longer steps", "fewer, longer"), ("default", "default")]
    shown = [(f"first {share:g}", f"first {share:g}") for share in SHARES] + others
    print("\n| all sets | mean error, relative | mean of relative errors | minus the whole model | pruned minus this |")
    print("|---" * 5 + "|")
    for label, name in [(f"pruned {share:g}", f"pruned {share:g}") for share in SHARES] + shown:
        found = errors(name)
        ratio = (found[whole > 0.0] / whole[whole > 0.0]).mean() - 1.0
        rival = "" if name.startswith("pruned") or name == "default" else name
        size = name.split()[1] if name.startswith("first") else f"{FIFTH:g}"
        against = compared(f"pruned {size}", rival) if rival else ""
        cells = [f"{found.mean() / whole.mean() - 1:+.1%}", f"{ratio:+.1%}", compared(name, "whole"), against]
        print(f"| {label} | " + " | ".join(cells) + " |")


def _parts(records: Sequence[Record]) -> list[tuple[str, float, list[Record]]]:
    parts = [(suite, noise, part_of(records, suite, noise)) for suite in SUITES for noise in NOISES]
    return [part for part in parts if part[2]]


def draw(records: Sequence[Record]) -> None:
    """Error against size, a panel for each suite and noise."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    parts = _parts(records)
    figure = Figure(figsize=(10.5, 6.6), layout="constrained")
    for panel, (suite, noise, chosen) in zip(figure.subplots(2, 2).ravel(), parts, strict=True):
        whole = mean(chosen, "whole")
        for kind, label, colour in (("pruned", "pruned", "#0072b2"), ("first", "first rounds", "#d55e00")):
            errors = [whole, *(mean(chosen, f"{kind} {share:g}") for share in SHARES)]
            panel.plot([1.0, *SHARES], errors, marker="o", color=colour, label=label)
        for name, label, marker in (
            ("fewer rounds", "fit of fewer rounds", "s"),
            ("fewer, longer", "longer steps", "^"),
        ):
            panel.plot([FIFTH], [mean(chosen, name)], marker, color="#8c8c8c", label=label)
        panel.axhspan(whole, 1.02 * whole, color="#009e73", alpha=0.2, linewidth=0, label="up to 2% more")
        panel.set_xscale("log")
        panel.set_xticks([1.0, *SHARES], ["all", *(f"{share:g}" for share in SHARES)])
        panel.minorticks_off()
        panel.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
        panel.set_title(f"{suite}, {noise:.0%} of the labels wrong", loc="left")
        panel.set(xlabel="share of the trees", ylabel="test error")
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(frameon=False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--results", type=Path, default=Path("build/pruning.jsonl"))
    given = parser.parse_args()
    names = [name for suite in SUITES.values() for name in suite]
    tasks = [task for task in all_tasks(names, [SEED]) if task.fold < FOLDS]
    tasks.sort(key=lambda task: task.fold)
    records = run(tasks, Source(given.data_dir), given.results)
    tables(records)
    draw(records)


if __name__ == "__main__":
    main()
