"""Fit of a federation, from the registration of the clients to the fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from radboost._validation import check_integer
from radboost.boosting import Driver, Trace
from radboost.estimators import MultiSourceBoostClassifier
from radboost.estimators._learning import FitPlan, Outline
from radboost.estimators.multi_source import _seeds
from radboost.families.candidates import Candidates
from radboost.federated.descent import FederatedDescent
from radboost.federated.domains import learn_together
from radboost.federated.messages import Facts, ProtocolError, Task, Transport, check_voting_tree
from radboost.federated.public import AnyCandidates
from radboost.federated.registry import client_records, register, select_alike, warn_of_left_out
from radboost.federated.server import Server
from radboost.losses import get_loss
from radboost.objectives.over_sources import make_over_sources, read_mixtures
from radboost.rows.domains import DomainModel


def fit_federated(
    estimator: MultiSourceBoostClassifier,
    transport: Transport,
    *,
    candidates: AnyCandidates,
    domain_model: DomainModel | None,
    clients_per_round: int | None = None,
) -> tuple[MultiSourceBoostClassifier, Server]:
    """The fitted estimator, and the server with its traffic.

    Clients that were left out are in `left_out_` of the first and `left_out` of the second, and a warning names them.
    """
    check_federation(estimator, candidates, clients_per_round)
    left_out: dict[str, str] = {}
    described = register(transport, left_out)
    try:
        alike = select_alike(described, domain_model, left_out)
        task = _task(estimator, alike, candidates, domain_model)
        seed = estimator._read_parameters().growth.seed
        server = Server(transport, client_records(alike), task, left_out, seed, clients_per_round)
        if domain_model is None and len(task.domains) > 1:
            server.task = replace(task, domain_model=learn_together(server))
        return _boost(estimator, server, candidates, alike[0]["columns"]), server
    finally:
        warn_of_left_out(left_out, described)


def _boost(
    estimator: MultiSourceBoostClassifier, server: Server, candidates: AnyCandidates, columns: Any
) -> MultiSourceBoostClassifier:
    task, sizes, trace = server.task, server.sizes, Trace()
    names = np.array(task.domains)
    mixtures = read_mixtures(estimator.mixtures)
    maker = FederatedDescent(
        server,
        penalty=estimator._penalty_over_sources(2),
        over=make_over_sources(estimator.source_objective, float(estimator.mu), mixtures, names, sizes),
        candidates=candidates,
        learning_rate=float(estimator.learning_rate),
        step=estimator.step,
        seeds=_seeds(server.seed, len(names)),
        trace=trace,
    )
    plan = FitPlan(
        maker=maker,
        n_families=len(names),
        sample_size=float(sizes.sum()),
        attributes={
            "loss_": estimator.loss,
            "objective_": "sum",
            "source_names_": names,
            "domain_classifier_": task.domain_model,
            "left_out_": server.left_out,
        },
    )
    Driver(maker, int(estimator.n_rounds), None, int(estimator.verbose)).run()
    feature_names = None if columns is None else np.array(columns, dtype=object)
    rows = Outline(task.n_features, 1, np.array(task.classes), feature_names, {})  # one score: there are two classes
    fitted = estimator._fitted(trace, trace.n_rounds, plan, rows)
    estimator._warn(fitted)
    return fitted


def check_federation(estimator: Any, candidates: Any, clients_per_round: int | None) -> None:
    """Refuse what a federation cannot do, before any client is asked."""
    if not isinstance(candidates, AnyCandidates):
        raise TypeError(f"candidates must be Candidates(...) or TrainedByOwners(...); got {candidates!r}.")
    if clients_per_round is not None:
        check_integer("clients_per_round", clients_per_round, 1)
    if not isinstance(estimator, MultiSourceBoostClassifier):
        raise TypeError(f"A federation fits a MultiSourceBoostClassifier; got {estimator!r}.")
    if estimator.step not in ("decay", "line_search"):
        raise ValueError(
            f'step={estimator.step!r} needs more of the rows than sums; a federation takes "decay", eta / sqrt(round), '
            'or "line_search", which asks for the losses along the line in a second exchange.'
        )
    if not get_loss(estimator.loss).native:
        raise ValueError(f"loss={estimator.loss!r} would have to run at the clients; name one of our own instead.")
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


def _task(
    estimator: MultiSourceBoostClassifier,
    described: list[Facts],
    candidates: AnyCandidates,
    domain_model: DomainModel | None,
) -> Task:
    if not described:
        raise RuntimeError("No client with rows is connected.")
    domains = sorted({facts["domain"] for facts in described})
    classes = sorted({label for facts in described for label in facts["labels"]})
    if len(classes) != 2:
        raise ValueError(f"The clients have only the class {classes[0]!r} together, and two are needed.")
    n_features = described[0]["n_features"]
    if isinstance(candidates, Candidates):
        candidates.validate()
        for hypothesis in candidates.hypotheses:
            try:
                check_voting_tree(hypothesis, n_features)
            except ProtocolError as error:
                raise ValueError(
                    f"{hypothesis!r} cannot be a candidate of a federation: {error}. Trees for two classes can."
                ) from None
    if domain_model is not None:
        known = domain_model.names
        if domain_model.n_sources != len(domains) or (known is not None and list(known) != domains):
            what = f"knows {list(known)}" if known is not None else f"is one of {domain_model.n_sources} domains"
            raise ValueError(f"Q {what}, and the clients have the domains {domains[:10]}; they must be the same.")
        if len(domain_model.instead) != n_features:
            raise ValueError(f"Q is for {len(domain_model.instead)} columns; the clients have {n_features}.")
    hypotheses = candidates.hypotheses if isinstance(candidates, Candidates) else ()
    return Task(get_loss(estimator.loss).name, classes, domains, n_features, domain_model, hypotheses)
