"""Tables and pictures of docs/scaling.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.cluster import large
from benchmarks.cluster.checks import SHAPE, WORKERS, predicted, read
from benchmarks.cluster.model import Cluster, Constants, Shape, break_even, fit_memory, once, predict
from benchmarks.cluster.small import constants as constants_of

ROUNDS = 100
FAR = Shape(1e9)
FAR_CLUSTER = Cluster(64, 8, "Dask", 10.0)
SPEEDS = (1.0, 10.0, 25.0)
FAR_SHAPES = {
    "28 columns, 2 classes": FAR,
    "28 columns, 26 classes": replace(FAR, classes=26),
    "1,000 columns, 2 classes": replace(FAR, columns=1000),
}
COLOURS = {"MPI": "#1f5fa8", "Dask": "#c8501e"}
HEADS = {
    "workers": "More workers",
    "bandwidth": "Slower networks",
    "latency": "Slower messages",
    "shape": "Other trees",
}


def rows(head: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """A Markdown table; all but the first columns are numbers."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *lines)]


def parts(kept: dict[str, Any]) -> dict[str, list[str]]:
    """The parts of the page that figures are in, by their names there; only those that were measured."""
    found: dict[str, list[str]] = {}
    if "races" in kept:
        found["race"] = race_table(kept["races"])
    if "small" in kept:
        constants = all_constants(kept)
        found["constants"] = constants_table(constants)
        found["far"] = far_table(constants)
        if kept.get("checks"):
            found["checks"] = checks_table(constants, kept["checks"])
    if "large" in kept:
        found["large"] = [f"- {large.sentence(one, kept['large']['rows'])}" for one in kept["large"]["fits"]]
    return found


def all_constants(kept: dict[str, Any]) -> Constants:
    """Those of the small measurements; memory from the fits of files, where there are two sizes of them."""
    constants = constants_of(kept["small"])
    fits = kept.get("large", {}).get("fits", [])
    peaks = [(kept["large"]["rows"] / one["workers"], max(seen["peak"] for seen in one["seen"])) for one in fits]
    if len({rows for rows, _ in peaks}) < 2:
        return constants
    per_row, process = fit_memory(peaks, large.COLUMNS)
    return replace(constants, per_row=per_row, process=process)


def race_table(races: dict[str, Any]) -> list[str]:
    """Every race: seconds per round and of the whole fit, and the ratio to one process."""
    lines = []
    for name in sorted(races, key=int):
        of_race = races[name]["results"][0]["rows"]
        alone = next(row["figure"] for row in of_race if row["ours"])
        for row in of_race:
            figure = row["figure"]
            cells = ["", ""] if figure is None else [f"{figure:.4f}", f"{figure / alone:.2f}"]
            lines.append([f"{int(name):,}", row["competitor"], *cells, row["note"]])
    return rows(("rows", "", "s per round", "of one process", "the whole fit; what a worker sends"), lines, 2)


def constants_table(constants: Constants) -> list[str]:
    """What was measured on small data."""
    nano = [f"{1e9 * cost:.2f} ns" for cost in constants.costs[:5]]
    lines = [
        ["a cell of the root", "$c_1$", nano[0]],
        ["a cell, for each further level", "$c_2$", nano[1]],
        ["a row, for each level", "$c_3$", nano[2]],
        ["a row and output", "$c_4$", nano[3]],
        ["a bin and class of each histogram", "$c_5$", nano[4]],
        ["a round", "$c_6$", f"{1e6 * constants.costs[5]:.0f} µs"],
        ["share of the work that threads do not divide", "$s$", f"{constants.serial:.2f}"],
        ["exchanges of a round", "", f"{constants.exchanges[0]:.1f} + {constants.exchanges[1]:.1f} for each level"],
        ["further exchanges with several classes", "", f"{constants.exchanges[2]:.1f}"],
    ]
    lines.append(["bytes that Dask sends for each byte of sums, after packing", "", f"{constants.packing:.2f}"])
    for name, one in constants.transports.items():
        lines.append([f"a small exchange, {name}", "$l$", f"{1e3 * one.latency:.3f} ms"])
        if one.tree:
            lines.append([f"each further worker below, {name}", "$l'$", f"{1e3 * one.further:.3f} ms"])
        lines.append([f"a byte, {name}", "$p$", f"{1e9 * one.per_byte:.2f} ns"])
    lines.append(["a cell, once: reading and binning", "", f"{1e9 * constants.preparing:.0f} ns"])
    lines.append(["a row, in memory, besides two bytes a cell", "", f"{constants.per_row:.0f} bytes"])
    lines.append(["a worker without rows, in memory", "", f"{constants.process / 1e6:.0f} MB"])
    return rows(("", "", "measured"), lines, 2)


def _gigabits(value: float) -> str:
    return "" if math.isinf(value) else f"{value:g}"


def checks_table(constants: Constants, checks: Sequence[dict[str, Any]]) -> list[str]:
    """Measured, predicted, and how far off."""
    lines = []
    for kind, title in HEADS.items():
        for one in (one for one in checks if one["kind"] == kind):
            check, foretold = read(one), predicted(constants, one)
            shape, cluster = check.shape, check.cluster
            what = f"{shape.rows:,.0f} x {shape.columns}, depth {shape.depth}"
            what += f", {shape.classes} classes" if shape.classes > 2 else ""
            delay = f"{1e3 * cluster.delay:g}" if cluster.delay else ""
            setting = [title, what, str(cluster.workers), cluster.transport if cluster.workers > 1 else ""]
            off = f"{foretold / one['seconds'] - 1:+.0%}"
            figures = [f"{1e3 * one['seconds']:.1f}", f"{1e3 * foretold:.1f}", off]
            lines.append([*setting, _gigabits(cluster.gigabits), delay, *figures])
    head = ["", "rows", "workers", "by", "Gbit/s", "ms added", "measured, ms", "predicted, ms", "off by"]
    return rows(head, lines, 2)


def far_table(constants: Constants) -> list[str]:
    """What the model says of a cluster that we do not have."""
    lines = []
    for name, shape in FAR_SHAPES.items():
        for transport in ("Dask", "MPI"):
            for gigabits in SPEEDS:
                cluster = replace(FAR_CLUSTER, transport=transport, gigabits=gigabits)
                found = predict(constants, shape, cluster)
                whole = once(constants, shape, cluster) + ROUNDS * found.seconds
                lines.append(
                    [
                        f"{name}, {transport}",
                        f"{gigabits:g}",
                        f"{1e3 * found.compute:,.0f}",
                        f"{1e3 * (found.exchange - found.network):,.0f}",
                        f"{1e3 * found.network:,.0f}",
                        f"{found.sent / 1e6:,.1f}",
                        f"{whole / 60:.1f}",
                        f"{break_even(constants, shape, cluster):.2g}",
                        f"{constants.memory(shape, cluster.workers) / 1e9:.1f}",
                    ]
                )
    head = ["", "Gbit/s", "compute, ms", "messages, ms", "network, ms", "MB a round", f"{ROUNDS} rounds, min"]
    return rows([*head, "break-even, Gbit/s", "GB a worker"], lines)


def draw(kept: dict[str, Any], folder: Path) -> None:
    """The pictures, in this folder."""
    if "small" not in kept:
        return
    constants = all_constants(kept)
    checks = kept.get("checks", [])
    draw_workers(constants, checks, folder / "scaling-workers.png")
    draw_bytes(kept, folder / "scaling-bytes.png")
    draw_bandwidth(constants, checks, folder / "scaling-bandwidth.png")
    draw_far(constants, folder / "scaling-far.png")


def _figure(width: float = 7.0, height: float = 3.8) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def draw_workers(constants: Constants, checks: Sequence[dict[str, Any]], path: Path) -> None:
    """Seconds of a round against workers: this machine, measured and predicted."""
    figure = _figure()
    axes = figure.subplots()
    for name, colour in COLOURS.items():
        own = [
            one
            for one in checks
            if (one["kind"], one["cluster"]["transport"], one["shape"]["rows"]) == ("workers", name, SHAPE.rows)
        ]
        if not own:
            continue
        n = [one["cluster"]["workers"] for one in own]
        axes.plot(n, [1e3 * one["seconds"] for one in own], "o", color=colour, label=f"{name}, measured")
        check = read(own[0])
        smooth = range(1, WORKERS[-1] + 1)
        line = [1e3 * predict(constants, check.shape, replace(check.cluster, workers=k)).seconds for k in smooth]
        axes.plot(smooth, line, "-", color=colour, label=f"{name}, predicted")
        own_cores = [
            1e3 * predict(constants, check.shape, replace(check.cluster, workers=k, cores=None)).seconds for k in smooth
        ]
        axes.plot(smooth, own_cores, ":", color=colour, label=f"{name}, predicted, a core for each")
    axes.set(xlabel="workers", ylabel="ms a round", yscale="log", title="1,000,000 x 28 rows, depth 6, two cores")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.25)
    _save(figure, path)


def draw_bytes(kept: dict[str, Any], path: Path) -> None:
    """Megabytes of a tree against depth: counted, and the theory."""
    figure = _figure()
    axes = figure.subplots()
    depths = list(range(2, 11))
    for columns, style in ((28, "-"), (112, "--")):
        theory = [Shape(1, columns, depth).sent / 1e6 for depth in depths]
        axes.plot(depths, theory, style, color="#888888", label=f"theory, full trees, {columns} columns")
    counted = [(depth, sent, 28) for depth, sent, _ in kept["small"]["sent"]]
    for one in kept.get("checks", []):
        shape = read(one).shape
        if one["sent"] and shape.classes == 2:
            counted.append((shape.depth, one["sent"], shape.columns))
    points = sorted({(depth, round(sent / 1e6, 3)) for depth, sent, _ in counted})
    axes.plot([depth for depth, _ in points], [sent for _, sent in points], "o", color=COLOURS["Dask"], label="counted")
    axes.set(xlabel="depth", ylabel="MB a worker and tree, one direction", yscale="log")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.25)
    _save(figure, path)


def draw_bandwidth(constants: Constants, checks: Sequence[dict[str, Any]], path: Path) -> None:
    """Seconds of a round against the speed of the network."""
    figure = _figure()
    axes = figure.subplots()
    speeds = [0.05 * 1.15**k for k in range(30)]
    for name, colour in COLOURS.items():
        for workers, marker, style in ((2, "o", "-"), (3, "s", "--")):
            own = [
                one
                for one in checks
                if one["kind"] == "bandwidth"
                and (one["cluster"]["transport"], one["cluster"]["workers"]) == (name, workers)
            ]
            if not own:
                continue
            x, y = [one["cluster"]["gigabits"] for one in own], [1e3 * one["seconds"] for one in own]
            axes.plot(x, y, marker, color=colour, label=f"{name}, {workers} workers, measured")
            check = read(own[0])
            line = [1e3 * predict(constants, check.shape, replace(check.cluster, gigabits=g)).seconds for g in speeds]
            axes.plot(speeds, line, style, color=colour, linewidth=1.2, label=f"{name}, {workers} workers, predicted")
    axes.set(xlabel="Gbit/s", ylabel="ms a round", xscale="log", yscale="log", title="200,000 x 28 rows, depth 6")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.25)
    _save(figure, path)


def draw_far(constants: Constants, path: Path) -> None:
    """A billion rows: seconds of a round against workers, for three networks."""
    figure = _figure(9.0)
    workers = [1, 2, 4, 9, 16, 32, 64, 128, 256]
    for axes, transport in zip(figure.subplots(1, 2, sharey=True), ("Dask", "MPI"), strict=True):
        for gigabits, colour in zip(SPEEDS, ("#c8501e", "#1f5fa8", "#3fa65a"), strict=True):
            found = [
                predict(constants, FAR, replace(FAR_CLUSTER, workers=n, transport=transport, gigabits=gigabits))
                for n in workers
            ]
            axes.plot(workers, [one.seconds for one in found], "-", color=colour, label=f"{gigabits:g} Gbit/s")
        compute = [predict(constants, FAR, replace(FAR_CLUSTER, workers=n)).compute for n in workers]
        axes.plot(workers, compute, ":", color="#666666", label="computation alone")
        axes.set(xlabel="workers of 8 cores", xscale="log", yscale="log", title=transport)
        axes.set_xticks(workers, [str(n) for n in workers])
        axes.minorticks_off()
        axes.grid(alpha=0.25)
    figure.axes[0].set_ylabel("s a round")
    figure.axes[0].legend(frameon=False, fontsize=8)
    _save(figure, path)
