"""Figure 6.5 of the thesis: the sum over all strings beside automata, the report, the picture, the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import papers as experiments
from papers import structured, studies
from papers.__main__ import main
from radboost.structured import LossCache, edit_distance, gradient_terms, loss_value, ngram, smith_waterman

STUDY: Any = experiments.STUDIES["structured-6.5"]
SMALL = replace(STUDY, quick_lengths=(2, 3, 9), quick_longest_naive=3, max_states=200)
TIMES = ("made", "kept", "naive")


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("name", structured.LOSSES)
def test_the_naive_sum_is_what_automata_find(name: str, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured, "BLOCK", 700)  # several blocks, the last one shorter
    for trial in range(3):
        y, potentials = structured.draw(length, 0, trial)
        log_z, q = structured.naive_terms(structured.LOSSES[name], y, potentials)
        terms = gradient_terms(structured.LOSSES[name], y, potentials, order=2, cache=LossCache())
        assert log_z == pytest.approx(terms.log_z, abs=1e-9)
        np.testing.assert_allclose(q, terms.q, atol=1e-9)


def test_the_naive_sum_does_not_overflow() -> None:
    rng = np.random.default_rng(0)
    y, potentials = rng.integers(0, 3, 6), 300.0 * rng.normal(size=(5, 9))
    log_z, q = structured.naive_terms(edit_distance(40.0, 100.0, 70.0), y, potentials)
    terms = gradient_terms(edit_distance(40.0, 100.0, 70.0), y, potentials, order=2)
    assert log_z == pytest.approx(terms.log_z, rel=1e-12)
    np.testing.assert_allclose(q, terms.q, atol=1e-9)


@pytest.mark.parametrize("loss", [edit_distance(0.7, 0.3, 1.1), smith_waterman(), ngram(3, 0.5)])
def test_losses_of_many_strings(loss: Any) -> None:
    rng = np.random.default_rng(1)
    y, strings = rng.integers(0, 4, 6), rng.integers(0, 4, size=(30, 5))
    found = structured._Losses(loss, y, 4).of(strings.T)
    np.testing.assert_allclose(found, [loss_value(loss, x, y, 4) for x in strings], atol=1e-9)


def test_units_are_losses_and_lengths() -> None:
    wanted = studies.units(STUDY, seed=3)
    assert [(u["structured"], u["length"]) for u in wanted] == [(n, k) for n in structured.LOSSES for k in range(2, 31)]
    assert {(u["trials"], u["max_states"], u["seed"]) for u in wanted} == {(25, structured.MAX_STATES, 3)}
    assert {u["length"] for u in wanted if u["naive_trials"]} == set(range(2, structured.LONGEST_NAIVE + 1))
    assert {u["naive_trials"] for u in wanted} == {0, structured.NAIVE_TRIALS}
    assert max(u["length"] for u in studies.units(STUDY, quick=True)) == 30
    with pytest.raises(ValueError, match="makes its own data"):
        studies.units(STUDY, ["adult"])


@pytest.fixture(scope="module")
def outcomes() -> list[studies.Outcome]:
    return list(studies.run(SMALL, studies.units(SMALL, quick=True)))


def test_all_but_the_times_is_repeatable(outcomes: list[studies.Outcome]) -> None:
    for first, again in zip(outcomes, studies.run(SMALL, studies.units(SMALL, quick=True)), strict=True):
        assert first.facts == again.facts
        for name, values in first.result.items():
            if name in TIMES:
                assert all(value > 0 for value in values)
            else:
                assert values == again.result[name]
    other = SMALL.fit(studies.units(SMALL, quick=True, seed=1)[0], None)
    assert other["log_z"] != outcomes[0].result["log_z"]


def test_what_a_unit_finds(outcomes: list[studies.Outcome]) -> None:
    for outcome in outcomes:
        found = outcome.result
        assert len(found["made"]) == len(found["kept"]) == len(found["log_z"]) == 2
        assert len(found["naive"]) == (2 if outcome.facts["length"] <= 3 else 0)
        assert found["naive_log_z"] == pytest.approx(found["log_z"][: len(found["naive"])], abs=1e-9)
        if outcome.facts["length"] < 9:
            assert all(found["exact"])
        elif outcome.facts["structured"] == "Smith-Waterman":
            assert not any(found["exact"])  # 200 states are far too few
        for exact, error in zip(found["exact"], found["log_z_error"], strict=True):
            assert exact == (error < 1e-9)


def test_the_report_has_a_line_for_each(outcomes: list[studies.Outcome]) -> None:
    lines = SMALL.rows(outcomes)
    assert len(lines) == 9
    assert all(len(line) == len(SMALL.heading) for line in lines)
    cells = [line[15:].split() for line in lines]
    assert [line[:15].strip() for line in lines] == [name for name in structured.LOSSES for _ in range(3)]
    assert [int(line[0]) for line in cells] == [2, 3, 9] * 3
    for line, outcome in zip(cells, outcomes, strict=True):
        assert line[2] == f"{1e3 * np.mean(outcome.result['made']):.2f}"
        assert (line[4] == "-") == (outcome.facts["length"] == 9)
        assert line[5] == f"{np.mean(outcome.result['exact']):.0%}"
    assert f"length {structured.LONGEST_NAIVE} " in STUDY.legend
    assert f"{structured.MAX_STATES:,} states" in STUDY.legend


def test_the_picture(outcomes: list[studies.Outcome], tmp_path: Path) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    from papers.plots import draw_study

    figure = draw_study(SMALL, outcomes)
    assert [panel.get_title(loc="left") for panel in figure.axes] == list(structured.LOSSES)
    panel = figure.axes[1]
    assert panel.get_yscale() == "log"
    lines = {line.get_label(): line for line in panel.lines}
    made = [np.mean(one.result["made"]) for one in outcomes if one.facts["structured"] == "Smith-Waterman"]
    np.testing.assert_allclose(lines["automaton made"].get_ydata(), made)
    assert lines["all strings"].get_xdata().tolist() == [2, 3]
    rings = [line for line in panel.lines if line.get_fillstyle() == "none"]
    assert [line.get_xdata().tolist() for line in rings] == [[], [9], [9]]
    figure.savefig(tmp_path / "times.png")
    plt.close(figure)
    assert (tmp_path / "times.png").stat().st_size > 5000


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(experiments.STUDIES, STUDY.name, SMALL)
    picture, document, kept = tmp_path / "times.png", tmp_path / "times.json", tmp_path / "kept"
    arguments = ["run", "structured-6.5", "--quick", "--jobs", "1", "--seed", "2", "--keep", str(kept)]
    assert main([*arguments, "--plot", str(picture), "--json", str(document)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("structured-6.5: Storcheus (2021), Figure 6.5")
    lines = [line for line in out if line.startswith(tuple(structured.LOSSES))]
    assert len(lines) == len(json.loads(document.read_text())["outcomes"]) == 9
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(arguments) == 0  # what is kept is not timed again
    assert [line for line in capsys.readouterr().out.splitlines() if line in lines] == lines
