"""What is measured. A new task joins by being listed."""

from collections.abc import Callable

from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.tasks import (
    cluster_large,
    construct,
    fit_large,
    fit_letters,
    fit_mnist,
    fit_mnist17,
    fit_small,
    memory,
    middle,
    predict,
    predict_one,
    reach,
    reach_letters,
    rgb_large,
    softmax_growth,
    softmax_letters,
    sources_large,
    sparse_amazon,
    sparse_dense,
    sparse_satimage,
    structured,
)

TASKS: dict[str, Callable[[Sizes], Result]] = {
    **reach.TASKS,
    "fit-large": fit_large.run,
    "fit-mnist17": fit_mnist17.run,
    "fit-small": fit_small.run,
    "fit-letters": fit_letters.run,
    "reach-letters": reach_letters.run,
    "fit-mnist": fit_mnist.run,
    "construct": construct.run,
    "predict": predict.run,
    "predict-one": predict_one.run,
    "memory": memory.run,
    **middle.TASKS,
    "rgb-large": rgb_large.run,
    "softmax-letters": softmax_letters.run,
    "softmax-growth": softmax_growth.run,
    "sources-large": sources_large.run,
    "sparse-amazon": sparse_amazon.run,
    "sparse-dense": sparse_dense.run,
    "sparse-satimage": sparse_satimage.run,
    **structured.TASKS,
    "cluster": cluster_large.run,
}
