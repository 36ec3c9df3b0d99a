"""Callback that saves checkpoints of a fit."""

from __future__ import annotations

import os

from radboost._validation import check_integer
from radboost.boosting.callbacks import FitContext


class Checkpoint:
    """Callback that writes a fit to a file every `every` rounds; `fit(..., resume_from=path)` resumes it.

    A fit that is resumed with equal rows and parameters has the model, the history and the stop reason of an
    uninterrupted fit, bit for bit. Writing is atomic; each file replaces the previous one. It holds no pickle and is no
    model: `radboost.load` reads only files written by `model.save`.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the file. It is first written before the first round, so that an invalid path ends the fit at once.
    every : int
        Rounds between two files; the last round is always kept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> from radboost import Checkpoint, DeepBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> path = Path(tempfile.mkdtemp()) / "fit.checkpoint"
    >>> model = DeepBoostClassifier(n_rounds=20).fit(X, y, callbacks=[Checkpoint(path, every=5)])
    >>> again = DeepBoostClassifier(n_rounds=20).fit(X, y, resume_from=path)
    >>> again.history_ == model.history_
    True
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 50) -> None:
        self.path = os.fspath(path)
        self.every = check_integer("every", every, 1)

    def on_fit_begin(self, context: FitContext) -> None:
        context.save_checkpoint(self.path)

    def on_round_end(self, context: FitContext) -> None:
        if (context.round + 1) % self.every == 0:
            context.save_checkpoint(self.path)

    on_fit_end = on_fit_begin

    def __repr__(self) -> str:
        return f"Checkpoint({self.path!r}, every={self.every})"
