// Binds core/: Collective, as a base class for Python, and the compression of its messages.
#include "core/collective.hpp"

#include <nanobind/trampoline.h>

#include <atomic>

#include "bindings/arrays.hpp"
#include "core/packing.hpp"

namespace radboost {
namespace {

// Forwards calls of the native core to the methods of a Python subclass. They acquire the GIL; every binding that can get
// here must have released it, otherwise workers in threads of one process would deadlock.
class PythonCollective : public Collective {
public:
    NB_TRAMPOLINE(Collective);
    using Collective::maximum;
    using Collective::sum;

    // Cached, because the number of workers does not change.
    bool alone() const override {
        int known = alone_.load();
        if (known < 0) {
            nb::gil_scoped_acquire gil;
            alone_ = known = nb::cast<bool>(method("alone"));
        }
        return known != 0;
    }
    void sum(std::int64_t* values, std::size_t count) const override {
        nb::gil_scoped_acquire gil;
        method("sum")(in_place(values, count));
    }
    void maximum(double* values, std::size_t count) const override {
        nb::gil_scoped_acquire gil;
        method("maximum")(in_place(values, count));
    }
    std::vector<std::vector<std::uint8_t>> gather(const std::uint8_t* bytes, std::size_t count) const override {
        nb::gil_scoped_acquire gil;
        std::vector<std::vector<std::uint8_t>> all;
        for (nb::handle part : method("gather")(nb::bytes(bytes, count))) {
            const auto own = nb::cast<nb::bytes>(part);
            const auto* first = reinterpret_cast<const std::uint8_t*>(own.c_str());
            all.emplace_back(first, first + own.size());
        }
        return all;
    }

private:
    mutable std::atomic<int> alone_{-1};  // -1: unknown

    nb::object method(const char* name) const { return nb_trampoline.base().attr(name); }
    // NumPy array that shares the memory; valid during the call only.
    template <class T>
    static nb::object in_place(T* values, std::size_t count) {
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(values, {count}, nb::handle()), nb::rv_policy::reference);
    }
};

}  // namespace

void bind_collective(nb::module_& m) {
    nb::class_<Collective, PythonCollective>(
        m, "Collective",
        "Collective communication between workers that each hold a part of the rows and run the same program on them. A "
        "subclass has the attribute `alone` (True: this worker has all rows) and the methods `sum(values)`, which replaces each "
        "int64 of the array by its sum over the workers, `maximum(values)`, which replaces each float64 by its maximum, and "
        "`gather(data)`, which returns a list with the bytes of every worker, in the order of their ranks.")
        .def(nb::init<>());
    m.def(
        "pack",
        [](Vector<std::int64_t> numbers) {
            std::vector<std::uint8_t> bytes;
            {
                nb::gil_scoped_release release;
                bytes = pack(numbers.data(), numbers.size());
            }
            return nb::bytes(bytes.data(), bytes.size());
        },
        "Compress an int64 array to bytes; zeros and small numbers take less space than others.");
    m.def(
        "add_packed",
        [](const nb::bytes& packed, nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> sums) {
            const auto* bytes = static_cast<const std::uint8_t*>(packed.data());
            const std::size_t size = packed.size();
            nb::gil_scoped_release release;
            add_packed(bytes, size, sums.data(), sums.size());
        },
        "Add the numbers that `pack` compressed to the int64 array `sums`, in place. ValueError for other bytes.");
    m.def(
        "sums_of_128_bits",
        [](const Collective& collective, const std::vector<std::int64_t>& highs, const std::vector<std::uint64_t>& lows) {
            require(highs.size() == lows.size(), "every number needs a high and a low half");
            std::vector<int128> values(highs.size());
            for (std::size_t i = 0; i < highs.size(); ++i) values[i] = highs[i] * (int128{1} << 64) + lows[i];
            nb::gil_scoped_release release;
            collective.sum(values.data(), values.size());
            std::vector<std::pair<std::int64_t, std::uint64_t>> sums;
            for (const int128 value : values)
                sums.emplace_back(static_cast<std::int64_t>(value >> 64), static_cast<std::uint64_t>(value));
            return sums;
        },
        "For tests: sums over the workers of 128-bit integers, given and returned as high and low halves.");
}

}  // namespace radboost
