"""App of the server; the run's configuration says where the model goes."""

from typing import Any

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from loopback.clinics import clinics_strategy

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    config: Any = context.run_config
    strategy = clinics_strategy(int(config["clients"]), int(config["rounds"]))
    strategy.start(grid, timeout=90.0)
    strategy.model_.save(str(config["out"]))
