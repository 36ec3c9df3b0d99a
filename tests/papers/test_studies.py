"""The studies of "Soft-max boosting": what they fit, what they print, what they draw."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from papers import STUDIES, KeptResults, datasets, studies, studies_report
from papers.__main__ import main
from papers.plots import draw_study
from papers.soft_max_boosting import Differences, Duel, NoiseCurve, ShuffledCurves, StagedTable, close
from papers.soft_max_fits import POINTS, make_model, make_noise_model
from papers.studies import Outcome
from radboost import SoftmaxBoostClassifier
from radboost.baselines import SAMMEClassifier
from radboost.datasets import make_noisy

TABLE_2, TABLE_3 = STUDIES["soft-max-boosting-2"], STUDIES["soft-max-boosting-3"]


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("RADBOOST_DATA", raising=False)
    monkeypatch.setenv("RADBOOST_CACHE", str(tmp_path / "cache"))
    yield
    plt.close("all")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stand-in for vowel: three classes, a split."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3)).round(2)
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0)
    lines = ["a,b,c,split,target"]
    parts = ["train"] * 60 + ["test"] * 30
    lines += [f"{a},{b},{c},{part},{k}" for (a, b, c), part, k in zip(X, parts, y, strict=True)]
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "vowel.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def test_the_papers_figures_are_all_there() -> None:
    for table in (TABLE_2, TABLE_3):
        assert isinstance(table, StagedTable)
        assert table.datasets == ("dna", "letter", "mnist", "pendigits", "satimage", "segment", "splice", "vowel")
        for of_dataset in table.figures.values():
            assert all(len(figures) == 3 and 0 < min(figures) < 0.6 for figures in of_dataset.values())
    assert TABLE_2.figures["letter"]["sm-boost"] == pytest.approx((0.269, 0.107, 0.054))
    assert TABLE_3.figures["vowel"]["SAMME"] == pytest.approx((0.541, 0.446, 0.413))


def test_units_name_every_fit() -> None:
    wanted = studies.units(TABLE_3, ["vowel", "letters"])
    assert [(u["dataset"], u["algorithm"]) for u in wanted] == [
        (name, algorithm) for name in ("letter", "vowel") for algorithm in ("AdaBoost.MH", "SAMME", "sm-boost")
    ]
    assert {(u["noise"], u["rounds"]) for u in wanted} == {(0.2, 1000)}
    assert {u["rounds"] for u in studies.units(TABLE_2, quick=True)} == {100}
    assert len(studies.units(STUDIES["soft-max-boosting-fig1"])) == 2000
    assert len(studies.units(STUDIES["soft-max-boosting-fig3"], quick=True)) == 200
    curve = studies.units(STUDIES["soft-max-boosting-fig7"], quick=True)
    assert len(curve) == 11 * 10 * 5
    assert sorted({u["flipped"] for u in curve}) == [round(0.05 * i, 2) for i in range(11)]
    assert {u["size"] for u in curve if u["algorithm"] == "MartiBoost"} == {100}
    whole = studies.units(STUDIES["soft-max-boosting-fig7"])
    assert len(whole) == 11 * 100 * 5
    assert {u["size"] for u in whole if u["algorithm"] == "MartiBoost"} == {300}


def test_units_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="lacks sonar; its sets are dna"):
        studies.units(TABLE_2, ["vowel", "sonar"])
    with pytest.raises(ValueError, match="makes its own data"):
        studies.units(STUDIES["soft-max-boosting-fig7"], ["vowel"])


def test_stages_are_those_of_one_fit(folder: Path) -> None:
    facts = studies.units(TABLE_3, ["vowel"], quick=True, seed=3)[1]
    assert facts["algorithm"] == "SAMME"
    result = TABLE_3.fit(facts, str(folder))
    data = datasets.load("vowel", folder)
    train = data.split == "train"
    noisy = make_noisy(data.y[train], 0.2, random_state=3)
    for place, rounds in enumerate((10, 100)):
        model = SAMMEClassifier(rounds).fit(data.X[train], noisy)
        assert result["test"][place] == pytest.approx(1 - model.score(data.X[~train], data.y[~train]))
        assert result["train"][place] == pytest.approx(1 - model.score(data.X[train], noisy))


def test_a_set_without_parts_is_refused(folder: Path) -> None:
    (folder / "splice.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n2,1\n"))
    with pytest.raises(ValueError, match=r"splice from .* does not say which rows train"):
        TABLE_2.fit(studies.units(TABLE_2, ["splice"])[0], str(folder))


def test_kept_outcomes_are_not_fitted_again(tmp_path: Path) -> None:
    duel = replace(STUDIES["soft-max-boosting-fig3"], problems=1, rounds=10)
    assert isinstance(duel, Duel)
    wanted = studies.units(duel)
    told: list[str] = []
    first = list(studies.run(duel, wanted, kept=KeptResults(tmp_path / "kept"), advance=told.append))
    assert told == ["SAMME", "sm-boost"]
    lines = (tmp_path / "kept").read_text().splitlines()
    assert len(lines) == 2
    again = list(studies.run(duel, wanted, kept=KeptResults(tmp_path / "kept")))
    assert again == first
    assert (tmp_path / "kept").read_text().splitlines() == lines
    head, _ = studies_report.header(duel).splitlines()
    assert head.split()[:4] == ["errors", "rounds", "SAMME", "sm-boost"]
    assert [row.split()[:2] for row in duel.rows(first)] == [["train", "10"], ["test", "10"]]
    scatter = draw_study(duel, first).axes[0]
    np.testing.assert_allclose(scatter.collections[0].get_offsets(), [[o.result["train"][0] for o in first]])


def test_differences_are_those_of_the_duel() -> None:
    """Figures 2 and 4 show the fits of Figures 1 and 3."""
    shown = STUDIES["soft-max-boosting-fig4"]
    assert isinstance(shown, Differences)
    assert studies.units(shown) == studies.units(STUDIES["soft-max-boosting-fig3"])
    small = replace(shown, rounds=10)
    errors = {"SAMME": [0.1, 0.2, 0.6], "sm-boost": [0.2, 0.2, 0.2]}
    outcomes = [
        Outcome({"algorithm": algorithm}, {"train": [error], "test": [error / 2]})
        for algorithm, values in errors.items()
        for error in values
    ]
    train, test = (row.split() for row in small.rows(outcomes))
    assert train == ["train", "10", "10.00", "-9.00", "-5.00", "0.00", "20.00", "36.00"]
    assert test[:3] == ["test", "10", "5.00"]
    above, below = draw_study(small, outcomes).axes
    assert sum(patch.get_height() for patch in above.patches) == 3
    assert below.get_xlabel() == "SAMME - sm-boost"


def test_curves_are_of_mixed_rows(folder: Path) -> None:
    study = STUDIES["soft-max-boosting-fig6"]
    assert isinstance(study, ShuffledCurves)
    assert len(studies.units(study)) == 8 * 25 * 3
    wanted = studies.units(study, ["vowel"], quick=True, seed=4)
    assert len(wanted) == 5 * 3
    facts = wanted[4]
    assert (facts["algorithm"], facts["repeat"]) == ("SAMME", 1)
    result = study.fit(facts, str(folder))
    data = datasets.load("vowel", folder)
    rng = np.random.default_rng([4, 1])
    order = rng.permutation(90)
    train, test = order[:60], order[60:]  # as many as the file has
    noisy = make_noisy(data.y[train], 0.2, random_state=rng)
    assert len(result["test"]) == len(result["train"]) == POINTS.index(100) + 1
    for rounds in (1, 10, 100):
        model = SAMMEClassifier(rounds).fit(data.X[train], noisy)
        place = POINTS.index(rounds)
        assert result["test"][place] == pytest.approx(1 - model.score(data.X[test], data.y[test]))
        assert result["train"][place] == pytest.approx(1 - model.score(data.X[train], noisy))
    ends = {"AdaBoost.MH": 0.5, "SAMME": 0.4, "sm-boost": 0.3}
    outcomes = [
        Outcome(one, {"train": [0.0] * 11, "test": [ends[one["algorithm"]] + 0.1 * (one["repeat"] % 2)] * 11})
        for one in wanted[:6]
    ]
    rows = [row.split() for row in study.rows(outcomes)]
    assert [row[2] for row in rows[:2]] == ["10", "100"]
    assert rows[0] == ["vowel", "AdaBoost.MH", "10", "0.0000", "(0.0000)", "0.5500", "(0.0500)", "0.5580", "+0.2"]
    above, below = draw_study(study, outcomes).axes
    np.testing.assert_allclose(below.lines[1].get_ydata(), 0.45)
    assert above.get_title(loc="left") == "vowel, training error"
    with pytest.raises(ValueError, match="lacks sonar; its sets are dna"):
        studies.units(study, ["sonar"])


def test_the_noise_curve(tmp_path: Path) -> None:
    curve = replace(
        STUDIES["soft-max-boosting-fig7"],
        noises=(0.0, 0.2),
        sizes={"SAMME": 40, "sm-boost": 40, "sm-boost, M = N/8": 40, "SoftmaxBoost": 40, "MartiBoost": 31},
        repeats=2,
        n_train=400,
        n_test=300,
    )
    assert isinstance(curve, NoiseCurve)
    outcomes = list(studies.run(curve, studies.units(curve)))
    errors = curve.errors(outcomes)
    assert list(errors) == ["SAMME", "sm-boost", "sm-boost, M = N/8", "SoftmaxBoost", "MartiBoost", "one walk"]
    assert all(values.shape == (2, 2) for values in errors.values())
    assert (errors["one walk"] >= errors["MartiBoost"]).all()  # the more probable side is the better answer here
    assert errors["SAMME"][0].mean() + 0.02 < errors["SAMME"][1].mean()  # noise harms it
    table = curve.rows(outcomes)
    assert [row.split()[0] for row in table] == ["0.00", "0.20"]
    assert f"{errors['SAMME'][1].mean():.4f}" == table[1].split()[1]
    (ax,) = draw_study(curve, outcomes).axes
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_allclose(lines["SAMME"].get_ydata(), errors["SAMME"].mean(axis=1))
    assert "MartiBoost, one walk" in lines


def test_the_models_of_the_noise_curve() -> None:
    few = make_noise_model("sm-boost, M = N/8", 30, 5, 4000)
    assert (few.n_rounds, few.max_leaves, few.samples_per_round, few.step) == (30, 2, 500, "sampled")
    plain = make_noise_model("sm-boost", 30, 5, 4000)
    assert (plain.max_leaves, plain.samples_per_round) == (2, "rows")
    assert (
        make_noise_model("SoftmaxBoost", 30, 5, 4000).get_params()
        == SoftmaxBoostClassifier(30, random_state=5, n_jobs=1).get_params()
    )


def test_close_to_the_paper() -> None:
    """In both directions: an error far below the paper's is no more a table reproduced than one far above."""
    assert [close(error, 0.0201) for error in (0.03, 0.0302, 0.0102, 0.01)] == ["yes", "above", "yes", "below"]
    assert [close(error, 0.45) for error in (0.51, 0.52, 0.39, 0.38)] == ["yes", "above", "yes", "below"]
    outcome = Outcome({"dataset": "letter", "algorithm": "sm-boost"}, {"test": [0.2, 0.2, 0.05]})
    row = TABLE_2.row(outcome)
    assert " ".join(row.split()) == "letter sm-boost 0.2000 0.2690 0.2000 0.1070 0.0500 0.0540 below above yes"
    assert studies_report.header(TABLE_2).splitlines()[0].split()[-1] == "close"


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_study_has_a_header_and_a_legend(study: studies.Study) -> None:
    head, line = studies_report.header(study).splitlines()
    assert len(head) == len(line)
    assert len(study.legend) > 40


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_units_say_what_is_worked_on(study: studies.Study) -> None:
    assert all(facts[study.named_by] not in (None, "") for facts in studies.units(study, quick=True))


def test_studies_share_results_only_where_they_share_the_fit() -> None:
    """What is kept is found by its facts alone."""
    seen: dict[str, object] = {}
    for study in STUDIES.values():
        for facts in studies.units(study, quick=True):
            key = json.dumps(facts, sort_keys=True)
            assert seen.setdefault(key, type(study).fit) is type(study).fit, study.name


def test_models_are_the_papers() -> None:
    model = make_model("MartiBoost", 7, 0, max_leaves=2)
    assert (model.n_rounds, model.max_leaves, model.n_jobs) == (7, 2, 1)
    model = make_model("sm-boost", 7, 5)
    assert (model.n_rounds, model.max_leaves, model.random_state, model.n_jobs) == (7, 12, 5, 1)
    assert make_model("AdaBoost.MH", 7, 0).max_leaves == 12


def test_the_command(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    picture, document = tmp_path / "table.png", tmp_path / "table.json"
    arguments = ["run", "soft-max-boosting-3", "--quick", "--datasets", "vowel", "--jobs", "1", "--seed", "2"]
    arguments += ["--data-dir", str(folder), "--plot", str(picture), "--json", str(document)]
    assert main(arguments) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("soft-max-boosting-3: test errors on the given splits, 20% of the training labels")
    rows = [line for line in out if line.startswith("vowel")]
    assert [line.split()[1] for line in rows] == ["AdaBoost.MH", "SAMME", "sm-boost"]
    assert rows[1].split()[3] == "0.5410"
    assert picture.read_bytes().startswith(b"\x89PNG")
    outcomes = json.loads(document.read_text())["outcomes"]
    assert f"{outcomes[2]['result']['test'][0]:.4f}" == rows[2].split()[2]


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def fails(*arguments: str) -> str:
        assert main(["run", *arguments]) == 2
        return capsys.readouterr().err

    assert "leave out --split-criterion" in fails("soft-max-boosting-2", "--split-criterion", "gini")
    assert "has no picture" in fails("deep-boosting-1", "--plot", str(tmp_path / "x.png"))
    assert "there is no folder" in fails("soft-max-boosting-2", "--plot", str(tmp_path / "no" / "x.png"))
    assert "makes its own data" in fails("soft-max-boosting-fig7", "--datasets", "vowel")
