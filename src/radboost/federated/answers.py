"""The owner's side of the letters: what comes in, what is kept between letters, what goes out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from radboost._tables import column_names
from radboost.estimators import DeepBoostClassifier
from radboost.federated.letters import Arrays, Letter, LetterError, pack_hypotheses, unpack_hypotheses, unpack_task
from radboost.federated.linear import answer_linear
from radboost.federated.numbers import Scales, from_words, plain, to_words
from radboost.federated.owner import Rows, Task
from radboost.federated.privacy import clipped
from radboost.federated.regression import answer_gradient, answer_moments, answer_ranges
from radboost.rows.read import plain_labels, read_rows


class Keep(Protocol):
    """What outlives a letter: the state that Flower keeps for a node."""

    def load(self, slot: str) -> Letter | None: ...
    def store(self, slot: str, letter: Letter) -> None: ...


@dataclass(frozen=True)
class OwnRows:
    """Rows as their owner gives them: numbers, where NaN is a missing value; labels; the domain of all rows."""

    X: Any
    y: Any
    domain: Any
    name: str


class Owner:
    """Answers letters with sums over its own rows."""

    def __init__(
        self,
        load: Callable[[], OwnRows],
        keep: Keep,
        proposes: Collection[str] = (),
        require_secure: bool = False,
    ) -> None:
        self._load, self.keep = load, keep
        self._proposes, self._require_secure = proposes, require_secure
        self._given: tuple[OwnRows, npt.NDArray[np.float64], npt.NDArray[Any]] | None = None
        self._rows: Rows | None = None

    def answer(self, letter: Letter) -> Letter:
        given, X, y = self._own_rows()
        head = {"exchange": letter.facts.get("exchange"), "name": given.name}
        self._refuse(letter)
        if letter.action == "register":
            return Letter(letter.action, {**head, **_described(given, X, y)})
        if letter.action in _BEFORE:
            facts, arrays = _BEFORE[letter.action](X, y, letter)
            return Letter(letter.action, {**head, **facts}, arrays)
        rows = self._brought_up_to_date(letter)
        if rows is None:
            return Letter(letter.action, {**head, "position": -1})
        if rows.position != letter.facts["position"]:
            return Letter(letter.action, {**head, "position": rows.position})
        head = {**head, "position": rows.position}
        if letter.action in ("keys", "shares", "unmask"):
            return Letter(letter.action, head, self._of_session(letter, given.name))
        facts, arrays = _ACTIONS[letter.action](rows, letter)
        if "clip" in letter.facts:
            told = letter.facts["clip"]
            sums = clipped(from_words(arrays["sums"]), told["units"], float(told["norm"]))
            facts, arrays = {}, {"sums": to_words(sums)}
        if "session" in letter.facts:
            facts, arrays = {}, {"sums": self._masked(letter, arrays["sums"])}
        return Letter(letter.action, {**head, **facts}, arrays)

    def _refuse(self, letter: Letter) -> None:
        """What this owner does not do, whoever asks."""
        if self._require_secure and letter.action not in ("register", "keys", "shares", "unmask"):
            needed = "session" in letter.facts and letter.action not in ("propose", *_BEFORE)
            if not needed:
                raise LetterError(f"this owner answers secure sums alone, and {letter.action!r} is none")
        if letter.action == "propose" and letter.facts.get("family") not in self._proposes:
            raise LetterError(
                f"this owner does not train {letter.facts.get('family')!r} for others; it has to be told so: "
                "client_app(..., proposes=...)"
            )

    def _of_session(self, letter: Letter, name: str) -> Arrays:
        """The letters of a secure sum before and after the sums themselves."""
        from radboost.federated.secure import Session

        if letter.action == "keys":
            session = Session.begin(int(letter.facts["session"]))
            found = session.public_keys()
        else:
            session = self._session()
            found = session.share(letter, name) if letter.action == "shares" else session.unmask(letter)
        self.keep.store("session", session.kept())
        return found

    def _masked(self, letter: Letter, sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        session = self._session()
        found: npt.NDArray[np.int64] = session.masked(letter, sums)
        self.keep.store("session", session.kept())
        return found

    def _session(self) -> Any:
        from radboost.federated.secure import Session

        kept = self.keep.load("session")
        if kept is None:
            raise LetterError("there is no secure sum that this letter could be part of")
        return Session(kept)

    def _own_rows(self) -> tuple[OwnRows, npt.NDArray[np.float64], npt.NDArray[Any]]:
        if self._given is None:
            given = self._load()
            read = read_rows(DeepBoostClassifier(categorical_features=None), given.X, given.y)
            X = read.X.toarray() if hasattr(read.X, "toarray") else np.asarray(read.X)
            self._given = given, np.ascontiguousarray(X, dtype=np.float64), plain_labels(np.asarray(read.y))
        return self._given

    def _brought_up_to_date(self, letter: Letter) -> Rows | None:
        """The rows after all steps that the letter tells of; None where the task is not known any more."""
        rows = self._begin(letter) if "task" in letter.facts else self._remembered()
        if rows is None:
            return None
        first = int(letter.facts.get("from", rows.position))
        steps = letter.arrays.get("step_etas", np.zeros(0))
        inline = unpack_hypotheses(letter, rows.task.n_features, "inline")
        for k in range(max(0, rows.position - first), len(steps)):
            if rows.position != first + k:
                return rows  # steps are missing in between: the server is told how far it got
            hypothesis = _named(rows.task, inline, int(letter.arrays["step_hypotheses"][k]))
            rows.step(hypothesis, int(letter.arrays["step_sources"][k]), float(steps[k]))
        if len(steps) or "task" in letter.facts:
            self.keep.store("rows", Letter("kept", {"position": rows.position}, {"scores": rows.scores}))
        return rows

    def _begin(self, letter: Letter) -> Rows:
        facts = {name: fact for name, fact in letter.facts.items() if name == "task" or name.startswith("candidates/")}
        arrays = {name: a for name, a in letter.arrays.items() if name.startswith(("candidates/", "domain_"))}
        kept = Letter("task", facts, arrays)
        self._rows = self._rows_of(unpack_task(kept))
        self.keep.store("task", kept)
        return self._rows

    def _rows_of(self, task: Task) -> Rows:
        given, X, y = self._own_rows()
        classes = list(task.classes)
        labels = [plain(label) for label in y.tolist()]
        return Rows(
            task,
            X,
            np.array([classes.index(label) for label in labels], dtype=np.uint16),
            list(task.domains).index(plain(given.domain)),
        )

    def _remembered(self) -> Rows | None:
        task, kept = self.keep.load("task"), self.keep.load("rows")
        if task is None or kept is None:
            return None
        position = int(kept.facts["position"])
        if self._rows is None or self._rows.position != position:
            self._rows = self._rows_of(unpack_task(task))
            self._rows.set_scores(kept.arrays["scores"], position)
        return self._rows


def _described(given: OwnRows, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> dict[str, Any]:
    """What the server must know to set up the problem."""
    given_columns = column_names(given.X)
    return {
        "domain": plain(given.domain),
        "n_rows": len(X),
        "n_features": X.shape[1],
        "labels": sorted({plain(label) for label in y.tolist()}),
        "columns": None if given_columns is None else [str(name) for name in given_columns],
    }


def _named(task: Task, inline: Sequence[Any], number: int) -> Any:
    """A candidate of the task, or behind these one that came with the letter."""
    known = len(task.candidates)
    return task.candidates[number] if number < known else inline[number - known]


def _scales(letter: Letter) -> Scales:
    loss, slope = letter.facts["scales"]
    return Scales(int(loss), int(slope))


Answer = tuple[dict[str, Any], Arrays]


def _stand(rows: Rows, letter: Letter) -> Answer:
    found = rows.stand(_scales(letter))
    sums = [found.loss, found.slope, found.own_slope, found.wrong]
    own = [found.scales.loss, found.scales.slope]
    return {"scales": own, "valid": found.valid}, {"sums": to_words(sums)}


def _slopes(rows: Rows, letter: Letter) -> Answer:
    facts = letter.facts
    sums = rows.slopes(_scales(letter), [int(source) for source in facts["sources"]], float(facts["factor"]))
    return {}, {"sums": to_words(sums)}


def _hypotheses(rows: Rows, letter: Letter) -> list[Any]:
    """Those that a letter asks about: places of candidates, or candidates that came with it."""
    inline, known = unpack_hypotheses(letter, rows.task.n_features, "inline"), len(rows.task.candidates)
    numbers = letter.arrays["hypotheses"].tolist()
    return [number if number < known else inline[number - known] for number in numbers]


def _edges(rows: Rows, letter: Letter) -> Answer:
    facts = letter.facts
    hypotheses = _hypotheses(rows, letter)
    total = int(facts["total"])
    return {}, {
        "sums": to_words(rows.edges(_scales(letter), int(facts["source"]), float(facts["factor"]), total, hypotheses))
    }


def _line(rows: Rows, letter: Letter) -> Answer:
    facts, (one,) = letter.facts, _hypotheses(rows, letter)
    hypothesis = rows.task.candidates[one] if isinstance(one, int) else one
    etas = [float(eta) for eta in facts["etas"]]
    return {}, {"sums": to_words(rows.line(_scales(letter), int(facts["source"]), hypothesis, etas))}


def _propose(rows: Rows, letter: Letter) -> Answer:
    """The tree with the largest edge on the own rows, and only on these."""
    weights = rows.weights(int(letter.facts["source"]))
    learner = DeepBoostClassifier.paper(1, family=str(letter.facts["family"]))
    heavy = weights > 0.0
    if len(set(rows.class_ids[heavy].tolist())) < 2:
        return {}, {}
    own = weights[heavy] * (heavy.sum() / weights.sum())
    learner.fit(rows.X[heavy], rows.class_ids[heavy].astype(int), own)
    found = list(learner.ensemble_.hypotheses)[:1]
    if not found:
        return {}, {}
    facts, arrays = pack_hypotheses(found, rows.task.n_features, "inline")
    return facts, arrays


# Without an ensemble: while Q is learned, and for linear models.
_BEFORE: Mapping[str, Callable[[npt.NDArray[np.float64], npt.NDArray[Any], Letter], Answer]] = {
    "ranges": lambda X, y, letter: answer_ranges(X, letter),
    "moments": lambda X, y, letter: answer_moments(X, letter),
    "gradient": lambda X, y, letter: answer_gradient(X, int(letter.facts["domain"]), letter),
    "linear": answer_linear,
}
_ACTIONS: Mapping[str, Callable[[Rows, Letter], Answer]] = {
    "stand": _stand,
    "slopes": _slopes,
    "edges": _edges,
    "line": _line,
    "propose": _propose,
}
