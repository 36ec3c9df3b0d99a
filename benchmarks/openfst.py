"""log Z and Q of the structured objective by OpenFst, operation by operation: Storcheus, Figures 6.2(a) and 6.4(a)."""

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import DataMissingError
from radboost.structured import EPSILON, TROPICAL, Arc, LayeredAcceptor, StringLoss, Transducer
from radboost.structured.losses import NGram

# At which OpenFst takes two residual weights for the same. By its default, 1e-6, errors of log Z reach 1e-6.
DELTA = 1e-9
# An arc of ConstFst, with weights of 64 bits.
ARC = np.dtype([("read", "i4"), ("written", "i4"), ("weight", "f8"), ("target", "i4")], align=True)


@dataclass(frozen=True)
class OpenFstTerms:
    """log Z and Q over the strings that determinization kept, and the automaton C = A o B of these strings."""

    log_z: float
    q: NDArray[np.float64]
    strings: Any

    @property
    def n_strings(self) -> float:
        """How many strings were kept: C is deterministic, and has one path for each."""
        openfst = load()
        unweighted = openfst.arcmap(self.strings, map_type="rmweight")
        return math.exp(-float(openfst.shortestdistance(unweighted, reverse=True)[unweighted.start()]))

    def acceptor(self, potentials: NDArray[np.float64]) -> LayeredAcceptor:
        """The same strings with their scores, without the loss: every other string is forbidden."""
        size = math.isqrt(potentials.shape[1])
        layer_of, number_of, n_states = {self.strings.start(): 0}, {self.strings.start(): 0}, [1]
        arcs, places = [], []
        reached = [self.strings.start()]
        for state in reached:
            layer = layer_of[state]
            for arc in self.strings.arcs(state):
                if arc.nextstate not in layer_of:
                    n_states += [0] * (layer + 2 - len(n_states))
                    layer_of[arc.nextstate], number_of[arc.nextstate] = layer + 1, n_states[layer + 1]
                    n_states[layer + 1] += 1
                    reached.append(arc.nextstate)
                arcs.append((layer, number_of[state], arc.ilabel - 1, number_of[arc.nextstate]))
                places.append(arc.olabel - 1)
        return LayeredAcceptor(n_states, arcs, potentials.ravel()[places], size)


def load() -> Any:
    """OpenFst's own names, which come with pynini; a task without it is left out with a note."""
    try:
        return import_module("pywrapfst")
    except ImportError as error:
        raise DataMissingError(
            "OpenFst, which pynini brings with it, is not installed. Run: pip install 'radboost[openfst]'"
        ) from error


def gradient_terms(
    loss: StringLoss, y: NDArray[np.int64], potentials: NDArray[np.float64], threshold: float | None = None
) -> OpenFstTerms:
    """For potentials of order 2; with a threshold, determinization keeps strings whose loss is so near to the least.

    Over the log semiring a weight is -log of a number, so that B = e^L is the inverse of the weights of Det(M), for
    rational and for tropical losses.
    """
    openfst = load()
    losses = determinized_losses(loss, y, potentials, threshold)
    b = openfst.arcmap(openfst.arcmap(losses, map_type="to_log64"), map_type="invert")
    # A stands on the right, so that what its arcs write, the places of potentials, stays on the arcs of C.
    c = openfst.compose(b, _scores(potentials))
    from_initial, to_final = (
        np.array([float(weight) for weight in openfst.shortestdistance(c, delta=DELTA, reverse=reverse)])
        for reverse in (False, True)
    )
    log_z = -float(to_final[c.start()])
    arcs, origin = _arcs_of(c)
    shares = np.exp(-(from_initial[origin] + arcs["weight"] + to_final[arcs["target"]]) - log_z)
    q = np.asarray(np.bincount(arcs["written"] - 1, shares, minlength=potentials.size), dtype=np.float64)
    return OpenFstTerms(log_z, q.reshape(potentials.shape), c)


def determinized_losses(
    loss: StringLoss, y: NDArray[np.int64], potentials: NDArray[np.float64], threshold: float | None
) -> Any:
    """Det(M) of M = Pi_1(Ybar o U o Y_i), U in two factors, each composed with its own end first (section 6.5)."""
    openfst = load()
    length, size = len(potentials), math.isqrt(potentials.shape[1])
    rational = loss.semiring is not TROPICAL
    kind = "log64" if rational else "standard"
    first, second = (_converted(factor, kind) for factor in loss.transducers(size, len(y)))
    every = Transducer.of_length(length, size, loss.semiring)
    right = openfst.compose(second.arcsort("olabel"), _converted(Transducer.of_string(y.tolist(), loss.semiring), kind))
    if rational:
        # One path for each n-gram of y, instead of one for each place where it occurs: determinization would otherwise
        # count by places, and take more than minutes for 30 symbols.
        right = openfst.determinize(right.project("input").rmepsilon(delta=DELTA), delta=DELTA).minimize(delta=DELTA)
    left = openfst.compose(_converted(every, kind).arcsort("olabel"), first.arcsort("ilabel"))
    m = openfst.compose(left.arcsort("olabel"), right.arcsort("ilabel")).project("input")
    if isinstance(loss, NGram):
        smoothed = Transducer(
            every.semiring, every.n_states, every.arcs, every.initial, {length: -math.log(loss.smoothing)}
        )
        m.union(_converted(smoothed, kind))
    # M is not pruned before: of the arcs that are left, paths can be made whose strings have smaller losses by arcs
    # that are gone, and Z would count them.
    m.rmepsilon(delta=DELTA)
    weight = None if threshold is None else openfst.Weight(m.weight_type(), threshold)
    return openfst.determinize(m, delta=DELTA, weight=weight)


def _arcs_of(machine: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All arcs and their origins. They are the end of the machine's file: ten times as fast as asking for each."""
    n_arcs = [machine.num_arcs(state) for state in machine.states()]
    file = load().convert(machine, "const").write_to_string()
    arcs = np.frombuffer(file, ARC, offset=len(file) - sum(n_arcs) * ARC.itemsize)
    return arcs, np.repeat(np.arange(len(n_arcs)), n_arcs)


def _converted(transducer: Transducer, kind: str) -> Any:
    """OpenFst has one initial state, without a weight: it becomes an additional state, the last. Label 0 is epsilon."""
    openfst = load()
    machine = openfst.VectorFst(kind)
    weight_of = machine.weight_type()
    machine.add_states(transducer.n_states + 1)
    machine.set_start(transducer.n_states)
    starting = [Arc(transducer.n_states, EPSILON, EPSILON, weight, s) for s, weight in transducer.initial.items()]
    for arc in [*transducer.arcs, *starting]:
        weight = openfst.Weight(weight_of, arc.weight)
        machine.add_arc(arc.origin, openfst.Arc(arc.input + 1, arc.output + 1, weight, arc.target))
    for state, weight in transducer.final.items():
        machine.set_final(state, openfst.Weight(weight_of, weight))
    return machine


def _scores(potentials: NDArray[np.float64]) -> Any:
    """A of Figure 6.2(d), order 2: reads symbols, writes 1 + the place of the potential."""
    openfst = load()
    length, width = potentials.shape
    size = math.isqrt(width)
    machine = openfst.VectorFst("log64")
    machine.add_states(1 + length * size)
    machine.set_start(0)
    for place, line in enumerate(potentials.tolist()):
        for number in range(size if place == 0 else width):
            before, symbol = divmod(number, size)
            origin = 0 if place == 0 else 1 + (place - 1) * size + before
            weight = openfst.Weight("log64", -line[number])
            arc = openfst.Arc(symbol + 1, 1 + place * width + number, weight, 1 + place * size + symbol)
            machine.add_arc(origin, arc)
    for symbol in range(size):
        machine.set_final(1 + (length - 1) * size + symbol)
    return machine
