"""What the owner of some rows computes for the server: sums, and nothing of a single row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import current, evaluate_loss
from radboost.families.raw_rows import RawRows, enter_again
from radboost.federated.numbers import Scales, argument_with
from radboost.federated.told import Told
from radboost.losses import get_loss
from radboost.objectives import Objective
from radboost.rows.domains import DomainModel
from radboost.rows.sources import on_share_grid


@dataclass(frozen=True)
class Task:
    """What all owners are told once: the problem, Q, and the candidates that are there from the start."""

    loss: str
    classes: Sequence[Any]  # ascending
    domains: Sequence[Any]  # ascending
    n_features: int
    domain_model: DomainModel | None  # None with one domain
    candidates: Sequence[Any] = ()


@dataclass(frozen=True)
class Standing:
    """Sums over an owner's rows at the current scores, as integers in units of the scales."""

    scales: Scales  # of the own rows; sums are in those that were told
    loss: int = 0  # of Phi
    slope: int = 0  # Z: of Phi'
    own_slope: int = 0  # of Phi' Q(own domain | x)
    wrong: int = 0  # rows whose class does not have the larger score
    valid: bool = True  # False: the own rows exceed the scales that were told, and nothing was summed


@dataclass
class Rows:
    """The rows of one owner, all of one domain, and their scores under the ensemble as far as it was told."""

    task: Task
    X: FloatArray
    class_ids: npt.NDArray[np.uint16]
    domain: int
    n_threads: int = 1
    position: int = 0  # steps of the ensemble that the scores have
    _told: Told = field(default_factory=Told, init=False)

    def __post_init__(self) -> None:
        self._objective = Objective(
            "sum", get_loss(self.task.loss), self.class_ids, 2, None, self.n_threads, collective=self._told
        )
        model = self.task.domain_model
        shares = np.ones((len(self.X), 1)) if model is None else model.shares(self.X, self.n_threads)
        shares = on_share_grid(shares, 2)
        self._shares = [np.ascontiguousarray(column) for column in shares.T]
        self._groups = current().row_groups(np.zeros(len(self.X), dtype=np.uint16), 1)
        self._raw = RawRows(self.X, np.arange(len(self.X), dtype=np.uint32), self.n_threads)
        self._views: dict[int, Any] = {}
        self._columns: Any = None

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def scores(self) -> FloatArray:
        return self._objective.scores.values()

    def set_scores(self, scores: FloatArray, position: int) -> None:
        """Where an earlier message has led."""
        self._scores.set(np.ascontiguousarray(scores, dtype=np.float64))
        self.position = position

    @property
    def _scores(self) -> Any:
        return self._objective.scores

    def step(self, hypothesis: Any, source: int, eta: float) -> None:
        """f += eta Q(source | x) h(x)."""
        columns = current().members(self.n_rows, 2)
        self._scores.step(
            columns, enter_again(hypothesis, self._raw, columns), eta, self.n_threads, self._shares[source]
        )
        self.position += 1

    def stand(self, told: Scales) -> Standing:
        """Figure 4.2, lines 7 and 8."""
        own = Scales.at(self.task.loss, self._largest_argument())
        if not told.covers(own):
            return Standing(own, valid=False)
        view = self._view(self.domain, 1.0)
        with self._told.answering(largest=argument_with(self.task.loss, told)):
            sums = self._scores.reweigh([view], self.n_threads)
        loss, slope, _, own_slope = self._told.own_sums
        return Standing(own, loss, slope, own_slope, round(sums.error))

    def slopes(self, told: Scales, sources: Sequence[int], factor: float) -> list[int]:
        """The sum of Phi' Q(k | x), times a factor for the rows of this domain, for each of some sources k."""
        views = [self._view(source, factor) for source in sources]
        with self._told.answering(largest=argument_with(self.task.loss, told)):
            self._scores.reweigh(views, self.n_threads)
        return self._told.own_sums[3:]

    def edges(self, told: Scales, source: int, factor: float, total: int, hypotheses: Sequence[Any]) -> list[int]:
        """The sums of D y Q(source | x) h(x) for each hypothesis; `total` is the sum of Phi' Q over everybody's rows.

        Figure 4.2, lines 14 to 16. Places among the candidates of the task may stand for hypotheses.
        """
        view = self._view(source, factor)
        with self._told.answering(argument_with(self.task.loss, told), [0, 0, 0, total]):
            self._scores.reweigh([view], self.n_threads)
        known = [one for one in hypotheses if isinstance(one, int)]
        found = self._known_edges(view) if known else []
        columns = current().members(self.n_rows, 2)
        more = {k: enter_again(one, self._raw, columns) for k, one in enumerate(hypotheses) if not isinstance(one, int)}
        new = view.edge_sums(columns, False, self.n_threads) if more else []
        return [found[one] if isinstance(one, int) else new[more[k]] for k, one in enumerate(hypotheses)]

    def line(self, scales: Scales, source: int, hypothesis: Any, etas: Sequence[float]) -> list[int]:
        """The sum of Phi after each of some steps along a hypothesis; `scales` must cover all of them."""
        columns, before, found = current().members(self.n_rows, 2), self.scores, []
        slot = enter_again(hypothesis, self._raw, columns)
        for eta in etas:
            self._scores.step(columns, slot, eta, self.n_threads, self._shares[source])
            with self._told.answering(largest=argument_with(self.task.loss, scales)):
                self._scores.reweigh([], self.n_threads)
            found.append(self._told.own_sums[0])
            self._scores.set(before)
        return found

    def weights(self, source: int) -> FloatArray:
        """Phi' Q(source | x): what hypotheses are trained on here."""
        labels = np.where(self.class_ids == 1, 1.0, -1.0)
        derivatives = evaluate_loss(self.task.loss, 1.0 - labels * self.scores)[1]
        return np.asarray(derivatives * self._shares[source])

    def _largest_argument(self) -> float:
        labels = np.where(self.class_ids == 1, 1.0, -1.0)
        return float(np.max(1.0 - labels * self.scores))

    def _view(self, source: int, factor: float) -> Any:
        if source not in self._views:
            self._views[source] = current().margin_weighting(self._scores, factors=self._shares[source])
        view = self._views[source]
        view.set_factors(self._shares[source], self._groups, np.array([factor]), self.n_threads)
        return view

    def _known_edges(self, view: Any) -> list[int]:
        if self._columns is None:  # slots follow the order of the candidates
            self._columns = current().members(self.n_rows, 2)
            for hypothesis in self.task.candidates:
                enter_again(hypothesis, self._raw, self._columns)
        return view.edge_sums(self._columns, False, self.n_threads)  # type: ignore[no-any-return]
