"""RadBoost's gradient boosting with one candidate a round, and with seven."""

from typing import Any

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings
from radboost import RGBClassifier, TreeFamilies, TreeOptions


class RGB(Competitor):
    """Every row and column, trees of as many leaves as the others have; leaves of at least 10 rows, the default."""

    name = "RGB, 1 candidate"
    package = "radboost"
    ours = True
    candidates = 1

    def families(self, settings: Settings) -> TreeFamilies:
        """Make one family that seldom binds: plain gradient boosting."""
        return TreeFamilies(sizes=(settings.leaves - 1,), norms=(4.0,))

    def estimator(self, settings: Settings) -> Any:
        return RGBClassifier(
            settings.rounds,
            family=self.families(settings),
            n_candidates=self.candidates,
            complexity_penalty=0.0,
            learning_rate=0.1,
            subsample=1.0,
            calibration=None,
            n_jobs=settings.threads,
            random_state=settings.seed,
            tree_options=TreeOptions(max_bins=settings.bins, min_leaf_weight=10.0),
        )

    def trees(self, model: Any) -> int:
        return len(model.ensemble_.hypotheses)

    def rounds(self, model: Any) -> int:
        return int(model.n_iter_)


class RGBSevenCandidates(RGB):
    """Seven families a round, of the paper's norms and sizes up to the same number of leaves."""

    name = "RGB, 7 candidates"
    candidates = 7

    def families(self, settings: Settings) -> TreeFamilies:
        sizes = [size for size in (2, 4, 8, 16, 32) if size < settings.leaves - 1]
        return TreeFamilies(sizes=(*sizes, settings.leaves - 1))
