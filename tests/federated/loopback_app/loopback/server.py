"""What the server runs; the run's configuration says where the model goes."""

from typing import Any

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from radboost.federated.simulate import public_strategy, read_options

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    config: Any = context.run_config
    options = read_options(["--owners", str(config["owners"]), "--rounds", str(config["rounds"])])
    strategy = public_strategy(options)
    strategy.start(grid, timeout=90.0)
    strategy.model_.save(str(config["out"]))
