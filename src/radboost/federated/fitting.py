"""A federation from its first letter to the fitted model."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._validation import check_choice, check_integer
from radboost.boosting import Driver, Trace
from radboost.estimators import MultiSourceBoostClassifier
from radboost.estimators._learning import FitPlan
from radboost.estimators.multi_source import _seeds
from radboost.families.candidates import Candidates
from radboost.federated.descent import FederatedDescent
from radboost.federated.desk import Client, Transport, logger
from radboost.federated.letters import Letter, LetterError, check_voting_tree
from radboost.federated.office import Office
from radboost.federated.owner import Task
from radboost.federated.privacy import BudgetSpentError, Privacy
from radboost.federated.regression import Survey, learn_together
from radboost.losses import get_loss
from radboost.objectives.over_sources import make_over_sources, read_mixtures
from radboost.rows.domains import DomainModel

# Hypotheses of these say thresholds of a column; a kernel would say a whole row.
PROPOSABLE = ("stumps", "stump_pairs", "trees")
MOST_ROWS = 2**40


@dataclass(frozen=True)
class TrainedByOwners:
    """Candidates that owners train on their own rows in every round, as in the experiments of the thesis (B.7).

    A hypothesis shows thresholds between values of its owner's rows.
    """

    family: str = "stumps"  # or "stump_pairs", "trees"; owners must be willing to: client_app(..., proposes=...)
    per_round: int | None = None  # owners of the domain that are asked for one; None: all of the round

    def __post_init__(self) -> None:
        check_choice("family of TrainedByOwners", self.family, PROPOSABLE)
        if self.per_round is not None:
            check_integer("per_round of TrainedByOwners", self.per_round, 1)


@dataclass(frozen=True)
class Described:
    """What a fitted model knows of the rows that it has never seen."""

    n_features: int
    classes: npt.NDArray[Any]
    feature_names: npt.NDArray[np.object_] | None
    categories: Any
    n_outputs: int = 1  # there are two classes


def register(transport: Transport, left_out: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """What the connected owners say of themselves, in the order of their names.

    `left_out` gets those whose registration cannot be used, with the reasons.
    """
    left_out = {} if left_out is None else left_out
    nodes = sorted(transport.connected())
    letters = {node: Letter("register", {"exchange": 0}) for node in nodes}
    found: dict[str, list[dict[str, Any]]] = {}
    for node, reply in transport.send(letters):
        if isinstance(reply, str):
            logger.warning("register: node %s has failed and is skipped: %s", node, reply)
            continue
        wrong = _unsound(reply.facts)
        if wrong:
            left_out[f"node {node}"] = wrong  # its name may be that of another
            logger.error("register: node %s is left out: %s", node, wrong)
            continue
        found.setdefault(reply.facts["name"], []).append({**reply.facts, "node": node})
    for name in sorted(found):
        if len(found[name]) > 1:  # nobody can say who is right
            left_out[name] = f"{len(found[name])} nodes go by this name"
            logger.error("register: %d nodes go by the name %r; all of them are left out", len(found[name]), name)
    return [found[name][0] for name in sorted(found) if len(found[name]) == 1]


def _unsound(facts: dict[str, Any]) -> str:
    def whole(name: str) -> bool:
        return type(facts.get(name)) is int and 0 < facts[name] <= MOST_ROWS

    if not isinstance(facts.get("name"), str):
        return f"its name is {facts.get('name')!r}, and no text"
    if not whole("n_rows") or not whole("n_features"):
        return f"it has {facts.get('n_rows')!r} rows of {facts.get('n_features')!r} columns"
    labels = facts.get("labels")
    if not isinstance(labels, list) or not labels or any(type(one) not in (bool, int, float, str) for one in labels):
        return f"its labels are {str(labels)[:100]}"
    if len(labels) > 2 or any(label != label for label in labels):
        return f"it has the labels {str(labels)[:100]}; two classes are learned"
    if type(facts.get("domain")) not in (bool, int, float, str):
        return f"its domain is {facts.get('domain')!r}"
    columns = facts.get("columns")
    if columns is not None and (not isinstance(columns, list) or len(columns) != facts["n_features"]):
        return f"its columns have the names {str(columns)[:100]}"
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
    """The estimator, fitted by letters alone, and the office with its accounts.

    Owners who were left out are in `left_out_` of the first and `left_out` of the second, and a warning names them.
    """
    check_federation(estimator, candidates, clients_per_round, sums_are_hidden=privacy is not None or secure)
    survey = Survey(transport)
    told = register(transport, survey.left_out)
    try:
        return _fit(estimator, survey, told, candidates, domain_model, clients_per_round, privacy, secure)
    finally:
        _warn_of_left_out(survey.left_out, told)


def _warn_of_left_out(left_out: Mapping[str, str], told: Sequence[Mapping[str, Any]]) -> None:
    """`told`: what those who have registered say of themselves."""
    if not left_out:
        return
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:3]]
    shown += [f"{len(left_out) - 3} more in left_out_"] if len(left_out) > 3 else []
    lost = sum(facts["n_rows"] for facts in told if facts["name"] in left_out)
    n_rows = sum(facts["n_rows"] for facts in told)
    left = {facts["domain"] for facts in told if facts["name"] not in left_out}
    empty = sorted({repr(facts["domain"]) for facts in told if facts["domain"] not in left})
    silent = f", and no owner of the domain {' or '.join(empty)} is left" if empty else ""
    warnings.warn(
        f"Owners were left out for good: {', '.join(shown)}. The model learns nothing more from their rows, {lost:,} "
        f"of the {n_rows:,} registered{silent}. Check what these owners run.",
        UserWarning,
        stacklevel=3,
    )


def _fit(
    estimator: MultiSourceBoostClassifier,
    survey: Survey,
    told: list[dict[str, Any]],
    candidates: Candidates | TrainedByOwners,
    domain_model: DomainModel | None,
    clients_per_round: int | None,
    privacy: Privacy | None,
    secure: bool,
) -> tuple[MultiSourceBoostClassifier, Office]:
    clients, task, columns = _problem(estimator, told, candidates, domain_model, survey.left_out)
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
        survey.transport,
        [client for client in clients if client.trusted],  # of those who have learned Q
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
    plan = FitPlan(
        maker=maker,
        n_families=len(names),
        sample_size=float(office.sizes.sum()),
        attributes={
            "loss_": estimator.loss,
            "objective_": "sum",
            "source_names_": names,
            "domain_classifier_": task.domain_model,
            "left_out_": office.left_out,
        },
    )
    try:
        Driver(maker, int(estimator.n_rounds), None, int(estimator.verbose)).run()
    except BudgetSpentError:
        raise ValueError(
            f"{privacy} does not allow for the losses before the first round. Raise max_epsilon or noise_multiplier."
        ) from None
    names_of_columns = None if columns is None else np.array(columns, dtype=object)
    described = Described(task.n_features, np.array(task.classes), names_of_columns, {})
    fitted = estimator._fitted(trace, trace.n_rounds, plan, described)  # type: ignore[arg-type]
    estimator._warn(fitted)
    return fitted, office


def check_federation(estimator: Any, candidates: Any, clients_per_round: int | None, *, sums_are_hidden: bool) -> None:
    """Refuses what a federation cannot do, before anybody is asked."""
    _check_estimator(estimator)
    if not isinstance(candidates, Candidates | TrainedByOwners):
        raise TypeError(f"candidates must be Candidates(...) or TrainedByOwners(...); got {candidates!r}.")
    if sums_are_hidden and isinstance(candidates, TrainedByOwners):
        raise ValueError(
            "Candidates that owners train show values of single rows, which privacy and secure sums are to hide; take "
            "candidates from public rows or thresholds."
        )
    if clients_per_round is not None:
        check_integer("clients_per_round", clients_per_round, 1)


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, MultiSourceBoostClassifier):
        raise TypeError(f"A federation fits a MultiSourceBoostClassifier; got {estimator!r}.")
    if estimator.step not in ("decay", "line_search"):
        raise ValueError(
            f'step={estimator.step!r} needs more of the rows than sums; a federation takes "decay", eta / sqrt(round), '
            'or "line_search", which asks for the losses along the line in a second exchange.'
        )
    loss = get_loss(estimator.loss)
    if not loss.native:
        raise ValueError(f"loss={estimator.loss!r} would have to run at the owners; name one of our own instead.")
    instead = {
        "early_stopping": (False, "leave it out"),
        "class_weight": (None, "leave it out"),
        "family": ("trees", "give candidates in its place"),
        "domain_classifier": (None, "give domain_model in its place"),
        "categorical_features": ("from_dtype", "rows must be numbers"),
        "objective": ("sum", "with two classes all are one"),
    }
    for name, (default, advice) in instead.items():
        given = getattr(estimator, name)
        if not (given is default or (isinstance(given, str | bool) and given == default)):
            raise ValueError(f"{name}={given!r} is not known in a federation; {advice}.")


def _problem(
    estimator: MultiSourceBoostClassifier,
    told: list[dict[str, Any]],
    candidates: Candidates | TrainedByOwners,
    domain_model: DomainModel | None,
    left_out: dict[str, str],
) -> tuple[list[Client], Task, list[str] | None]:
    """The owners and what they are told, from what most of them say of themselves."""
    told = _alike(told, domain_model, left_out)
    if not told:
        raise RuntimeError("No owner of rows is connected.")
    domains = sorted({facts["domain"] for facts in told})
    classes = sorted({label for facts in told for label in facts["labels"]})
    if len(classes) != 2:
        raise ValueError(f"The owners have only the class {classes[0]!r} together, and two are needed.")
    n_features = told[0]["n_features"]
    if isinstance(candidates, Candidates):
        candidates.validate()
        for hypothesis in candidates.hypotheses:
            try:
                check_voting_tree(hypothesis, n_features)
            except LetterError as error:
                raise ValueError(
                    f"{hypothesis!r} cannot be a candidate of a federation: {error}. Trees for two classes can."
                ) from None
    if domain_model is not None:
        known = domain_model.names
        if domain_model.n_sources != len(domains) or (known is not None and list(known) != domains):
            said = f"knows {list(known)}" if known is not None else f"is one of {domain_model.n_sources} domains"
            raise ValueError(f"Q {said}, and the owners have the domains {domains[:10]}; they must be the same.")
        if len(domain_model.instead) != n_features:
            raise ValueError(f"Q is for {len(domain_model.instead)} columns; the owners have {n_features}.")
    loss = get_loss(estimator.loss)
    hypotheses = candidates.hypotheses if isinstance(candidates, Candidates) else ()
    task = Task(loss.name, classes, domains, n_features, domain_model, hypotheses)
    return clients_of(told), task, told[0]["columns"]


def _alike(
    told: list[dict[str, Any]], domain_model: DomainModel | None, left_out: dict[str, str]
) -> list[dict[str, Any]]:
    """Those who have what most have: columns, types of labels and domains, two classes. The others are left out."""
    wrong: dict[str, str] = {}

    def keep(what: str, of: Callable[[dict[str, Any]], Any]) -> None:
        nonlocal told
        counts = Counter(repr(of(facts)) for facts in told)
        most = max(counts, key=lambda one: (counts[one], one), default="")
        for facts in told:
            if repr(of(facts)) != most:
                wrong[facts["name"]] = f"its {what} are {repr(of(facts))[:100]}, and those of most {most[:100]}"
        told = [facts for facts in told if facts["name"] not in wrong]

    keep("columns", lambda facts: (facts["n_features"], facts.get("columns")))
    keep("types of labels", lambda facts: sorted({type(label).__name__ for label in facts["labels"]}))
    keep("types of domains", lambda facts: type(facts["domain"]).__name__)
    counts = Counter(label for facts in told for label in facts["labels"])
    usual = {label for label, _ in sorted(counts.items(), key=lambda pair: (-pair[1], repr(pair[0])))[:2]}
    known = None if domain_model is None or domain_model.names is None else set(domain_model.names)
    for facts in told:
        if not set(facts["labels"]) <= usual:
            wrong[facts["name"]] = f"its labels are {facts['labels']}, and those of most {sorted(usual)}"
        elif known is not None and facts["domain"] not in known:
            wrong[facts["name"]] = f"its domain is {facts['domain']!r}, and Q knows {sorted(known)}"
    for name, reason in wrong.items():
        logger.error("register: %r is left out: %s", name, reason)
    left_out.update(wrong)
    return [facts for facts in told if facts["name"] not in wrong]


def clients_of(told: list[dict[str, Any]]) -> list[Client]:
    """Owners as the server knows them, their domains by places in ascending order."""
    domains = sorted({facts["domain"] for facts in told})
    return [Client(facts["node"], facts["name"], domains.index(facts["domain"]), facts["n_rows"]) for facts in told]
