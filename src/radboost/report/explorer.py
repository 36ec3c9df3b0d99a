"""The explorer of thresholds: sliders, what holds at them, two charts, and a table for those without sliders."""

from __future__ import annotations

from radboost.report.blocks import Lines, Series, Table, ThresholdExplorer
from radboost.report.charts import COLUMN, lines
from radboost.report.html import NOTHING, escape, name, number
from radboost.report.parts import caption, key, table

STEPS = 40
"""Steps of the slider of costs to either side of equal costs."""
LARGEST_RATIO = 20.0
TALLEST = 1.5
"""End of the axis of costs, in costs of the better constant answer."""


def nearest(block: ThresholdExplorer, threshold: float) -> int:
    """The place of the threshold nearest to one; the lower one of two."""
    return min(range(len(block.thresholds)), key=lambda place: (abs(block.thresholds[place] - threshold), place))


def figures(block: ThresholdExplorer, place: int, ratio: float = 1.0) -> dict[str, float | None]:
    """What holds at a threshold. Mean cost: a missed positive costs `ratio`, a false alarm 1, the rest nothing."""
    hit, alarm = float(block.true_positive[place]), float(block.false_positive[place])
    missed, passed = float(block.false_negative[place]), float(block.true_negative[place])
    total = hit + alarm + missed + passed
    return {
        "error": (alarm + missed) / total if total else None,
        "precision": hit / (hit + alarm) if hit + alarm else None,
        "recall": hit / (hit + missed) if hit + missed else None,
        "specificity": passed / (passed + alarm) if passed + alarm else None,
        "cost": (ratio * missed + alarm) / total if total else None,
    }


def cheapest(block: ThresholdExplorer, ratio: float = 1.0) -> int:
    """The place of the threshold of least mean cost; the one nearest to the middle of those that tie."""
    costs = [figures(block, place, ratio)["cost"] or 0.0 for place in range(len(block.thresholds))]
    best = [place for place, cost in enumerate(costs) if cost <= min(costs) + 1e-12]
    return best[(len(best) - 1) // 2]


def relative_costs(block: ThresholdExplorer, ratio: float = 1.0) -> list[float | None]:
    """Costs beside that of the better constant answer, which is 1; None where a class has no rows."""
    positive = float(block.true_positive[0]) + float(block.false_negative[0])
    negative = float(block.false_positive[0]) + float(block.true_negative[0])
    constant = min(ratio * positive, negative)
    if not constant:
        return [None] * len(block.thresholds)
    pairs = zip(block.false_negative, block.false_positive, strict=True)
    return [min((ratio * float(missed) + float(alarm)) / constant, TALLEST) for missed, alarm in pairs]


def explorer(block: ThresholdExplorer, place: str, identifier: str) -> str:
    """Sliders of threshold and costs with what they lead to."""
    if not block.thresholds:
        return f'<p class="caption">There are no thresholds to choose from.</p>{caption(block.caption, "p")}'
    start = nearest(block, block.initial)
    return (
        f'<div class="explorer" data-explorer="{place}">'
        f"{_controls(block, start, identifier)}{_outcome(block, start)}"
        f'<div class="columns">{_rates(block)}{_costs(block)}</div>'
        f'<div class="no-slider">{_table(block)}</div>{caption(block.caption, "p")}</div>'
    )


def _controls(block: ThresholdExplorer, start: int, identifier: str) -> str:
    positive = name(block.positive, 40)
    slider = (
        f'<input type="range" id="{identifier}-threshold" min="0" max="{len(block.thresholds) - 1}" value="{start}"'
    )
    return (
        f'<div class="controls js-only"><div class="control"><label for="{identifier}-threshold">Answer {positive} '
        f"where its probability is above</label>"
        f'<output data-out="threshold">{number(block.thresholds[start], 3)}</output>'
        f'{slider} step="1" data-slider="threshold"></div>'
        f'<div class="control"><label for="{identifier}-cost">Cost of a missed {positive}, where a false alarm costs 1'
        f'</label><output data-out="ratio">1</output><input type="range" id="{identifier}-cost" min="-{STEPS}" '
        f'max="{STEPS}" value="0" step="1" data-slider="ratio" data-largest="{LARGEST_RATIO:g}"></div>'
        f'<p class="advice"><span data-out="advice" aria-live="polite"></span> '
        f'<button type="button" data-cheapest>Use it</button></p></div>'
    )


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f} %"


def _outcome(block: ThresholdExplorer, start: int) -> str:
    """The four counts and the rates at the start; the sliders change them."""
    now = figures(block, start)
    positive, negative = name(block.positive, 24), name(block.negative, 24)
    rates = "".join(
        f'<div><dt>{rate.capitalize()}</dt><dd data-out="{rate}">{_percent(now[rate])}</dd></div>'
        for rate in ("error", "precision", "recall", "specificity")
    )
    cost = now["cost"]
    rates += f'<div><dt>Mean cost</dt><dd data-out="cost">{NOTHING if cost is None else f"{cost:.4f}"}</dd></div>'
    return (
        f'<div class="outcome"><table class="confusion four"><thead><tr><td class="corner">true '
        f'<span aria-hidden="true">&darr;</span> predicted <span aria-hidden="true">&rarr;</span></td>'
        f'<th scope="col">{positive}</th><th scope="col">{negative}</th></tr></thead><tbody>'
        f'<tr><th scope="row">{positive}</th><td class="number hit4" data-out="true_positive">'
        f'{number(block.true_positive[start])}</td><td class="number miss4" data-out="false_negative">'
        f"{number(block.false_negative[start])}</td></tr>"
        f'<tr><th scope="row">{negative}</th><td class="number miss4" data-out="false_positive">'
        f'{number(block.false_positive[start])}</td><td class="number hit4" data-out="true_negative">'
        f'{number(block.true_negative[start])}</td></tr></tbody></table><dl class="rates">{rates}</dl></div>'
    )


def _rates(block: ThresholdExplorer) -> str:
    found = [figures(block, place) for place in range(len(block.thresholds))]
    series = tuple(
        Series(rate, block.thresholds, tuple(figure[rate] for figure in found))
        for rate in ("recall", "precision", "error")
    )
    keys = "".join(f"<li>{key(place)}{one.name}</li>" for place, one in enumerate(series))
    drawn = lines(Lines("Recall, precision and error by threshold", "threshold", "share of rows", series), COLUMN)
    return (
        f'<figure class="figure" data-chart="rates"><p class="chart-title">Rates by threshold</p>'
        f'<ul class="legend">{keys}</ul>{drawn}</figure>'
    )


def _costs(block: ThresholdExplorer) -> str:
    costs = relative_costs(block)
    if costs[0] is None:
        return ""
    constant = Series("constant answer", (block.thresholds[0], block.thresholds[-1]), (1.0, 1.0), style="dashed")
    curve = Series("this model", block.thresholds, tuple(costs))
    block_of_lines = Lines("Mean cost by threshold", "threshold", "cost", (curve, constant))
    drawn = lines(block_of_lines, COLUMN, y_range=(0.0, TALLEST))
    text = escape("1 is the cost of the better constant answer at this ratio of costs; lower is better.")
    return (
        f'<figure class="figure" data-chart="costs"><p class="chart-title">Cost by threshold</p>'
        f'<ul class="legend"><li>{key(0)}this model</li><li>{key(1, "dashed")}constant answer</li></ul>'
        f'{drawn}<figcaption class="caption">{text}</figcaption></figure>'
    )


def _table(block: ThresholdExplorer) -> str:
    """About nine thresholds in figures, where there are no sliders."""
    places = sorted({nearest(block, tenth / 10) for tenth in range(1, 10)})
    rows = []
    for place in places:
        now = figures(block, place)
        counts = (block.true_positive, block.false_positive, block.false_negative, block.true_negative)
        rates = (now["error"], now["precision"], now["recall"])
        rows.append((block.thresholds[place], *(count[place] for count in counts), *rates))
    columns = ("threshold", "true positives", "false positives", "false negatives", "true negatives")
    return table(Table((*columns, "error", "precision", "recall"), tuple(rows), digits=3))
