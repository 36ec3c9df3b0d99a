"""Ancestors of an estimator: few, and each has methods of its own."""

import inspect

from radboost import DeepBoostClassifier


def test_ancestors_are_few_and_none_only_groups_others() -> None:
    ours = [kind for kind in DeepBoostClassifier.__mro__[1:] if kind.__module__.startswith("radboost.")]
    assert len(ours) <= 8
    for kind in ours:
        own = [one for name, one in vars(kind).items() if not name.startswith("__")]
        assert any(inspect.isfunction(one) or isinstance(one, property | classmethod) for one in own), kind
