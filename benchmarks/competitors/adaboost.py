"""scikit-learn's AdaBoost."""

from typing import Any

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


def classifier(seed: int) -> Any:
    """Make the classifier at its defaults; it alone refuses missing values, so medians replace them."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(strategy="median"), AdaBoostClassifier(random_state=seed))


class AdaBoost(Competitor):
    """Exact trees on one thread: the library has neither bins nor threads."""

    name = "AdaBoost"
    package = "scikit-learn"
    slow = True

    def estimator(self, settings: Settings) -> Any:
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_depth=settings.depth)
        return AdaBoostClassifier(tree, n_estimators=settings.rounds, random_state=settings.seed)

    def trees(self, model: Any) -> int:
        return len(model.estimators_)
