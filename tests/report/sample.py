"""Reports without a model: every kind of block, for two classes and for numbers, and one whose texts are hostile."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from radboost.report.blocks import (
    Bars,
    Block,
    Code,
    Columns,
    Confusion,
    Figure,
    Histogram,
    Lines,
    Mark,
    Report,
    RowCard,
    RowCards,
    Section,
    Series,
    Step,
    Table,
    Tabs,
    Text,
    ThresholdExplorer,
)

FEATURES = (
    "age",
    "capital gain",
    "education-num",
    "hours per week",
    "marital status",
    "occupation",
    "relationship",
    "a column with a name that is rather long for a chart",
)


def floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def scores(n_rows: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the positive class, and which rows are of it."""
    rng = np.random.default_rng(7)
    positive = rng.random(n_rows) < 0.3
    return 1 / (1 + np.exp(-(rng.normal(size=n_rows) * 1.3 + np.where(positive, 1.3, -1.7)))), positive


def explorer(n_thresholds: int = 101) -> ThresholdExplorer:
    probability, positive = scores()
    thresholds = np.linspace(0, 1, n_thresholds)
    above = probability[:, None] >= thresholds
    truth = positive[:, None]
    return ThresholdExplorer(
        positive=">50K",
        negative="<=50K",
        thresholds=floats(thresholds),
        true_positive=tuple(int(n) for n in (above & truth).sum(0)),
        false_positive=tuple(int(n) for n in (above & ~truth).sum(0)),
        false_negative=tuple(int(n) for n in (~above & truth).sum(0)),
        true_negative=tuple(int(n) for n in (~above & ~truth).sum(0)),
        caption="Held-out rows. Costs count a missed row of >50K against a false alarm.",
    )


def learning() -> Lines:
    rounds = np.arange(1, 301)
    train = 0.24 * np.exp(-rounds / 60) + 0.085
    watched = 0.22 * np.exp(-rounds / 45) + 0.128 + 0.00012 * np.maximum(rounds - 160, 0)
    wobble = 0.002 * np.sin(rounds / 3.1)
    held = floats(watched + wobble)
    low, high = floats(watched + wobble - 0.006), floats(watched + wobble + 0.006)
    return Lines(
        "Error by round",
        "round",
        "error",
        (
            Series("training rows", floats(rounds), floats(train), style="dashed"),
            Series("held-out rows", floats(rounds), held, low, high),
        ),
        marks=(Mark(162, "chosen round, 162"), Mark(300, "last")),
        caption="The band is a 95% interval. The chosen round has the least error on rows held back from the fit.",
    )


def reliability() -> Lines:
    probability, positive = scores()
    edges = np.linspace(0, 1, 11)
    bins = np.clip(np.digitize(probability, edges) - 1, 0, 9)
    counts = np.bincount(bins, minlength=10)
    said = np.bincount(bins, probability, 10) / counts
    seen = np.bincount(bins, positive, 10) / counts
    spread = 1.96 * np.sqrt(seen * (1 - seen) / counts)
    series = Series(
        "observed",
        floats(said),
        floats(seen),
        floats(np.maximum(seen - spread, 0)),
        floats(np.minimum(seen + spread, 1)),
        style="points",
        sizes=tuple(int(count) for count in counts),
    )
    return Lines(
        "Reliability", "probability said", "share observed", (series,), diagonal=True, caption="Areas are rows."
    )


def roc() -> Lines:
    table = explorer(201)
    positive = table.true_positive[0] + table.false_negative[0]
    negative = table.false_positive[0] + table.true_negative[0]
    x = floats(np.array(table.false_positive[::-1]) / negative)
    y = floats(np.array(table.true_positive[::-1]) / positive)
    return Lines("ROC curve", "false positive rate", "true positive rate", (Series("area 0.93", x, y),), diagonal=True)


def margins() -> Histogram:
    rng = np.random.default_rng(1)
    edges = np.linspace(-1, 1, 41)
    train = np.histogram(np.clip(rng.normal(0.45, 0.25, 4000), -1, 1), edges)[0] / 4000
    held = np.histogram(np.clip(rng.normal(0.35, 0.3, 2000), -1, 1), edges)[0] / 2000
    return Histogram(
        "Margins",
        "margin",
        "share of rows",
        floats(edges),
        (("training rows", floats(train)), ("held-out rows", floats(held))),
        marks=(Mark(0, "errors lie to the left"),),
        caption="A row with a margin below 0 is answered wrongly.",
    )


def slices() -> Bars:
    values = (0.31, 0.27, 0.22, 0.18, 0.131, 0.12, 0.05, 0.0)
    pairs = tuple((max(value - 0.04, 0.0), value + 0.05) for value in values)
    return Bars(
        "Error by slice",
        "error",
        tuple(f"{feature} = {level}" for feature, level in zip(FEATURES, "abcdefgh", strict=True)),
        (("error", values),),
        (pairs,),
        highlighted=(0, 1),
        counts=(120, 301, 87, 95, 1222, 88, 410, 77),
        caption="With this many slices some are bad by chance.",
    )


def importance() -> Bars:
    gain = (0.31, 0.22, 0.15, 0.12, 0.08, 0.06, 0.04, 0.02)
    permuted = (0.05, 0.09, 0.03, 0.02, None, 0.01, -0.012, 0.002)
    shap = (0.4, 0.5, 0.3, 0.2, 0.1, 0.1, 0.05, 0.01)
    return Bars("Importance", "share", FEATURES, (("gain", gain), ("permutation", permuted), ("mean |SHAP|", shap)))


def dependence() -> Tabs:
    rng = np.random.default_rng(3)
    ages = floats(np.sort(rng.gamma(6, 6.5, 200) + 17))
    curve = [math.tanh((age - 38) / 12) - max(age - 60, 0) / 25 for age in ages]
    numeric = Lines("Dependence on age", "age", "score", (Series("score", ages, floats(curve)),), rug=ages)
    levels = (
        "Adm-clerical",
        "Exec-managerial",
        "Farming-fishing",
        "Other-service",
        "Prof-specialty",
        "Sales",
        "Tech-support",
    )
    effects = (-0.2, 0.6, -0.7, -0.9, 0.5, 0.1, 0.3)
    places = tuple(range(7))
    low, high = floats(np.array(effects) - 0.1), floats(np.array(effects) + 0.1)
    text = Lines(
        "Dependence on occupation", "", "score", (Series("score", places, effects, low, high, "points"),), ticks=levels
    )
    gains = floats(np.logspace(0, 5, 40))
    log = Lines(
        "Dependence on gain", "capital gain", "score", (Series("score", gains, gains, style="steps"),), log_x=True
    )
    return Tabs(
        (("age", (numeric,)), ("occupation", (text,)), ("capital gain", (log, Text(("The axis is logarithmic.",)))))
    )


def hardest() -> RowCards:
    def card(place: int) -> RowCard:
        cells = (
            ("age", str(30 + place)),
            ("occupation", "Exec-managerial"),
            ("capital gain", "0"),
            ("hours per week", "40"),
        )
        steps = (
            Step("capital gain at most 5,119", -0.42),
            Step("marital status is Married-civ-spouse", 0.91),
            Step("age between 28.5 and 61.5", 0.13 * place),
            Step("everything else", -0.05),
            Step("start", None),
        )
        return RowCard(f"row {place * 37}", "<=50K", ">50K", f"{97 - place}.2 % sure", cells, steps)

    return RowCards(
        tuple(card(place) for place in range(5)), "The rows that the model is most sure of and wrong about."
    )


def data_card() -> Table:
    rows = (
        ("age", "number", 0.0, 73, "17 to 90"),
        ("capital gain", "number", 0.0, 119, "0 to 99,999"),
        ("education-num", "number", 0.0, 16, "1 to 16"),
        ("occupation", "text", 0.0566, 14, "Prof-specialty, Craft-repair, ..."),
        ("native country", "text", 0.0179, 41, "United-States, Mexico, ..."),
        ("constant", "number", None, 1, "0"),
    )
    return Table(
        ("column", "kind", "missing", "values", "what"), rows, "Columns of the training rows.", highlighted=(5,)
    )


def evidence() -> tuple[Section, ...]:
    code = Code(
        "from radboost import DeepBoostClassifier\n\nmodel = DeepBoostClassifier(random_state=0).fit(X, y)\n"
        'model.report(X_test, y_test, "report.html")\n'
    )
    bound = Bars(
        "What is known of the true error",
        "error",
        ("observed on held-out rows", "held-out limit, 95%", "bound from training rows"),
        (("error", (0.128, 0.139, 1.84)),),
        highlighted=(1,),
        caption="The bound is vacuous: every classifier has an error below 1.",
    )
    return (
        Section(
            "guarantees",
            "How far it may be trusted",
            "A limit from held-out rows holds; the bound is vacuous here.",
            (bound, margins()),
        ),
        Section(
            "calibration",
            "Probabilities",
            "What the model calls 80% happens about 80 times in 100.",
            (Columns((reliability(), roc())),),
        ),
        Section(
            "reproduce", "How to get it again", "The same rows and seed give the same model, bit for bit.", (code,)
        ),
    )


def classes() -> Report:
    """Two classes."""
    figures = (
        Figure("Error", "12.8 %", "11.4 to 14.3 %, 2,000 held-out rows", "good"),
        Figure("Majority class", "24.1 %", "always <=50K"),
        Figure("Logistic regression", "15.1 %", "13.6 to 16.7 %"),
        Figure("Log loss", "0.279", "0.552 without columns"),
        Figure("Bound", "vacuous", "1.84", "warning"),
    )
    confusion = Confusion(("<=50K", ">50K"), ((1411, 104), (152, 333)), "At the threshold 0.5.")
    note = Text(
        ("About 3.1% of the training labels look wrong. They are listed below.", "Estimated by cross-fitting."), "note"
    )
    warning = Text(
        ("Two columns nearly decide the target by themselves: check that they are known when the answer is needed.",),
        "warning",
    )
    sections = (
        Section(
            "data",
            "The data",
            "30,162 rows for training, 2,000 held out; one column never changes.",
            (warning, data_card(), note),
        ),
        Section("learning", "How it learned", "More rounds stop helping after 162.", (learning(),)),
        Section(
            "errors",
            "Where it errs",
            "Most errors miss people above 50K.",
            (Tabs((("Confusion", (confusion,)), ("Thresholds and costs", (explorer(),)), ("Slices", (slices(),)))),),
        ),
        Section(
            "features", "What it uses", "Gain and permutation disagree on two columns.", (importance(), dependence())
        ),
        Section(
            "rows",
            "The hardest rows",
            "Each row opens to the path that explains it.",
            (hardest(), Text(("No row is missing.",), "good")),
        ),
        *evidence(),
    )
    return Report(
        "Income above 50K",
        "DeepBoostClassifier on adult.csv, judged on 2,000 rows it never saw",
        "The model errs on 12.8% of new rows, clearly less than a linear model (15.1%) and the majority class (24.1%).",
        "good",
        figures,
        sections,
        (("RadBoost", "0.1.0"), ("Python", "3.11.7"), ("seed", "0"), ("data", "sha256 9f2c41d7a0be")),
    )


def numbers() -> Report:
    """A number as target."""
    rng = np.random.default_rng(5)
    predicted = rng.normal(22, 8, 900)
    residual = rng.normal(0, 1 + 0.1 * np.abs(predicted - 22), 900)
    scatter = Lines(
        "Residuals",
        "prediction",
        "residual",
        (Series("rows", floats(predicted), floats(residual), style="points"),),
        caption="Each point is a held-out row.",
    )
    deciles = Bars(
        "Error by decile of the target",
        "mean absolute error",
        tuple(f"{i}0 to {i + 1}0 %" for i in range(10)),
        (("error", floats(1 + rng.random(10))),),
        counts=(90,) * 10,
    )
    many = Table(
        ("row", "target", "prediction", "residual"),
        tuple(
            (f"row {i}", float(predicted[i] + residual[i]), float(predicted[i]), float(residual[i])) for i in range(40)
        ),
        "The largest residuals.",
    )
    sections = (
        Section("residuals", "Residuals", "Errors grow at both ends.", (scatter, Columns((deciles, margins())))),
        Section("rows", "The largest residuals", "Forty rows.", (many,)),
        Section(
            "size",
            "Size",
            "Thirty trees are nearly as good.",
            (
                Lines(
                    "Error by trees",
                    "trees",
                    "RMSE",
                    (Series("RMSE", (1, 10, 100, 1000), (9.1, 4.2, 3.1, 3.0)),),
                    log_x=True,
                ),
            ),
        ),
    )
    figures = (
        Figure("RMSE", "3.02", "2.7 to 3.4", "plain"),
        Figure("R\N{SUPERSCRIPT TWO}", "0.87", "0.84 to 0.90", "good"),
    )
    return Report(
        "House prices", "RGBRegressor", "Not clearly better than a linear model.", "warning", figures, sections, ()
    )


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>window.broken = 1</script>",
    '"\' onmouseover="window.broken = 2" x=\'',
    "<img src=x onerror=window.broken=3>",
    "line one\nline two\r\nline three",
    "x" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u202e reversed",
    "",
    "NUL \x00 and \x1b",
    "half a pair \ud800",
    "]]> --> &amp; <!-- ${1} `",
    "{{ 7 * 7 }} https://example.org/x.png",
)


def hostile() -> Report:
    """Every text of every block is one that should stay text."""
    H = HOSTILE
    n = len(H)
    values = floats(range(1, n + 1))
    blocks: tuple[Block, ...] = (
        Text(H, "warning"),
        Table(H, (H, values, (None, math.nan, *values[2:])), H[0], (0,)),
        Lines(
            H[0],
            H[1],
            H[2],
            tuple(Series(text, (0, 1), (index, index + 1)) for index, text in enumerate(H)),
            (Mark(0.5, H[0]), Mark(0.6, H[5])),
            caption=H[1],
        ),
        Lines(H[3], H[7], H[7], (Series(H[0], tuple(range(n)), values, style="points"),), ticks=H),
        Histogram(H[0], H[3], H[2], (0, 1, 2), ((H[1], (3, 4)), (H[0], (1, 2))), caption=H[10]),
        Bars(H[1], H[2], H, ((H[0], values), (H[3], values)), counts=tuple(range(n))),
        Confusion(H[:4], tuple(tuple(range(i, i + 4)) for i in range(4)), H[0]),
        ThresholdExplorer(H[0], H[2], (0.0, 0.5, 1.0), (5, 3, 0), (5, 1, 0), (0, 2, 5), (0, 4, 5), caption=H[1]),
        RowCards(
            tuple(
                RowCard(a, b, H[1], H[2], tuple(zip(H, H[::-1], strict=True)), tuple(Step(text, 1.0) for text in H))
                for a, b in pairwise(H)
            ),
            H[0],
        ),
        Code(H[1] + H[0], H[2]),
        Tabs(tuple((text, (Text((text,)),)) for text in H)),
        Columns((Text((H[0],)), Text((H[1],)))),
    )
    sections = tuple(Section(text, text, text, blocks if index == 0 else ()) for index, text in enumerate(H))
    figures = tuple(Figure(text, text, text) for text in H)
    return Report(H[0], H[1], H[2], "warning", figures, sections, tuple(zip(H, H, strict=True)))
