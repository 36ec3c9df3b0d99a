"""What is measured. A new task joins by being listed."""

from collections.abc import Callable

from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.tasks import fit_large, fit_mnist17, fit_small, memory, predict

TASKS: dict[str, Callable[[Sizes], Result]] = {
    "fit-large": fit_large.run,
    "fit-mnist17": fit_mnist17.run,
    "fit-small": fit_small.run,
    "predict": predict.run,
    "memory": memory.run,
}
