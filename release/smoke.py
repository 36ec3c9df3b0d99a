"""What an installed wheel must do before it is published: `python release/smoke.py`.

Needs this repository for the fingerprints of models, and no package but the wheel and those that it depends on. The
package that is tested is the installed one: the script ends with an error if it would import the one beside it.
"""

from __future__ import annotations

import importlib.resources
import json
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
FILES = ("py.typed", "_native.pyi")


def check_where() -> None:
    import radboost

    folder = Path(radboost.__file__).resolve().parent
    if folder.is_relative_to(REPOSITORY / "src"):
        sys.exit(f"radboost comes from {folder}, not from a wheel: unset PYTHONPATH and install the wheel")
    missing = [name for name in FILES if not importlib.resources.files("radboost").joinpath(name).is_file()]
    if missing:
        sys.exit(f"the wheel has no {', '.join(missing)}")
    if radboost.__version__ != version("radboost"):
        sys.exit(f"radboost.__version__ is {radboost.__version__}, the wheel says {version('radboost')}")


def check_use() -> None:
    """Fit, predict, save, load: the loaded model predicts the same bits."""
    from sklearn.datasets import load_breast_cancer, load_diabetes

    from radboost import DeepBoostClassifier, RGBRegressor
    from radboost.model_file import load_model, save_model

    for estimator, read in (
        (DeepBoostClassifier(n_rounds=20), load_breast_cancer),
        (RGBRegressor(n_rounds=20), load_diabetes),
    ):
        X, y = read(return_X_y=True)
        model = estimator.fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.rad"
            save_model(model, path)
            again = load_model(path)
        if not np.array_equal(model.predict(X), again.predict(X)):
            sys.exit(f"a saved {type(estimator).__name__} predicts other values than the fitted one")
        if not model.score(X, y) > 0.3:
            sys.exit(f"{type(estimator).__name__} has learnt nothing: its score is {model.score(X, y):.3f}")


def check_bits() -> int:
    """Every model of tests/fingerprints.py, to the last bit."""
    sys.path.insert(0, str(REPOSITORY / "tests"))
    import fingerprints

    kept = json.loads(fingerprints.KEPT.read_text(encoding="utf-8"))
    found = {name: fingerprints.fingerprint(fit(1)) for name, fit in fingerprints.all_fits().items()}
    others = sorted(name for name in kept if kept[name] != found.get(name))
    if others:
        sys.exit(
            f"{len(others)} of {len(kept)} models are not those of tests/data/fingerprints.json: {', '.join(others)}"
        )
    return len(kept)


def main() -> None:
    check_where()
    check_use()
    n_models = check_bits()
    from radboost._native import instruction_set

    print(
        f"radboost {version('radboost')} on Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, kernels for {instruction_set()}: fits, predicts, saves, loads, and {n_models} models "
        "are the same to the last bit"
    )


if __name__ == "__main__":
    main()
