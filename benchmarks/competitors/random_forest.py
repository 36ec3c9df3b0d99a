"""scikit-learn's random forest, which is compared by accuracy alone."""

from typing import Any


def classifier(seed: int, **parameters: Any) -> Any:
    """Make the classifier at its defaults but for these parameters."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=1, **parameters)


def regressor() -> Any:
    """Make the regressor at its defaults."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=0, n_jobs=1)
