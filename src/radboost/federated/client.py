"""Sums over the rows of one client, as integers in fixed point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import current, evaluate_loss
from radboost.families.raw_rows import RawRows, enter_again
from radboost.federated.fixed_point import Scales, argument_with
from radboost.federated.remote_collective import RemoteCollective
from radboost.losses import get_loss
from radboost.objectives import Objective
from radboost.rows.domains import DomainModel, probabilities_of


@dataclass(frozen=True)
class Task:
    """Learning problem, Q and the fixed candidates; each client gets it once."""

    loss: str
    classes: Sequence[Any]  # ascending
    domains: Sequence[Any]  # ascending
    n_features: int
    domain_model: DomainModel | None  # None with one domain
    candidates: Sequence[Any] = ()


@dataclass
class ClientRows:
    """Rows of one client, all of one domain, with their scores under the steps of the ensemble known so far.

    Sums are integers in units of the `scales` that the server has sent. Hypotheses may be given as indices into the
    candidates of the task.
    """

    task: Task
    X: FloatArray
    class_ids: npt.NDArray[np.uint16]
    domain: int
    n_threads: int = 1
    position: int = 0  # steps of the ensemble that the scores include
    _collective: RemoteCollective = field(default_factory=RemoteCollective, init=False)

    def __post_init__(self) -> None:
        self._objective = Objective(
            "sum", get_loss(self.task.loss), self.class_ids, 2, None, self.n_threads, collective=self._collective
        )
        model = self.task.domain_model
        q = probabilities_of(model, self.X, (), np.array(self.task.domains), 2, self.n_threads)
        self._q = [np.ascontiguousarray(column) for column in q.T]
        self._groups = current().row_groups(np.zeros(len(self.X), dtype=np.uint16), 1)
        self._raw = RawRows(self.X, np.arange(len(self.X), dtype=np.uint32), self.n_threads)
        self._views: dict[int, Any] = {}
        self._columns: Any = None

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def scores(self) -> FloatArray:
        return self._scores.values()  # type: ignore[no-any-return]

    def set_scores(self, scores: FloatArray, position: int) -> None:
        """Restore the state after `position` steps."""
        self._scores.set(np.ascontiguousarray(scores, dtype=np.float64))
        self.position = position

    @property
    def _scores(self) -> Any:
        return self._objective.scores

    def step(self, hypothesis: Any, source: int, eta: float) -> None:
        """f += eta Q(source | x) h(x)."""
        columns = current().members(self.n_rows, 2)
        slot = enter_again(hypothesis, self._raw, columns)
        self._scores.step(columns, slot, eta, self.n_threads, self._q[source])
        self.position += 1

    def largest_scales(self) -> Scales:
        """Least scales that cover the losses and derivatives of all rows."""
        return Scales.at(self.task.loss, float(np.max(1.0 - self._labels() * self.scores)))

    def evaluate(self, scales: Scales) -> list[int]:
        """Sums of Phi, of Phi' (Z), of Phi' Q(own domain | x), and the number of errors. Figure 4.2, lines 7 and 8."""
        view = self._view(self.domain, 1.0)
        with self._collective.results(largest=argument_with(self.task.loss, scales)):
            sums = self._scores.reweigh([view], self.n_threads)
        loss, slope, _, slope_times_q = self._collective.local_sums
        return [loss, slope, slope_times_q, round(sums.error)]

    def slopes(self, scales: Scales, sources: Sequence[int], factor: float) -> list[int]:
        """Sum of factor Phi' Q(k | x) for each of the sources k."""
        views = [self._view(source, factor) for source in sources]
        with self._collective.results(largest=argument_with(self.task.loss, scales)):
            self._scores.reweigh(views, self.n_threads)
        return self._collective.local_sums[3:]

    def edges(self, scales: Scales, source: int, factor: float, total: int, hypotheses: Sequence[Any]) -> list[int]:
        """Sum of D y Q(source | x) h(x) for each hypothesis; `total` is the sum of Phi' Q over all clients.

        Figure 4.2, lines 14 to 16.
        """
        view = self._view(source, factor)
        with self._collective.results(argument_with(self.task.loss, scales), [0, 0, 0, total]):
            self._scores.reweigh([view], self.n_threads)
        known = self._candidate_edges(view) if any(isinstance(one, int) for one in hypotheses) else []
        columns = current().members(self.n_rows, 2)
        inline = [k for k, one in enumerate(hypotheses) if not isinstance(one, int)]
        slots = {k: enter_again(hypotheses[k], self._raw, columns) for k in inline}
        new = view.edge_sums(columns, False, self.n_threads) if slots else []
        return [new[slots[k]] if k in slots else known[one] for k, one in enumerate(hypotheses)]

    def line_losses(self, scales: Scales, source: int, hypothesis: Any, etas: Sequence[float]) -> list[int]:
        """Sum of Phi after each of some steps along a hypothesis; `scales` must cover all of them."""
        columns, before, losses = current().members(self.n_rows, 2), self.scores, []
        slot = enter_again(hypothesis, self._raw, columns)
        for eta in etas:
            self._scores.step(columns, slot, eta, self.n_threads, self._q[source])
            with self._collective.results(largest=argument_with(self.task.loss, scales)):
                self._scores.reweigh([], self.n_threads)
            losses.append(self._collective.local_sums[0])
            self._scores.set(before)
        return losses

    def weights(self, source: int) -> FloatArray:
        """Phi' Q(source | x): row weights for training hypotheses here; shape (n_rows,)."""
        derivatives = evaluate_loss(self.task.loss, 1.0 - self._labels() * self.scores)[1]
        return np.asarray(derivatives * self._q[source])

    def _labels(self) -> FloatArray:
        return np.where(self.class_ids == 1, 1.0, -1.0)

    def _view(self, source: int, factor: float) -> Any:
        if source not in self._views:
            self._views[source] = current().margin_weighting(self._scores, factors=self._q[source])
        view = self._views[source]
        view.set_factors(self._q[source], self._groups, np.array([factor]), self.n_threads)
        return view

    def _candidate_edges(self, view: Any) -> list[int]:
        if self._columns is None:  # slots follow the order of the candidates
            self._columns = current().members(self.n_rows, 2)
            for hypothesis in self.task.candidates:
                enter_again(hypothesis, self._raw, self._columns)
        return view.edge_sums(self._columns, False, self.n_threads)  # type: ignore[no-any-return]
