"""A federation on one machine, with Flower's simulation on Ray: `python -m radboost.federated.simulate`.

Clinics of two regions learn a model together. Some of them may stop answering, and some may lie.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from radboost.estimators import MultiSourceBoostClassifier
from radboost.families.candidates import Candidates, stumps_at
from radboost.federated.fitting import clients_of, register
from radboost.federated.linear import METHODS, fit_linear
from radboost.federated.numbers import to_words
from radboost.federated.public import learn_domains
from radboost.metrics import agnostic_error

N_COLUMNS, ROWS = 5, 80
THRESHOLDS = [np.linspace(-2.5, 2.5, 21)] * N_COLUMNS
# The exchange after which clinics fall silent: in the third round.
SILENT_AFTER = 8
Rows = tuple[np.ndarray, np.ndarray, str]


def clinic(number: int) -> Rows:
    """The rows of one clinic: its region shows in the last column, and reads the first two differently."""
    rng = np.random.default_rng([2021, number])
    south = number % 2 == 1
    n = ROWS + 10 * (number % 4)
    X = rng.normal(size=(n, N_COLUMNS))
    X[:, -1] += 1.5 if south else -1.5
    sick = X[:, 0] + 0.5 * X[:, 1] > 0 if south else X[:, 0] - 0.5 * X[:, 2] < 0
    return X, np.where(rng.random(n) < 0.05, ~sick, sick), "south" if south else "north"


def together(numbers: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [clinic(number) for number in numbers]
    regions = np.concatenate([np.repeat(region, len(y)) for _, y, region in parts])
    return np.vstack([X for X, _, _ in parts]), np.concatenate([y for _, y, _ in parts]), regions


def public_strategy(options: argparse.Namespace) -> Any:
    """The strategy with Q from public rows and candidates at public thresholds."""
    from radboost.federated import FedMultiBoost, Privacy

    X, _, regions = together(range(10_000, 10_010))
    estimator = MultiSourceBoostClassifier(
        options.rounds, loss="exponential", step="decay", learning_rate=0.3, complexity_penalty=0.0
    )
    privacy = None
    if options.noise is not None:
        privacy = Privacy(clip=float(ROWS), noise_multiplier=options.noise)
    return FedMultiBoost(
        estimator,
        candidates=Candidates(stumps_at(THRESHOLDS), options.candidates),
        domain_model=learn_domains(X, regions),
        clients_per_round=options.owners_per_round,
        privacy=privacy,
        secure=options.secure,
        wait_for=options.owners,
    )


def troubles(n_silent: int, n_lying: int) -> Callable[..., Any]:
    """A modifier of messages: the first clinics fall silent after some exchanges, the next ones send nonsense."""

    def modify(message: Any, context: Any, answer: Callable[..., Any]) -> Any:
        from radboost.federated.flower import from_records, to_records

        number = int(context.node_config["partition-id"])
        action = message.metadata.message_type.partition(".")[2]
        exchange = int(from_records(action, message.content).facts.get("exchange", 0))
        if number < n_silent and exchange > SILENT_AFTER:
            raise ConnectionError("this clinic has lost its connection")
        reply = answer(message, context)
        if n_silent <= number < n_silent + n_lying and action == "edges":
            letter = from_records(action, reply.content)
            letter.arrays["sums"] = to_words([2**100] * len(letter.arrays["sums"]))
            reply.content = to_records(letter)
        return reply

    return modify


def linear_models(strategy: Any, grid: Any, n_rounds: int) -> dict[str, Any]:
    """FedAvg and AFL on the same clinics, in the same run."""
    from radboost.federated.flower import GridTransport

    transport = GridTransport(grid, strategy, strategy.timeout)
    clients = clients_of(register(transport))
    return {
        method: fit_linear(
            transport, clients, np.array([False, True]), N_COLUMNS, method=method, n_rounds=n_rounds, learning_rate=1.0
        )
        for method in METHODS
    }


def report(strategy: Any, options: argparse.Namespace, others: Mapping[str, Any] | None = None) -> list[str]:
    """What was learned, and what went over the wire beside the thesis's count of numbers."""
    model, p = strategy.model_, 2
    n_drawn = options.candidates or len(strategy.candidates.hypotheses)
    classifier, q = 2, (N_COLUMNS + 1) * p  # a stump is a column and a threshold
    titles = ("round", "north", "south", "letters", "kB out", "kB in", "numbers of the thesis")
    lines = ["", "{:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>24}".format(*titles)]
    for t in sorted({*range(min(3, model.n_iter_)), model.n_iter_ // 2, model.n_iter_ - 1}):
        traffic = strategy.traffic_[t + 1]
        losses = [model.history_[f"source_loss[{name}]"][t] for name in ("north", "south")]
        thesis = f"(t + s) K + K' = {(t + 1 + n_drawn) * classifier + q}"
        lines.append(
            f"{t + 1:>5} {losses[0]:>8.3f} {losses[1]:>8.3f} {traffic.n_letters:>8} {traffic.to_owners / 1e3:>8.1f} "
            f"{traffic.from_owners / 1e3:>8.1f} {thesis:>24}"
        )
    usual = strategy.traffic_[min(2, model.n_iter_)]
    X, y, regions = together(range(20_000, 20_040))
    worst = agnostic_error(y, model.predict(X), regions)
    rows, labels, sources = together(range(options.owners))
    central = MultiSourceBoostClassifier(
        **{
            **strategy.estimator.get_params(deep=False),
            "family": strategy.candidates,
            "domain_classifier": strategy.domain_model,
        }
    ).fit(rows, labels, sources=sources)
    per_letter = usual.to_owners / max(1, usual.n_letters)
    lines += [
        "",
        f"s = {n_drawn} candidates; a stump is K = {classifier} numbers, Q is K' = {q}. A letter of the second round",
        f"has {per_letter:.0f} bytes: clinics know Q and the candidates since the first one, and are told the steps",
        "since they were last asked.",
        "",
        f"error of the worse region on new clinics: {worst:.3f}",
        f"with all rows in one place:               {agnostic_error(y, central.predict(X), regions):.3f}",
    ]
    for method, other in (others or {}).items():
        worst = agnostic_error(y, other.predict(X), regions)
        lines.append(f"{f'linear model by {method}:':<41} {worst:.3f}")
    if strategy.left_out_:
        lines += [f"left out: {name}: {reason}" for name, reason in sorted(strategy.left_out_.items())]
    if strategy.privacy_spent_ is not None:
        spent = strategy.privacy_spent_
        lines.append(
            f"privacy spent: epsilon {spent.epsilon:.2f} at delta {spent.delta:g}, {spent.num_releases} releases"
        )
    whole = not options.silent and not options.lying and options.owners_per_round is None and options.noise is None
    if whole:
        same = np.array_equal(central.decision_function(X), model.decision_function(X))
        lines.append(f"the same model as with all rows in one place, bit for bit: {'yes' if same else 'no'}")
    return lines


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m radboost.federated.simulate", description=__doc__)
    parser.add_argument("--owners", type=int, default=20, help="clinics, half of them in each region (20)")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of boosting (30)")
    parser.add_argument("--owners-per-round", type=int, help="clinics of each region that a round asks (all)")
    parser.add_argument("--candidates", type=int, help="stumps drawn in each round (all)")
    parser.add_argument("--silent", type=int, default=0, help="clinics that stop answering in the third round (0)")
    parser.add_argument("--lying", type=int, default=0, help="clinics that send sums that cannot be (0)")
    parser.add_argument("--secure", action="store_true", help="the server sees totals alone")
    parser.add_argument("--noise", type=float, help="noise multiplier of differential privacy (none)")
    parser.add_argument("--compare", action="store_true", help="also linear models by FedAvg and AFL, in the same run")
    parser.add_argument("--out", type=Path, help="where the model is saved")
    options = parser.parse_args(arguments)
    if options.owners < 2 or options.silent + options.lying > options.owners - 2:
        parser.error("at least two clinics must be there, and two of them answer truly")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = read_options(arguments)
    from radboost.federated import client_app

    try:
        import ray  # noqa: F401
        from flwr.serverapp import ServerApp
        from flwr.simulation import run_simulation
    except ModuleNotFoundError as error:
        print(f"The simulation needs {error.name}: pip install 'radboost[flower]'.", file=sys.stderr)
        return 2
    strategy = public_strategy(options)
    app = client_app(
        lambda context: clinic(int(context.node_config["partition-id"])),
        mods=[troubles(options.silent, options.lying)],
    )
    server, others = ServerApp(), {}

    @server.main()
    def serve(grid: Any, context: Any) -> None:
        strategy.start(grid)
        if options.out is not None:
            strategy.model_.save(options.out)
        if options.compare:
            others.update(linear_models(strategy, grid, options.rounds))

    run_simulation(server, app, options.owners)
    print("\n".join(report(strategy, options, others)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
