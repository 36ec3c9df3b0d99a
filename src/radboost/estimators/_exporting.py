"""Fitted models in other forms: ONNX, Treelite, C, a dict."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost.export.c_code import c_code
from radboost.export.onnx_graph import onnx_model
from radboost.export.parts import Exported, ExportedAnswer, Rule, ScoreSum, refuse_model
from radboost.export.treelite_model import treelite_model
from radboost.losses import ExponentialLoss, ExponentialTargetLoss, LogisticLoss, LogisticTargetLoss
from radboost.model_file import from_plain, to_plain
from radboost.rows.read import dense_rows, read_matrix

if TYPE_CHECKING:
    import onnx
    import treelite

NO_RULE = "its loss is one of your own, which no other program knows"


class ExportingMixin:
    """Forms of a fitted model that other programs run (docs/exporting.md)."""

    def to_onnx(self, *, probabilities: bool = True) -> onnx.ModelProto:
        """The model as an ONNX graph in double precision; needs the extra `radboost[export]`.

        The input "X" is a matrix of doubles, as `rows_for_export` makes it. The outputs are "label", "probabilities"
        (unless `probabilities` is False) and "scores" of a classifier, and "prediction" and "scores" of a regressor.
        """
        return onnx_model(self._exported(), probabilities)

    def to_treelite(self) -> treelite.Model:
        """The model as one of Treelite, in double precision; needs the extra `radboost[export]`.

        It gives the scores of a classifier and the predictions of a regressor, of rows as `rows_for_export` makes them.
        """
        return treelite_model(self._exported())

    def to_c(self, name: str = "model", *, probabilities: bool = True) -> str:
        """The model as the text of one file of C99 that needs no library.

        It has the functions `void NAME_scores(const double *x, double *scores)` and, of a classifier,
        `int NAME_predict(const double *x)`, the place of the label in `classes_`, and
        `void NAME_probabilities(const double *x, double *probabilities)` unless `probabilities` is False; of a
        regressor, `double NAME_predict(const double *x)`. Rows are those that `rows_for_export` makes.
        """
        return c_code(self._exported(), name, probabilities)

    def to_dict(self) -> dict[str, Any]:
        """The model as a dict that JSON can write; `from_dict` makes an equal model of it."""
        model = copy(self)  # of one fit, whatever another thread does meanwhile
        check_is_fitted(model)
        return to_plain(model)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The fitted model that `to_dict` gave, with the same scores to the last bit.

        Nothing in the dict is run, and it is checked like a model file: a damaged or forged one is a `ModelFileError`.
        """
        return from_plain(data, cls.__name__)  # type: ignore[no-any-return]

    def rows_for_export(self, X: Any) -> FloatArray:
        """X as exported models take it: doubles, categories as their places in `categories_`, NaN where missing."""
        model: Any = copy(self)
        check_is_fitted(model)
        categories = getattr(model.ensemble_, "categories", {})
        accepted = {} if not hasattr(model, "_accepted") else {"accepted": model._accepted}
        rows = dense_rows(read_matrix(model, X, categories, **accepted))
        return np.ascontiguousarray(rows, dtype=np.float64)

    def _exported(self) -> Exported:
        model = copy(self)
        check_is_fitted(model)
        return Exported(type(model).__name__, model._exported_scores(), model._exported_answer())

    def _exported_scores(self) -> ScoreSum:
        """The scores as a sum; an `ExportError` where they are none."""
        refuse_model(type(self).__name__, "its scores are no sum of trees or columns")

    def _exported_answer(self) -> ExportedAnswer:
        """What is made of the scores."""
        refuse_model(type(self).__name__, "its answers are no labels or numbers made of scores")


def class_answer(model: Any, rule: Rule | str, costs: FloatArray | None = None) -> ExportedAnswer:
    """That of a classifier with this rule and its own calibration."""
    if len(model.classes_) == 1:
        refuse_model(
            type(model).__name__, f"it holds only one class, {model.classes_.tolist()[0]!r}: nothing to compute"
        )
    found = getattr(model, "calibration_", None)
    calibration = {} if found is None else asdict(found)
    return ExportedAnswer(tuple(model.classes_), rule, costs=costs, **calibration)


def margin_rule(objective: str, loss: object, n_classes: int) -> Rule | str:
    """The probabilities of radboost.objectives, for a loss of margins."""
    if n_classes > 2 and objective != "sum":
        return Rule("compsum")
    if isinstance(loss, ExponentialLoss):
        return Rule("logistic" if n_classes == 2 else "softmax", 2.0)
    if isinstance(loss, LogisticLoss):
        return Rule("offset_logistic" if n_classes == 2 else "balance")
    return NO_RULE


def target_rule(loss: object, n_classes: int) -> Rule | str:
    """The probabilities of gradient boosting."""
    if n_classes > 2:
        return Rule("softmax")
    if isinstance(loss, LogisticTargetLoss):
        return Rule("logistic")
    return Rule("logistic", 2.0) if isinstance(loss, ExponentialTargetLoss) else NO_RULE
