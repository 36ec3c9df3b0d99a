"""How errors grow with the fraction of wrong labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from radboost._validation import check_integer, check_real
from radboost.datasets import make_noisy
from radboost.plot._style import COLOURS, FAINT, axes, in_percent, tidy, verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def noise_robustness(
    models: Any | Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    X_test: Any,
    y_test: ArrayLike,
    ax: Axes | None = None,
    *,
    rates: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4),
    repeats: int = 1,
    random_state: int = 0,
) -> Axes:
    """Draw the test error of models against the fraction of wrong labels they learn from (Geist (2015), Figure 7).

    For every rate some of the training labels are changed (`radboost.datasets.make_noisy`, the same ones for all
    models), and a copy of each model is fitted. The test rows keep their labels.

    Parameters
    ----------
    models : estimator, or dict of name to estimator
        Fitted or not: copies are fitted.
    X, y : array-like
        The rows and labels to learn from.
    X_test, y_test : array-like
        The rows and labels to test with.
    rates : sequence of float in [0, 1]
        Fractions of wrong labels.
    repeats : int
        Draws of wrong labels for each rate; with more than one the band is a standard deviation to either side.
    random_state : int
        Seed of the wrong labels.
    """
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named or not len(rates):
        raise ValueError("noise_robustness needs at least one model and one rate.")
    fractions = sorted(check_real("rates", rate, low=0.0, high=1.0) for rate in rates)
    n_repeats = check_integer("repeats", repeats, 1)
    labels = np.asarray(y)
    errors = {str(name): np.zeros((len(fractions), n_repeats)) for name in named}
    for i, fraction in enumerate(fractions):
        for repeat in range(n_repeats):
            noisy = make_noisy(labels, fraction, random_state=np.random.default_rng([random_state, i, repeat]))
            for name, model in named.items():
                errors[str(name)][i, repeat] = 1.0 - clone(model).fit(X, noisy).score(X_test, y_test)
    return draw_noise_curves(axes(ax), fractions, errors)


def draw_noise_curves(ax: Axes, rates: Sequence[float], errors: Mapping[str, NDArray[np.float64]]) -> Axes:
    """A line and a band for each name; `errors` have a line for each rate and a column for each repeat."""
    ax.axline((0.0, 0.0), slope=1.0, color=FAINT, linewidth=0.8, zorder=0)
    means = {name: values.mean(axis=1) for name, values in errors.items()}
    for index, (name, values) in enumerate(errors.items()):
        color = COLOURS[index % len(COLOURS)]
        spread = values.std(axis=1)
        ax.fill_between(rates, means[name] - spread, means[name] + spread, color=color, alpha=0.15, linewidth=0)
        ax.plot(rates, means[name], "o-", color=color, linewidth=1.8, markersize=4, label=name)
    top = max(float(mean.max()) for mean in means.values())
    ax.set(xlabel="fraction of wrong training labels", ylabel="test error")
    ax.set_xlim(min(rates), max(rates) if max(rates) > min(rates) else min(rates) + 0.1)
    ax.set_ylim(-0.02 * max(top, 0.05), 1.08 * max(top, 0.05))
    ax.set_title("Wrong labels", loc="left")
    in_percent(ax)
    verbatim(ax.legend(frameon=False, loc="upper left").get_texts())
    return tidy(ax)
