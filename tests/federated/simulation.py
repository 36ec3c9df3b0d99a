"""Federation of clinics with Flower's simulation on Ray: `python simulation.py OUT ROUNDS SILENT LYING PER_ROUND`.

In it the first SILENT clinics stop replying in the third round, and the next LYING ones send impossible sums.
"""

import sys
from pathlib import Path
from typing import Any

from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

sys.path.insert(0, str(Path(__file__).parent / "loopback_app"))

from loopback.clinics import clinic, clinics_strategy

from radboost.federated import client_app
from radboost.federated.fixed_point import to_words
from radboost.federated.flower import from_records, to_records

N_CLINICS = 20
LAST_EXCHANGE = 8  # of the silent clinics


def main(out: str, n_rounds: int, n_silent: int, n_lying: int, per_round: int) -> None:
    def faults(message: Any, context: Any, handle: Any) -> Any:
        number = int(context.node_config["partition-id"])
        action = message.metadata.message_type.partition(".")[2]
        if number < n_silent and from_records(action, message.content).facts["exchange"] > LAST_EXCHANGE:
            raise ConnectionError("this clinic has lost its connection")
        reply = handle(message, context)
        if n_silent <= number < n_silent + n_lying and action == "edges":
            content = from_records(action, reply.content)
            content.arrays["sums"] = to_words([2**100] * len(content.arrays["sums"]))
            reply.content = to_records(content)
        return reply

    strategy = clinics_strategy(N_CLINICS, n_rounds, per_round or None)
    server = ServerApp()

    @server.main()
    def serve(grid: Any, context: Any) -> None:
        strategy.start(grid)
        strategy.model_.save(out)

    clients = client_app(lambda context: clinic(int(context.node_config["partition-id"])), mods=[faults])
    run_simulation(server, clients, N_CLINICS)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
