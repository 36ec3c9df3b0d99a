"""The structured objective as the top layer of a network: values by enumeration, gradients by differences."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from radboost.structured import LossCache, cross_entropy, edit_distance, hamming, loss_value, ngram, smith_waterman
from radboost.structured.automata import loss_source
from radboost.torch import StructuredLoss, tagger
from structured_tools import all_strings

LOSSES = {
    "edit": edit_distance(),
    "edit with costs": edit_distance(1.0, 3.0, 2.0),
    "smith_waterman": smith_waterman(),
    "bigram": ngram(2),
    "hamming": hamming(),
    "cross_entropy": cross_entropy(),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_order = pytest.mark.parametrize("order", [1, 2])


def batch(order: int = 1, n: int = 3, length: int = 4, size: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng([seed, order])
    return torch.tensor(1.5 * rng.normal(size=(n, length, size**order))), torch.tensor(
        rng.integers(0, size, (n, length))
    )


def enumerated(loss: Any, y: Any, potentials: Any, order: int) -> tuple[Any, Any, float]:
    """Losses and scores of all strings against y, and the score of y."""
    strings, _, scores = all_strings(potentials, order)
    source = loss_source(loss, np.asarray(y, dtype=np.int32), int(strings.max()) + 1)
    losses = np.array([source.loss(x) for x in strings])
    return losses, scores, float(scores[(strings == y).all(axis=1)][0])


# --- values ---------------------------------------------------------------------------------------------------------


@every_order
@every_loss
def test_the_value_is_a_sum_over_all_strings(loss: Any, order: int) -> None:
    potentials, targets = batch(order)
    values = StructuredLoss(loss, order=order, reduction="none")(potentials, targets)
    for k, y in enumerate(targets.numpy()):
        losses, scores, own_score = enumerated(loss, y, potentials[k].numpy(), order)
        own_loss = loss_value(loss, y, y, 3)
        expected = np.logaddexp.reduce(losses + scores) - own_score - own_loss
        assert float(values[k]) == pytest.approx(expected, abs=1e-9)


def test_the_loss_of_a_string_with_itself() -> None:
    """Taken off where it is not 0; for n-grams it need not be the least of all losses."""
    y = [0, 0, 0, 1]
    assert loss_value(edit_distance(), y, y) == loss_value(hamming(), y, y) == 0.0
    assert loss_value(smith_waterman(), y, y) == -8.0
    assert loss_value(ngram(2), [0, 0, 0, 0], y, 2) < loss_value(ngram(2), y, y) < 0.0
    sure = 50.0 * torch.nn.functional.one_hot(torch.tensor([y]), 2).double()
    for loss in LOSSES.values():
        assert float(StructuredLoss(loss)(sure, [y])) == pytest.approx(0.0, abs=1e-12)


def test_reductions() -> None:
    potentials, targets = batch()
    each = StructuredLoss(reduction="none")(potentials, targets)
    assert each.shape == (3,)
    assert float(StructuredLoss()(potentials, targets)) == pytest.approx(float(each.mean()))
    assert float(StructuredLoss(reduction="sum")(potentials, targets)) == pytest.approx(float(each.sum()))


# --- gradients ------------------------------------------------------------------------------------------------------


@every_order
@every_loss
def test_gradients(loss: Any, order: int) -> None:
    potentials, targets = batch(order, n=2)
    for reduction, lengths in [("none", None), ("mean", torch.tensor([3, 4])), ("sum", [1, 2])]:
        module = StructuredLoss(loss, order=order, reduction=reduction)
        assert torch.autograd.gradcheck(lambda p: module(p, targets, lengths), potentials.requires_grad_())  # noqa: B023


def test_gradients_where_losses_are_not_exact() -> None:
    """Q is the derivative of the value that is returned, whatever its error."""
    potentials, targets = batch(n=2, length=6)
    for loss in (edit_distance(), smith_waterman(), ngram(2)):
        module = StructuredLoss(loss, max_states=15)
        assert torch.autograd.gradcheck(lambda p: module(p, targets), potentials.requires_grad_())  # noqa: B023
        assert not module.exact_


def test_there_are_no_second_derivatives() -> None:
    potentials, targets = batch()
    potentials.requires_grad_()
    for power in (1, 2):
        value = StructuredLoss()(potentials, targets) ** power
        (first,) = torch.autograd.grad(value, potentials, create_graph=True)
        with pytest.raises(RuntimeError, match="cannot be differentiated again"):
            (first**2).sum().backward()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_types_of_numbers(dtype: str) -> None:
    kind = getattr(torch, dtype)
    potentials, targets = batch()
    rounded = potentials.to(kind).requires_grad_()
    doubled = rounded.detach().double().requires_grad_()
    module = StructuredLoss()
    value, expected = module(rounded, targets), module(doubled, targets)
    value.backward()
    expected.backward()
    assert value.dtype == (torch.float64 if dtype == "float64" else torch.float32)
    assert rounded.grad.dtype == kind
    torch.testing.assert_close(value.double(), expected, rtol=1e-6, atol=0.0)
    torch.testing.assert_close(rounded.grad, doubled.grad.to(kind))  # rounded once


def test_no_gradient_is_asked_for() -> None:
    potentials, targets = batch()
    assert not StructuredLoss()(potentials, targets).requires_grad
    with torch.no_grad():
        assert not StructuredLoss()(potentials.requires_grad_(), targets).requires_grad


# --- batches --------------------------------------------------------------------------------------------------------


@every_order
@every_loss
def test_padded_batches_are_their_sequences(loss: Any, order: int) -> None:
    potentials, targets = batch(order, n=4, length=5)
    lengths = [3, 5, 1, 4]
    singles = [potentials[k, :n].clone().requires_grad_() for k, n in enumerate(lengths)]
    strings = [targets[k, :n].clone() for k, n in enumerate(lengths)]
    module = StructuredLoss(loss, order=order, reduction="none")
    alone = torch.cat([module(one[None], y[None]) for one, y in zip(singles, strings, strict=True)])
    alone.sum().backward()
    for k, n in enumerate(lengths):
        potentials[k, n:] = math.nan
        targets[k, n:] = -100
    potentials.requires_grad_()
    for padded in (targets, torch.nn.functional.pad(targets, (0, 2), value=99), targets.numpy(), strings):
        potentials.grad = None
        values = module(potentials, padded, torch.tensor(lengths))
        values.sum().backward()
        assert torch.equal(values, alone)
        for k, n in enumerate(lengths):
            assert torch.equal(potentials.grad[k, :n], singles[k].grad)
            assert (potentials.grad[k, n:] == 0.0).all()
    for listed in (targets, strings, [y.tolist() for y in strings], tuple(y.to(torch.uint8) for y in strings)):
        again = [one.detach().clone().requires_grad_() for one in singles]
        values = module(again, listed)
        values.sum().backward()
        assert torch.equal(values, alone)
        assert all(torch.equal(one.grad, other.grad) for one, other in zip(again, singles, strict=True))


def test_threads_and_caches_change_nothing() -> None:
    potentials, targets = batch(n=8, length=6)
    kept = LossCache()
    plain = StructuredLoss(reduction="none")(potentials, targets)
    assert torch.equal(StructuredLoss(reduction="none", n_jobs=3, cache=kept)(potentials, targets), plain)
    assert len(kept) == 8


def test_masks_of_minus_infinity() -> None:
    potentials, targets = batch()
    targets[0, 1] = 0
    mask = torch.zeros_like(potentials, dtype=torch.bool)
    mask[0, 1, 2] = True
    low, forbidden = potentials.masked_fill(mask, -1e4).requires_grad_(), potentials.clone().requires_grad_()
    StructuredLoss()(low, targets).backward()
    StructuredLoss()(forbidden.masked_fill(mask, -math.inf), targets).backward()
    torch.testing.assert_close(forbidden.grad, low.grad)


# --- certificates, copies -------------------------------------------------------------------------------------------


def test_what_was_approximate_is_kept() -> None:
    potentials, targets = batch(n=4, length=6)
    exact = StructuredLoss("smith_waterman", reduction="none")
    assert exact.exact_
    assert exact.log_z_error_ == 0.0
    values = exact(potentials, targets)
    assert exact.exact_
    assert exact.log_z_error_ < 1e-9
    for limits in ({"max_states": 20}, {"max_states": 40, "threshold": 1.0}):
        rough = StructuredLoss("smith_waterman", reduction="none", **limits)
        errors = (rough(potentials, targets) - values).abs()
        assert not rough.exact_
        assert 0.0 < float(errors.max()) <= rough.log_z_error_ + 1e-9
    rough(30.0 * torch.nn.functional.one_hot(targets, 3).double(), targets)
    assert rough.log_z_error_ < 0.1  # that of the last call


def test_copies() -> None:
    potentials, targets = batch(2)
    module = StructuredLoss(edit_distance(2.0), order=2, max_states=50, threshold=3.0, cache=LossCache())
    value = module(potentials, targets)
    assert dict(module.state_dict()) == {}
    assert list(module.parameters()) == []
    for other in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert torch.equal(other(potentials, targets), value)
        assert (other.exact_, other.log_z_error_) == (module.exact_, module.log_z_error_)
    assert "EditDistance(substitution=2.0" in repr(module)


def test_compiled_functions_call_it_as_it_is() -> None:
    potentials, targets = batch()
    module = StructuredLoss()
    compiled = torch.compile(lambda p, y: module(2.0 * p, y) + 1.0, backend="eager")
    assert float(compiled(potentials, targets)) == pytest.approx(float(module(2.0 * potentials, targets)) + 1.0)


def test_a_loss_that_lives_until_python_ends() -> None:
    """What PyTorch recorded of it must not hold automata: the native module would report them as leaked."""
    script = (
        "import torch; from radboost.torch import StructuredLoss\n"
        "value = StructuredLoss()(torch.zeros(1, 2, 2, requires_grad=True), [[0, 1]]); value.backward()"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "leaked" not in run.stderr


# --- training -------------------------------------------------------------------------------------------------------


def tagging_problem(n: int, longest: int = 7, size: int = 3) -> tuple[Any, Any, Any]:
    """A tag is the sum of a symbol and the next one, modulo 3; padded, with -100 for tags."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(3, longest + 1, n)
    inputs, tags = np.zeros((n, longest, size)), np.full((n, longest), -100)
    for k, length in enumerate(lengths):
        symbols = rng.integers(0, size, length)
        inputs[k, np.arange(length), symbols] = 1.0
        tags[k, :length] = (symbols + np.append(symbols[1:], 0)) % size
    return torch.tensor(inputs, dtype=torch.float32), torch.tensor(tags), torch.tensor(lengths)


@pytest.mark.parametrize(("loss", "order"), [("edit_distance", 1), ("smith_waterman", 1), ("hamming", 2)])
def test_a_tagger_learns(loss: str, order: int) -> None:
    torch.manual_seed(0)
    data = tagging_problem(80)
    model, module = tagger(3, 3**order, width=16), StructuredLoss(loss, order=order)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    rows = torch.utils.data.TensorDataset(*(part[:60] for part in data))
    means = []
    for _ in range(30):
        values = []
        for inputs, tags, lengths in torch.utils.data.DataLoader(rows, batch_size=15, shuffle=True):
            optimizer.zero_grad()
            value = module(model(inputs, lengths), tags, lengths)
            value.backward()
            optimizer.step()
            values.append(value.item())
        means.append(np.mean(values))
    assert means[-1] < 0.05 * means[0]
    inputs, tags, lengths = (part[60:] for part in data)
    scores = model(inputs, lengths).detach().double().numpy()
    n_right = 0
    for k, n in enumerate(lengths.tolist()):  # sequences that it has not seen
        _, of_strings, own = enumerated(hamming(), tags[k, :n].numpy(), scores[k, :n], order)
        n_right += own >= of_strings.max() - 1e-9
    assert n_right >= 17


def test_taggers_do_not_read_padding() -> None:
    torch.manual_seed(0)
    inputs, _, lengths = tagging_problem(6)
    model = tagger(3, 4).double()
    inputs = inputs.double()
    together = model(inputs, lengths)
    assert together.shape == (6, 7, 4)
    for k, n in enumerate(lengths.tolist()):
        torch.testing.assert_close(together[k, :n], model(inputs[k : k + 1, :n])[0])


# --- refusals -------------------------------------------------------------------------------------------------------

P, Y = batch()


def with_entry(tensor: Any, place: tuple[int, ...], value: float) -> Any:
    changed = tensor.clone()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: StructuredLoss("edit"), ValueError, "Unknown loss 'edit'. Known are 'edit_distance'"),
        (lambda: StructuredLoss(3), TypeError, "loss must be one of"),
        (lambda: StructuredLoss(order=0), ValueError, "order must be"),
        (lambda: StructuredLoss(max_states=0), ValueError, "max_states"),
        (lambda: StructuredLoss(threshold=-1.0), ValueError, "threshold"),
        (lambda: StructuredLoss(n_jobs=0), ValueError, "n_jobs"),
        (lambda: StructuredLoss(reduction="median"), ValueError, "reduction must be one of 'mean', 'sum', 'none'"),
        (lambda: StructuredLoss(cache={}), TypeError, "cache must be"),
        (lambda: StructuredLoss(max_states=9)(P, Y), ValueError, "Sequence 0: max_states .* at least 10"),
        (lambda: StructuredLoss(order=2)(P, Y), ValueError, "got 3, which is no number to the power of 2"),
        (lambda: StructuredLoss()(P[0], Y[0]), ValueError, r"got \(4, 3\). A single sequence is potentials\[None\]"),
        (lambda: StructuredLoss()(P[:0], Y[:0]), ValueError, "none of them 0"),
        (lambda: StructuredLoss()(Y, P), TypeError, "Targets come second"),
        (lambda: StructuredLoss()(P.numpy(), Y), TypeError, "potentials must be a tensor .* got ndarray"),
        (lambda: StructuredLoss()([P[0].numpy()], Y[:1]), TypeError, r"potentials\[0\] is"),
        (lambda: StructuredLoss()([], []), ValueError, "at least one sequence"),
        (lambda: StructuredLoss()([P[0], P[1, :, :2]], Y[:2]), ValueError, r"potentials\[1\] .* got \(4, 2\) beside"),
        (lambda: StructuredLoss()([P[0], P[1, :0]], Y[:2]), ValueError, "at least one row"),
        (lambda: StructuredLoss()([Y], Y[:1]), TypeError, r"potentials\[0\] must be scores"),
        (lambda: StructuredLoss()(list(P), Y, [4, 4, 4]), ValueError, "Leave out lengths"),
        (lambda: StructuredLoss()(P, Y, [4, 4]), ValueError, "for each of the 3 sequences; got the shape"),
        (lambda: StructuredLoss()(P, Y, [4.0, 4.0, 4.0]), ValueError, "lengths must have an integer"),
        (lambda: StructuredLoss()(P, Y, [4, 0, 4]), ValueError, r"between 1 and 4, .* lengths\[1\] is 0"),
        (lambda: StructuredLoss()(P, Y, [4, 4, 5]), ValueError, r"lengths\[2\] is 5"),
        (lambda: StructuredLoss()(P, Y[:2]), ValueError, "each of the 3 sequences; got 2"),
        (lambda: StructuredLoss()(P, Y[0]), ValueError, r"shape \(batch, length\); got \(4,\)"),
        (lambda: StructuredLoss()(P, 3), TypeError, "targets must be"),
        (lambda: StructuredLoss()(P, Y.double()), TypeError, r"targets\[0\] must be a sequence of integers"),
        (lambda: StructuredLoss()(P, Y > 0), TypeError, r"targets\[0\] must be a sequence of integers"),
        (lambda: StructuredLoss()(P, Y[:, :3]), ValueError, "3 symbols and its potentials 4 rows"),
        (lambda: StructuredLoss()(P, Y[:, :3], [3, 4, 3]), ValueError, r"targets\[1\] has 3 symbols .* 4 rows"),
        (lambda: StructuredLoss()(P, torch.cat([Y, Y], dim=1)), ValueError, "8 symbols .* needs lengths"),
        (lambda: StructuredLoss()(P, list(Y), [4, 3, 4]), ValueError, r"targets\[1\] has 4 symbols .* 3 rows"),
        (lambda: StructuredLoss()(P, [[0], [], [1]]), ValueError, r"targets\[0\] has 1 symbols"),
        (
            lambda: StructuredLoss()(P, with_entry(Y, (1, 2), -100)),
            ValueError,
            r"targets\[1\] has the symbol -100 at position 2; the alphabet has 3 symbols, .*Padding needs lengths",
        ),
        (lambda: StructuredLoss()(P, with_entry(Y, (0, 0), 3)), ValueError, r"targets\[0\] has the symbol 3"),
        (
            lambda: StructuredLoss()(with_entry(P, (2, 1, 0), math.nan), Y),
            FloatingPointError,
            r"potentials\[2\] are nan at position 1: .* Lower the learning rate",
        ),
        (lambda: StructuredLoss()(with_entry(P, (0, 3, 1), math.inf), Y), FloatingPointError, "inf at position 3"),
        (
            lambda: StructuredLoss()(with_entry(P, (1, 2, int(Y[1, 2])), -math.inf), Y),
            ValueError,
            r"potentials\[1\] are -inf along targets\[1\]",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
