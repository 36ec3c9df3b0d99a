"""A federation from its first letter to the fitted model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._validation import check_integer
from radboost.boosting import Driver, Trace
from radboost.estimators import MultiSourceBoostClassifier
from radboost.estimators._learning import Plan
from radboost.estimators.multi_source import _seeds
from radboost.families.candidates import Candidates
from radboost.federated.descent import FederatedDescent
from radboost.federated.desk import Client, Transport, logger
from radboost.federated.letters import Letter
from radboost.federated.office import Office
from radboost.federated.owner import Task
from radboost.federated.privacy import Privacy
from radboost.federated.regression import Survey, learn_together
from radboost.losses import NativeLoss, get_loss
from radboost.objectives.over_sources import make_over_sources, read_mixtures
from radboost.rows.domains import DomainModel


@dataclass(frozen=True)
class TrainedByOwners:
    """Candidates that owners train on their own rows in every round, as in the experiments of the thesis (B.7).

    A hypothesis shows thresholds between values of its owner's rows.
    """

    family: str = "stumps"
    per_round: int | None = None  # owners of the domain that are asked for one; None: all of the round


@dataclass(frozen=True)
class Described:
    """What a fitted model knows of the rows that it has never seen."""

    n_features: int
    classes: npt.NDArray[Any]
    feature_names: None = None
    categories: Any = None


def register(transport: Transport) -> list[dict[str, Any]]:
    """What the connected owners say of themselves, in the order of their names."""
    nodes = sorted(transport.connected())
    letters = {node: Letter("register", {"exchange": 0}) for node in nodes}
    found: dict[str, dict[str, Any]] = {}
    twice: set[str] = set()
    for node, reply in transport.send(letters):
        if isinstance(reply, str):
            logger.warning("register: node %s has failed and is skipped: %s", node, reply)
            continue
        facts = reply.facts
        wrong = _unsound(facts)
        if wrong:
            logger.error("register: node %s is left out: %s", node, wrong)
            continue
        if facts["name"] in found:
            twice.add(facts["name"])
            continue
        found[facts["name"]] = {**facts, "node": node}
    if twice:
        raise ValueError(
            f"Several owners go by the name {sorted(twice)[0]!r}. Names tell owners apart from run to run: give "
            "each its own."
        )
    return [found[name] for name in sorted(found)]


def _unsound(facts: dict[str, Any]) -> str:
    def whole(name: str) -> bool:
        return type(facts.get(name)) is int and facts[name] > 0

    if not isinstance(facts.get("name"), str):
        return f"its name is {facts.get('name')!r}, and no text"
    if not whole("n_rows") or not whole("n_features"):
        return f"it has {facts.get('n_rows')!r} rows of {facts.get('n_features')!r} columns"
    labels = facts.get("labels")
    if not isinstance(labels, list) or not labels or any(type(one) not in (bool, int, float, str) for one in labels):
        return f"its labels are {labels!r}"
    if type(facts.get("domain")) not in (bool, int, float, str):
        return f"its domain is {facts.get('domain')!r}"
    return ""


def fit_federated(
    estimator: MultiSourceBoostClassifier,
    transport: Transport,
    *,
    candidates: Candidates | TrainedByOwners,
    domain_model: DomainModel | None,
    clients_per_round: int | None = None,
    privacy: Privacy | None = None,
    secure: bool = False,
) -> tuple[MultiSourceBoostClassifier, Office]:
    """The estimator, fitted by letters alone, and the office with its accounts."""
    _check(estimator)
    if (privacy is not None or secure) and isinstance(candidates, TrainedByOwners):
        raise ValueError(
            "Candidates that owners train show values of single rows, which privacy and secure sums are to hide; take "
            "candidates from public rows or thresholds."
        )
    if clients_per_round is not None:
        check_integer("clients_per_round", clients_per_round, 1)
    told = register(transport)
    clients, task = _problem(estimator, told, candidates, domain_model)
    survey = Survey(transport)
    if task.domain_model is None and len(task.domains) > 1:
        if privacy is not None or secure:
            raise ValueError(
                "Q is learned together by sums without noise or masks; with privacy or secure sums give domain_model, "
                "from learn_domains on public rows."
            )
        model = learn_together(survey, clients, len(task.domains), task.n_features)
        task = replace(task, domain_model=model)
    settings = estimator._read_parameters()
    seed = settings.growth.seed
    trained = isinstance(candidates, TrainedByOwners)
    office = Office(
        transport,
        clients,
        task,
        clients_per_round=clients_per_round,
        seed=seed,
        family=candidates.family if isinstance(candidates, TrainedByOwners) else "stumps",
        candidates_per_round=candidates.per_round if trained else None,
        privacy=privacy,
        secure=secure,
    )
    office.traffic, office.left_out = survey.traffic, survey.left_out
    names = np.array(task.domains)
    trace = Trace()
    mixtures = read_mixtures(estimator.mixtures)
    maker = FederatedDescent(
        office,
        penalty=estimator._penalty_over_sources(2),
        loss=task.loss,
        over=make_over_sources(estimator.source_objective, float(estimator.mu), mixtures, names, office.sizes),
        candidates=candidates if isinstance(candidates, Candidates) else None,
        n_features=task.n_features,
        learning_rate=float(estimator.learning_rate),
        step=estimator.step,
        names=[str(name) for name in task.domains],
        seeds=_seeds(seed, len(names)),
        trace=trace,
    )
    plan = Plan(
        maker=maker,
        n_families=len(names),
        sample_size=float(office.sizes.sum()),
        attributes={
            "loss_": estimator.loss,
            "objective_": "sum",
            "source_names_": names,
            "domain_classifier_": task.domain_model,
        },
    )
    Driver(maker, int(estimator.n_rounds), None, int(estimator.verbose)).run()
    described = Described(task.n_features, np.array(task.classes), categories={})
    fitted = estimator._fitted(trace, trace.n_rounds, plan, described)  # type: ignore[arg-type]
    estimator._warn(fitted)
    return fitted, office


def _check(estimator: Any) -> None:
    """Refuses what a federation cannot do, before anybody is asked."""
    if not isinstance(estimator, MultiSourceBoostClassifier):
        raise TypeError(f"A federation fits a MultiSourceBoostClassifier; got {estimator!r}.")
    if estimator.step not in ("decay", "line_search"):
        raise ValueError(
            f'step={estimator.step!r} needs more of the rows than sums; a federation takes "decay", eta / sqrt(round), '
            'or "line_search", which asks for the losses along the line in a second exchange.'
        )
    loss = get_loss(estimator.loss)
    if not isinstance(loss, NativeLoss):
        raise ValueError(f"loss={estimator.loss!r} would have to run at the owners; name one of our own instead.")
    for name, allowed in (("early_stopping", False), ("class_weight", None)):
        if getattr(estimator, name) not in (allowed, None):
            raise ValueError(f"{name}={getattr(estimator, name)!r} is not known in a federation; leave it out.")


def _problem(
    estimator: MultiSourceBoostClassifier,
    told: list[dict[str, Any]],
    candidates: Candidates | TrainedByOwners,
    domain_model: DomainModel | None,
) -> tuple[list[Client], Task]:
    """The owners and what they are told, from what they say of themselves."""
    if not told:
        raise RuntimeError("No owner of rows is connected.")
    domains = _ascending([facts["domain"] for facts in told], "domains")
    classes = _ascending([label for facts in told for label in facts["labels"]], "labels")
    if len(classes) != 2:
        raise ValueError(
            f"The owners have {len(classes)} classes together ({classes[:5]}), and a federation takes two. Are labels "
            "written alike everywhere?"
        )
    widths = sorted({facts["n_features"] for facts in told})
    if len(widths) > 1:
        who = {width: next(facts["name"] for facts in told if facts["n_features"] == width) for width in widths}
        raise ValueError(f"Rows must have the same columns everywhere; they have {who} (the first owner of each).")
    (n_features,) = widths
    if isinstance(candidates, Candidates):
        candidates.validate()
        for hypothesis in candidates.hypotheses:
            if getattr(hypothesis, "n_features", n_features) != n_features:
                raise ValueError(
                    f"{hypothesis!r} is for {hypothesis.n_features} columns; the owners have {n_features}."
                )
    elif not isinstance(candidates, TrainedByOwners):
        raise TypeError(f"candidates must be Candidates(...) or TrainedByOwners(...); got {candidates!r}.")
    if (
        len(domains) > 1
        and domain_model is not None
        and ((domain_model.n_sources, len(domain_model.instead)) != (len(domains), n_features))
    ):
        raise ValueError(
            f"Q is one of {domain_model.n_sources} domains on {len(domain_model.instead)} columns; the owners have "
            f"{len(domains)} domains ({domains[:5]}) and {n_features} columns."
        )
    loss = get_loss(estimator.loss)
    assert isinstance(loss, NativeLoss)
    known = candidates.hypotheses if isinstance(candidates, Candidates) else ()
    task = Task(loss.name, classes, domains, n_features, domain_model if len(domains) > 1 else None, known)
    return clients_of(told), task


def clients_of(told: list[dict[str, Any]]) -> list[Client]:
    """Owners as the server knows them, their domains by places in ascending order."""
    domains = _ascending([facts["domain"] for facts in told], "domains")
    return [Client(facts["node"], facts["name"], domains.index(facts["domain"]), facts["n_rows"]) for facts in told]


def _ascending(values: list[Any], what: str) -> list[Any]:
    kinds = sorted({type(value).__name__ for value in values})
    if len(kinds) > 1:
        raise ValueError(f"The {what} of the owners are of different types ({', '.join(kinds)}); write them alike.")
    return sorted(set(values))
