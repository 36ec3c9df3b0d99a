"""Models are the same, to the last bit, as when their fingerprints were taken: work on speed must not show in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fingerprints
from radboost import _native

SETS = ["x86-64", "avx2", "x86-64-v4"]  # each has the ones before it
# One of every kind of kernel: masks, histograms of weights and of gradients, scores of two and of many classes.
FEW = ["votes, 40,000 rows", "rated", "paper", "4 classes, paper", "rgb, 4 classes", "rgb, quantile", "softmax, paper"]


def kept() -> dict[str, str]:
    found: dict[str, str] = json.loads(fingerprints.KEPT.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", fingerprints.all_fits())
def test_models_are_as_they_were(name: str) -> None:
    for n_jobs in (1, 2):
        model = fingerprints.all_fits()[name](n_jobs)
        assert len(model.ensemble_) > 0
        assert fingerprints.fingerprint(model) == kept()[name], n_jobs


def test_a_bit_more_is_another_fingerprint() -> None:
    model = fingerprints.all_fits()["paper"](1)
    before = fingerprints.fingerprint(model)
    model.history_["objective"][-1] = float(np.nextafter(model.history_["objective"][-1], 2.0))
    assert fingerprints.fingerprint(model) != before


@pytest.mark.parametrize("instruction_set", SETS)
@pytest.mark.parametrize("names", [FEW, pytest.param([], marks=pytest.mark.slow, id="all")])
def test_every_instruction_set_gives_the_same_models(instruction_set: str, names: list[str]) -> None:
    here = _native.instruction_set()
    if here not in SETS or SETS.index(instruction_set) >= SETS.index(here):
        pytest.skip(f"this process runs {here}: {instruction_set} would not be another one")
    environment = {**os.environ, "RADBOOST_INSTRUCTION_SET": instruction_set}

    script = "import json, sys, fingerprints; from radboost import _native\n"
    script += "found = fingerprints.all_fingerprints(n_jobs=1, asked=sys.argv[1:])\n"
    script += "print(json.dumps([_native.instruction_set(), found]))"
    ran = subprocess.run(
        [sys.executable, "-c", script, *names],
        cwd=Path(fingerprints.__file__).parent,
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert json.loads(ran.stdout) == [instruction_set, {name: kept()[name] for name in names or kept()}]
