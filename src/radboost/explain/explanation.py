"""Explanation of one prediction: contributions of columns, splits on the path, and their text and HTML forms."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from radboost._numbers import are_years, number_text

SHOWN = 8  # contributions and questions in texts; the others are added up


@dataclass(frozen=True)
class Contribution:
    """Contribution of a feature, or of a term of a formula, to the score of the row.

    Attributes
    ----------
    name : str
        Of the feature; of a linear model's term its formula.
    column : int or None
        The column of X; None for a term of several columns.
    value : object
        What the row has there; of a term the number that it evaluates to.
    effect : float
        Added to the score; positive if it favors the answer (for a regressor: if it raises the prediction).
    coefficient : float or None
        Of a term: effect = coefficient * value.
    remark : str
        "missing" or "unknown category"; otherwise empty.
    """

    name: str
    column: int | None
    value: Any
    effect: float
    coefficient: float | None = None
    remark: str = ""

    @property
    def text(self) -> str:
        """The feature with its value."""
        if self.remark == "missing":
            return f"{self.name} is missing"
        if self.coefficient is not None:
            return f"{number_text(self.coefficient)} * {_shown(self.value)} ({self.name})"
        return f"{self.name} = {_shown(self.value)}" + (f" ({self.remark})" if self.remark else "")


@dataclass(frozen=True)
class Asked:
    """A split on the path of the row (question), in one or several trees.

    Attributes
    ----------
    question : str
    yes : bool
        The answer of the row; of a missing value the side that it was sent to.
    effect : float
        How far the answer moved the score that is expected by the training rows, added up over the trees that asked;
        positive where it speaks for the answer of the model.
    times : int
        How often it was asked.
    column : int
        The column of X that it is about.
    threshold : float or None
        Of a question that is true up to a number; None of one about categories or whether there is a value.
    missing : bool
        Whether the row has no value there, or a category that the model does not know.
    """

    question: str
    yes: bool
    effect: float
    times: int
    column: int
    threshold: float | None = None
    missing: bool = False

    @property
    def text(self) -> str:
        """The question and its answer."""
        return f"{self.question}? {self.said}{_often(self.times)}"

    @property
    def said(self) -> str:
        """The answer in a word, or a few where there is no value."""
        return ("missing, taken as " if self.missing else "") + ("yes" if self.yes else "no")


@dataclass(frozen=True)
class Explanation:
    """Explanation of the prediction for one row; `print` shows it in words.

    Attributes
    ----------
    answer : object
        What `predict` returns for the row.
    runner_up : object or None
        Of a classifier the class that the answer is compared with: the other one, or the one with the second score.
    score : float
        How far the score of the answer is above that of the runner-up; with two classes abs(f(x)). Of a regressor F(x),
        which is the prediction unless the loss has a link.
    base : float
        The score before anything is known of the row: the mean by training weight, of a linear model the intercept.
        base and the effects of `contributions` sum to `score`.
    contributions : tuple of Contribution
        Of each feature that moves the score, or of each term, the largest effects first.
    questions : tuple of Asked
        Those of the trees that the row answered, the largest effects first. Their effects, too, sum to score - base.
    probability : float or None
        Of the answer, by `predict_proba`.
    margin : float or None
        score divided by the sum of the sizes of the weights, between 0 and 1 (`guarantees.margins`); None where nothing
        bounds the score.
    alike : float or None
        Training rows (their weight) that fall into the same leaf as this row, the mean over trees, each counted by the
        size of its weight. None where there are no trees, and in soft-max boosting, whose trees count drawn pairs of a
        row and a class.
    fewest_alike : float or None
        The same for the tree in which they are fewest.
    sample_size : float or None
        The weight of all training rows; None for linear models.
    remarks : tuple of str
        What is missing in the row, and categories that the model does not know.
    target : int or None
        The column of y that the answer is for; None where there is one target.
    """

    answer: Any
    runner_up: Any
    score: float
    base: float
    contributions: tuple[Contribution, ...]
    questions: tuple[Asked, ...] = ()
    probability: float | None = None
    margin: float | None = None
    alike: float | None = None
    fewest_alike: float | None = None
    sample_size: float | None = None
    remarks: tuple[str, ...] = ()
    target: int | None = None

    @property
    def classifies(self) -> bool:
        return self.runner_up is not None

    @property
    def formula(self) -> bool:
        """True if contributions are the terms of a formula."""
        return self.sample_size is None

    def heading(self) -> list[str]:
        """The answer, and how clear it is."""
        of_target = "" if self.target is None else f" for target {self.target}"
        if not self.classifies:
            link = "" if _equal(self.answer, self.score) else f" (from the score {number_text(self.score)})"
            return [f"Predicts {_shown(self.answer)}{link}{of_target}."]
        sure = "" if self.probability is None else f", with probability {self.probability:.3g}"
        lines = [f"Answers {self.answer!r} rather than {self.runner_up!r}{of_target}{sure}."]
        of = "" if self.margin is None else f", a margin of {self.margin:.3g} on a scale to 1"
        lines.append(f"Its score is ahead by {number_text(self.score)}{of}.")
        return lines

    def __str__(self) -> str:
        parts = [self.heading(), self._contributions()]
        if self.questions:
            moves = _aligned(_added_up(gather(self.questions), SHOWN, "more answer"))
            parts.append(["Answers that moved the score most:", *moves])
        if self.alike is not None:
            parts.append([self._company()])
        if self.remarks:
            parts.append(list(self.remarks))
        return "\n\n".join("\n".join(lines) for lines in parts if lines)

    def _repr_html_(self) -> str:
        """HTML for notebooks: the text, with a table of contributions."""
        cells = "".join(
            f"<tr><td style='text-align:left'>{html.escape(text)}</td><td>{number_text(effect, '+')}</td></tr>"
            for text, effect in self._sum()
        )
        parts = [*self.heading(), *([self._company()] if self.alike is not None else []), *self.remarks]
        words = "".join(f"<p>{html.escape(part)}</p>" for part in parts)
        return f"<div>{words}<table><tbody>{cells}</tbody></table></div>"

    def _contributions(self) -> list[str]:
        towards = f" for {self.answer!r} (+) and for {self.runner_up!r} (-)" if self.classifies else ""
        return [f"What speaks{towards}:" if towards else "What the score is made of:", *_aligned(self._sum())]

    def _sum(self) -> list[tuple[str, float]]:
        """Texts and numbers of the sum: the base, the contributions and the score."""
        start = "the intercept" if self.formula else "where every row starts"
        return [(start, self.base), *largest_parts(self, SHOWN), ("the score", self.score)]

    def _company(self) -> str:
        assert self.alike is not None
        assert self.fewest_alike is not None
        assert self.sample_size is not None
        fewest = (
            "" if self.fewest_alike >= self.alike else f", in one tree no more than {number_text(self.fewest_alike)}"
        )
        rows = f"{number_text(self.alike)} of {number_text(self.sample_size)} training rows"
        return f"On average over the trees {rows} share its leaf{fewest}."


def largest_parts(explanation: Explanation, n: int) -> list[tuple[str, float]]:
    """Texts and effects of the n largest contributions, and of all others as one."""
    parts = [(one.text, one.effect) for one in explanation.contributions]
    return _added_up(parts, n, "more term" if explanation.formula else "more feature")


def gather(questions: Sequence[Asked]) -> list[tuple[str, float]]:
    """Texts and effects of questions, largest effects first; questions that differ only in the threshold are merged."""
    groups: dict[tuple[Any, ...], list[Asked]] = {}
    for one in questions:
        groups.setdefault((one.column, one.yes, one.question if one.threshold is None else ""), []).append(one)
    result = []
    for group in groups.values():
        thresholds = [one.threshold for one in group if one.threshold is not None]
        first, times = group[0], sum(one.times for one in group)
        question = first.question
        if len({one.question for one in group}) > 1:
            ends = [float(math.floor(end)) if abs(end) >= 1000.0 else end for end in (min(thresholds), max(thresholds))]
            least, largest = (number_text(end, year=are_years(ends)) for end in ends)
            question = (
                f"{question[: question.rindex(' <= ')]} <= {least}{'' if least == largest else f' ... {largest}'}"
            )
        effect = math.fsum(one.effect for one in group)
        result.append((f"{question}? {first.said}{_often(times)}", effect))
    return sorted(result, key=lambda one: -abs(one[1]))


def _often(times: int) -> str:
    return "" if times == 1 else f", {times} times"


def _added_up(parts: list[tuple[str, float]], n: int, what: str) -> list[tuple[str, float]]:
    """The first n texts and effects, and the sum of the others as one: "3 more features", where `what` is these."""
    rest = [effect for _, effect in parts[n:]]
    more = [(f"{len(rest)} {what}{'' if len(rest) == 1 else 's'}", math.fsum(rest))] if rest else []
    return parts[:n] + more


def _aligned(parts: list[tuple[str, float]]) -> list[str]:
    """Numbers, aligned to the right, and texts."""
    numbers = [number_text(number, "+") for _, number in parts]
    width = max(map(len, numbers))
    return [f"  {number:>{width}}  {text}" for number, (text, _) in zip(numbers, parts, strict=True)]


def _equal(answer: Any, score: float) -> bool:
    return math.isclose(float(answer), score, rel_tol=1e-12, abs_tol=1e-300)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return number_text(value, year=are_years([value]))
    return repr(value)
