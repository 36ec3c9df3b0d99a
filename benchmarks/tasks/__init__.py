"""Tasks that are measured. A new one joins by being listed."""

from collections.abc import Callable

from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.tasks import (
    cluster,
    construct,
    fit_large,
    fit_mnist17,
    fit_small,
    memory,
    predict,
    predict_one,
    reach,
    read_table,
    rgb_large,
    softmax_letters,
    sources_large,
    sparse,
)

TASKS: dict[str, Callable[[Sizes], Result]] = {
    **reach.TASKS,
    "fit-large": fit_large.run,
    "fit-mnist17": fit_mnist17.run,
    "fit-small": fit_small.run,
    "construct": construct.run,
    **read_table.TASKS,
    "predict": predict.run,
    "predict-one": predict_one.run,
    "memory": memory.run,
    "rgb-large": rgb_large.run,
    "softmax-letters": softmax_letters.run,
    "sources-large": sources_large.run,
    **sparse.TASKS,
    "cluster": cluster.run,
}
