// Binds automata/: losses between strings as automata, and gradients of structured objectives.
#include "automata/forward_backward.hpp"
#include "automata/layered_acceptor.hpp"
#include "automata/loss_automaton.hpp"

#include "bindings/arrays.hpp"

#include <atomic>
#include <stdexcept>

namespace radboost {
namespace {

// Signals reach the main thread only; it sets this flag to stop calls in its worker threads.
struct StopFlag {
    std::atomic<bool> stopped{false};
};

thread_local const StopFlag* watched_flag = nullptr;

// During its lifetime, check_stop on this thread checks the given flag (null: checks signals).
class Watching {
public:
    explicit Watching(const StopFlag* flag) { watched_flag = flag; }
    ~Watching() { watched_flag = nullptr; }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
};

void check_stop() {
    if (watched_flag == nullptr) return check_signals();
    if (watched_flag->stopped.load(std::memory_order_relaxed)) throw std::runtime_error("interrupted by the main thread");
}

using Numbers = Vector<double>;
using Ids = Vector<std::int32_t>;

std::vector<CostArc> arcs_of(const Ids& origin, const Ids& target, const Numbers& cost, std::size_t first,
                             std::size_t last) {
    std::vector<CostArc> arcs;
    for (std::size_t k = first; k < last; ++k) arcs.push_back({origin.data()[k], target.data()[k], cost.data()[k]});
    return arcs;
}

// Arcs are sorted by symbol class, epsilon arcs last. class_starts: first arc of each class, then the first epsilon arc.
LossSource make_source(bool minimum, Numbers initial, Numbers final, Ids class_of, Vector<std::int64_t> class_starts,
                       Ids origin, Ids target, Numbers cost) {
    require(origin.size() == target.size() && origin.size() == cost.size(), "the arcs do not fit together");
    require(class_starts.size() >= 1, "the classes have no beginnings");
    LossSource source;
    source.sum = minimum ? CostSum::kMinimum : CostSum::kLogSum;
    source.n_entries = initial.size();
    source.initial = as_vector(initial);
    source.final = as_vector(final);
    source.class_of = as_vector(class_of);
    std::size_t before = 0;
    for (std::size_t k = 0; k < class_starts.size(); ++k) {
        const std::int64_t first = class_starts.data()[k];
        const std::int64_t last =
            k + 1 < class_starts.size() ? class_starts.data()[k + 1] : static_cast<std::int64_t>(origin.size());
        require(first >= static_cast<std::int64_t>(before) && last >= first &&
                    last <= static_cast<std::int64_t>(origin.size()),
                "the classes are not sorted");
        before = static_cast<std::size_t>(first);
        auto arcs = arcs_of(origin, target, cost, static_cast<std::size_t>(first), static_cast<std::size_t>(last));
        if (k + 1 < class_starts.size())
            source.arcs.push_back(std::move(arcs));
        else
            source.free_arcs = std::move(arcs);
    }
    source.check();
    return source;
}

LossAutomaton determinize(const LossSource& source, std::size_t length, std::size_t max_states, double threshold,
                          const StopFlag* stop) {
    nb::gil_scoped_release release;
    const Watching watching(stop);
    return determinize_loss(source, {length, max_states, threshold}, check_stop);
}

LayeredAcceptor make_acceptor(Ids layer_size, std::int32_t alphabet_size, Ids layer, Ids origin, Ids symbol, Ids target) {
    return acceptor_of(as_vector(layer_size), alphabet_size, as_vector(layer), as_vector(origin), as_vector(symbol),
                       as_vector(target));
}

auto flow_of(const LayeredAcceptor& scores, Numbers potentials, const LossAutomaton& loss, bool certify,
             const StopFlag* stop) {
    require(potentials.size() == scores.n_arcs(), "there must be a potential for each arc");
    Flow flow;
    {
        nb::gil_scoped_release release;
        const Watching watching(stop);
        flow = forward_backward(scores, potentials.data(), loss, certify, check_stop);
    }
    std::vector<Output<double>> log_through;
    for (auto& one : flow.log_through) log_through.push_back(as_array(std::move(one)));
    return std::make_tuple(flow.log_z, as_array(std::move(flow.through)), log_through, flow.infinite_loss);
}

auto expected_loss_of(const LayeredAcceptor& scores, Numbers potentials, const LossAutomaton& loss) {
    require(potentials.size() == scores.n_arcs(), "there must be a potential for each arc");
    nb::gil_scoped_release release;
    return expected_loss(scores, potentials.data(), loss, check_signals);
}

}  // namespace

void bind_automata(nb::module_& m) {
    nb::class_<StopFlag>(m, "StopFlag").def(nb::init<>()).def("set", [](StopFlag& flag) { flag.stopped = true; });
    nb::class_<LossAutomaton>(m, "LossAutomaton")
        .def_ro("length", &LossAutomaton::length)
        .def_ro("exact", &LossAutomaton::exact)
        .def_prop_ro("n_states", &LossAutomaton::n_states)
        .def_ro("largest_cost", &LossAutomaton::largest_cost)
        .def_prop_ro("bounded", &LossAutomaton::bounded)
        .def_prop_ro("n_bytes",
                     [](const LossAutomaton& one) {
                         return one.next.size() * (sizeof(std::int32_t) + sizeof(double)) + sizeof one;
                     })
        .def("loss", [](const LossAutomaton& one, Ids string) { return one.loss(as_vector(string)); });
    nb::class_<LossSource>(m, "LossSource")
        .def("loss", [](const LossSource& one, Ids string) { return loss_of(one, as_vector(string)); }, nb::arg("string"))
        .def("determinize", &determinize, nb::arg("length"), nb::arg("max_states"), nb::arg("threshold"),
             nb::arg("stop") = nb::none());
    m.def("make_loss_source", &make_source, nb::arg("minimum"), nb::arg("initial"), nb::arg("final"),
          nb::arg("class_of"), nb::arg("class_starts"), nb::arg("origin"), nb::arg("target"), nb::arg("cost"));
    nb::class_<LayeredAcceptor>(m, "LayeredArcs")
        .def_prop_ro("length", &LayeredAcceptor::length)
        .def_prop_ro("n_arcs", &LayeredAcceptor::n_arcs);
    m.def("make_chain", &chain, nb::arg("length"), nb::arg("alphabet_size"), nb::arg("order"));
    m.def("make_layered_arcs", &make_acceptor, nb::arg("layer_size"), nb::arg("alphabet_size"), nb::arg("layer"),
          nb::arg("origin"), nb::arg("symbol"), nb::arg("target"));
    m.def("structured_flow", &flow_of, nb::arg("scores"), nb::arg("potentials"), nb::arg("loss"), nb::arg("certify"),
          nb::arg("stop") = nb::none());
    m.def("structured_expected_loss", &expected_loss_of, nb::arg("scores"), nb::arg("potentials"), nb::arg("loss"));
}

}  // namespace radboost
