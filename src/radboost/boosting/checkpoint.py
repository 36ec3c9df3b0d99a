"""Keeping a long fit safe."""

from __future__ import annotations

import os

from radboost._validation import check_integer
from radboost.boosting.callbacks import FitContext


class Checkpoint:
    """Writes a fit to a file every so many rounds; `fit(..., resume_from=path)` goes on from there.

    A fit that is resumed with the same rows and parameters ends with the model, the history and
    the stop reason of one that was not, bit for bit. The file is there whole or not at all, and each one takes the
    place of the one before. It holds no pickle and is no model: `radboost.load` opens what `model.save` has written.

    Parameters
    ----------
    path : str or os.PathLike
        Where the file goes. It is written for the first time before the first round, so that a path that cannot be
        written ends the fit at once.
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
