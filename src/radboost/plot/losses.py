"""Which losses were worst: the mixture of an agnostic model by rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radboost.plot._style import COLOURS, axes, tidy, verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def mixture(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the share of each loss in the worst mixture, round by round. Storcheus's thesis, Figure 5.3.

    A loss whose share rises was the worst one; where several keep a share they are equally bad, and none can be
    improved without another one's getting worse.

    Parameters
    ----------
    model : fitted AgnosticClassifier
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if not hasattr(type(model), "losses_on"):
        raise TypeError(f"Expected a fitted AgnosticClassifier, got {model!r}.")
    check_is_fitted(model)
    panel = axes(ax)
    for place, name in enumerate(model.mixture_):
        shares = model.history_[f"mixture[{name}]"]
        colour = COLOURS[place % len(COLOURS)]
        panel.plot(np.arange(1, len(shares) + 1), shares, color=colour, label=name)
    panel.set_xlabel("round")
    panel.set_ylabel("share of the loss in the worst mixture")
    panel.set_ylim(-0.02, 1.02)
    verbatim(panel.legend(frameon=False).get_texts())
    tidy(panel)
    return panel
