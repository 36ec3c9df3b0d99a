"""`python -m benchmarks.flow_chart`: the flow chart of docs/which-estimator.md, as SVG on a light card of its own."""

from __future__ import annotations

from html import escape
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "which-estimator.svg"
WIDTH, LEFT, RIGHT, BOX, HIGH, STEP = 964, 40, 524, 400, 76, 118
LINE = "#8892a0"

# A question of one or two lines, the estimator that a yes leads to, what it does, and the colours of its box.
QUESTIONS = (
    (
        ("Is the answer a whole string,", "a label for every place?"),
        "structured.SequenceClassifier",
        "trained on edit distance, alignment, n-grams",
        ("#f3e8fb", "#8a4fbf"),
    ),
    (
        ("Rows from several hospitals, devices, years,", "and every one must be served?"),
        "MultiSourceBoostClassifier",
        "rows may not leave their owners: radboost.federated",
        ("#e5f4ec", "#2f8f5b"),
    ),
    (
        ("One model, judged by several losses at once?",),
        "AgnosticClassifier, …BoostClassifier",
        "good by the worst mixture of the losses",
        ("#e5f4ec", "#2f8f5b"),
    ),
    (
        ("Must features be few, the model a formula,", "or are the columns words of a text?"),
        "SparseBoostClassifier, …Regressor",
        "…CV chooses how many; reads sparse matrices",
        ("#fff3da", "#b27a00"),
    ),
    (
        ("Do you predict numbers?",),
        "RGBRegressor",
        "quantiles, counts, amounts, several targets",
        ("#fde8e4", "#c2503b"),
    ),
    (
        ("Do mistakes cost different amounts, or are", "many labels wrong?"),
        "SoftmaxBoostClassifier",
        "a cost matrix, or costs of single rows",
        ("#e3edfb", "#2e63b8"),
    ),
)
ABOUT = (
    "Questions from top to bottom; the first that is answered with yes gives the estimator. Strings: "
    "SequenceClassifier. Several sources: MultiSourceBoostClassifier. Several losses: AgnosticClassifier. Few "
    "features, a formula or text: SparseBoostClassifier or SparseBoostRegressor. Numbers: RGBRegressor. Unequal costs "
    "or many wrong labels: SoftmaxBoostClassifier. Otherwise: DeepBoostClassifier."
)
STYLE = f"""
    .q {{ font-size: 16.5px; fill: #1d2430 }}
    .e {{ font-size: 17px; font-weight: 600; fill: #1d2430 }}
    .d {{ font-size: 23px; font-weight: 700; fill: #14306b }}
    .h {{ font-size: 22px; font-weight: 700; fill: #1d2430 }}
    .s {{ font-size: 14.5px; fill: #46505f }}
    .a {{ stroke: {LINE}; stroke-width: 2; fill: none }}
  """
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def box(x: float, y: float, size: tuple[float, float], colours: tuple[str, str], line: float = 1.5) -> str:
    """A rounded rectangle."""
    return (
        f'  <rect x="{x}" y="{y}" width="{size[0]}" height="{size[1]}" rx="10" fill="{colours[0]}" '
        f'stroke="{colours[1]}" stroke-width="{line}"/>'
    )


def text(x: float, y: float, content: str, style: str, anchor: str = "middle") -> str:
    """One line of text."""
    return f'  <text x="{x}" y="{y}" class="{style}" text-anchor="{anchor}">{escape(content)}</text>'


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """A straight one."""
    return f'  <path d="M{x} {y} L{to_x} {to_y}" class="a" marker-end="url(#head)"/>'


def question(y: float, lines: tuple[str, ...], estimator: str, about: str, colours: tuple[str, str]) -> list[str]:
    """A question on the left, the answer yes on the right, the way on below."""
    middle, first = LEFT + BOX / 2, y + (33 if len(lines) == 2 else 44)
    return [
        box(LEFT, y, (BOX, HIGH), ("#ffffff", LINE)),
        *(text(middle, first + 23 * place, line, "q") for place, line in enumerate(lines)),
        arrow(LEFT + BOX, y + HIGH / 2, RIGHT - 4, y + HIGH / 2),
        text((LEFT + BOX + RIGHT) / 2 - 4, y + HIGH / 2 - 8, "yes", "s"),
        box(RIGHT, y, (BOX, HIGH), colours),
        text(RIGHT + BOX / 2, y + 33, estimator, "e"),
        text(RIGHT + BOX / 2, y + 57, about, "s"),
        arrow(middle, y + HIGH, middle, y + STEP - 4),
        text(middle + 12, y + STEP - 14, "no", "s", "start"),
    ]


def chart() -> str:
    """The whole picture."""
    parts = [text(LEFT, 46, "Which estimator?", "h", "start")]
    parts.append(text(LEFT, 72, "From the top; the first yes is yours.", "s", "start"))
    y = 96
    for lines, estimator, about, colours in QUESTIONS:
        parts += question(y, lines, estimator, about, colours)
        y += STEP
    middle = WIDTH / 2
    parts += [
        box(LEFT, y, (RIGHT + BOX - LEFT, 92), ("#d9e7fd", "#2e63b8"), 2.5),
        text(middle, y + 35, "DeepBoostClassifier", "d"),
        text(middle, y + 61, "two classes or many, small or large, clean or noisy: it looks at the data", "s"),
        text(middle, y + 81, "a second opinion, often better on small data and slower: RGBClassifier", "s"),
        text(
            middle,
            y + 126,
            "Minutes to spare: DeepBoostClassifierCV(time_budget=60); RGB and soft-max have the same",
            "s",
        ),
        text(middle, y + 148, "The published algorithms, to compare with: .paper() of each, radboost.baselines", "s"),
    ]
    height = y + 170
    head = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-labelledby="title about" font-family="{FONTS}">'
        ),
        '  <title id="title">Which estimator?</title>',
        f'  <desc id="about">{escape(ABOUT)}</desc>',
        f"  <style>{STYLE}</style>",
        (
            '  <defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{LINE}"/></marker></defs>'
        ),
        f'  <rect x="2" y="2" width="{WIDTH - 4}" height="{height - 4}" rx="16" fill="#fbfcfe" stroke="#d5dae2"/>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(chart(), encoding="utf-8")
    print(f"Written to {PICTURE}")
