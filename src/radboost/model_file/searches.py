"""Content of the files of searches: the best estimator, and the results of the trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from radboost.model_file.checks import require
from radboost.model_file.container import AnyArray
from radboost.model_file.encoding import decode, encode
from radboost.model_file.registry import known_values
from radboost.model_file.sections import Content, section

BEST = "best/"
SEARCH = "search/"


@dataclass(frozen=True)
class Searches:
    """Describes and restores searches, by functions that do so with any estimator, fitted or not."""

    content_of: Callable[[Any], Content]
    restore_fitted: Callable[[dict[str, Any], dict[str, AnyArray]], Any]
    describe_unfitted: Callable[[Any], dict[str, Any] | None]
    restore_unfitted: Callable[[Mapping[str, Any]], Any]

    def describe(self, search: Any) -> Content:
        """Header and arrays of a fitted search."""
        header, arrays = self.content_of(search.best_estimator_)
        facts, columns = search._facts()
        given = None if search.estimator is None else self.describe_unfitted(search.estimator)
        named = {BEST + name: array for name, array in arrays.items()}
        named |= {SEARCH + name: array for name, array in columns.items()}
        return {"best": header, "estimator": given, "search": encode(facts, "search", known_values())}, named

    def restore(self, search: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Puts into an unfitted search what a file says."""
        require(isinstance(header["best"], dict), "the description of the best estimator must be a dict")
        require("best" not in header["best"], "the best estimator of a search is no search")
        best = self.restore_fitted(header["best"], section(BEST, arrays))
        if header["estimator"] is not None:
            require(isinstance(header["estimator"], dict), "the description of the estimator must be a dict")
            search.estimator = self.restore_unfitted(header["estimator"])
        search._base()  # refuses estimators of another class
        facts = decode(header["search"], "search", known_values())
        require(isinstance(facts, dict), "the results of the search must be a dict")
        search._take_facts(best, facts, section(SEARCH, arrays))
