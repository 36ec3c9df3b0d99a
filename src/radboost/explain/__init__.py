"""Models in words: their hypotheses as text, what their features are worth, one row explained."""

from radboost.explain.explanation import Asked, Contribution, Explanation

__all__ = ["Asked", "Contribution", "Explanation"]
