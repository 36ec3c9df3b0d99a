#include "growth/growth_target.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {

std::int64_t RowMasses::sum(const RowSet& rows) const {
    if (of_row.empty()) return static_cast<std::int64_t>(rows.count);
    std::int64_t mass = 0;
    for (std::size_t i = 0; i < rows.count; ++i) mass += of_row[rows[i]];
    return mass;
}

namespace {

std::int64_t least_mass(double minimum_leaf_weight, double mass_scale) {
    return static_cast<std::int64_t>(std::ceil(std::min(minimum_leaf_weight * mass_scale, 0x1p62)));
}

class ClassTarget : public GrowthTarget {
public:
    ClassTarget(const BoostingState& state, Criterion criterion, const Collective& collective)
        : state_(state), criterion_(criterion), collective_(collective) {}

    const Collective& collective() const override { return collective_; }
    std::size_t n_rows() const override { return state_.n_rows(); }

    double read_masses(double minimum_leaf_weight, RowMasses& masses) override {
        require(!state_.class_begin().empty(), "the rows must be sorted by class");
        // Weights that are not integers become integers whose sum stays below 2^61.
        const double scale = state_.integer_weights() ? 1.0 : std::ldexp(1.0, 60 - std::ilogb(state_.total_weight()));
        masses.of_row.clear();
        masses.of_row.reserve(state_.weights().size());
        for (const double w : state_.weights()) masses.of_row.push_back(std::llrint(w * scale));
        masses.minimum = least_mass(minimum_leaf_weight, scale);
        if (masses.minimum > 0 && masses.of_row.empty()) masses.of_row.assign(state_.n_rows(), 1);
        return scale;
    }

    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override {
        return data.row_hashes(state_.classes().data(), n_threads);
    }
    std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data) const override {
        return radboost::make_statistics(data, state_, criterion_, !collective_.alone());
    }
    const BoostingState* classes() const override { return &state_; }

    std::size_t n_channels() const override { return state_.n_channels(); }
    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override {
        state_.leaf_sums(label_of_row, n_labels, n_threads, sums);
    }
    // A tree is grown on growth weights and judged by gains.
    bool read_sums(const Node&, std::int64_t*) const override { return false; }
    void list_candidates(bool every_size, GrownTree& tree) const override {
        tree.list_candidates(every_size, state_.edge_unit());
    }

private:
    const BoostingState& state_;
    Criterion criterion_;
    const Collective& collective_;
};

class GradientTarget : public GrowthTarget {
public:
    GradientTarget(const GradientState& state, const std::vector<std::int8_t>& directions)
        : state_(state), directions_(directions) {}

    const Collective& collective() const override { return state_.collective(); }
    std::size_t n_rows() const override { return state_.n_rows(); }

    // The words have the weights, so that the scores see to the least mass themselves.
    double read_masses(double minimum_leaf_weight, RowMasses& masses) override {
        masses.of_row = state_.masses();
        least_mass_ = least_mass(minimum_leaf_weight, state_.mass_scale());
        return state_.mass_scale();
    }

    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override {
        const std::vector<std::uint16_t> no_classes(data.n_rows, 0);
        std::vector<std::uint64_t> hashes = data.row_hashes(no_classes.data(), n_threads);
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const double target = state_.targets()[i] + 0.0;  // -0 is 0
            std::uint64_t bits;
            std::memcpy(&bits, &target, sizeof bits);
            hashes[i] = mix(hashes[i], bits);
        }
        return hashes;
    }
    std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data) const override {
        return make_variance_statistics(data, state_, least_mass_, directions_);
    }

    std::size_t n_channels() const override { return state_.n_outputs() + 1; }

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override {
        const GradientWords words = state_.words();
        const std::size_t n = words.n_outputs, count = state_.n_rows(), parts = row_parts(count, n_threads);
        std::vector<std::vector<std::int64_t>> partial(parts);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            std::vector<std::int64_t>& own = partial[part];
            own.assign(n_labels * n, 0);
            for (std::size_t i = range_begin(count, parts, part); i < range_begin(count, parts, part + 1); ++i) {
                std::int64_t* to = own.data() + static_cast<std::size_t>(label_of_row[i]) * n;
                for (std::size_t k = 0; k < n; ++k) to[k] += words.words[i * n + k];
            }
        });
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t k = 0; k < n_labels * n; ++k) partial[0][k] += partial[part][k];
        collective().sum(partial[0].data(), partial[0].size());
        for (std::size_t label = 0; label < n_labels; ++label) unpack(partial[0].data() + label * n, sums + label * (n + 1));
    }

    bool read_sums(const Node& leaf, std::int64_t* sums) const override {
        unpack(leaf.sums.data(), sums);
        return true;
    }
    void list_candidates(bool, GrownTree&) const override {}  // the families say which sizes they want

private:
    void unpack(const std::int64_t* words, std::int64_t* sums) const {
        const GradientWords format = state_.words();
        std::copy_n(words, format.n_outputs, sums);
        sums[0] = format.gradient(words[0]);
        sums[format.n_outputs] = format.weight(words[0]);
    }

    const GradientState& state_;
    const std::vector<std::int8_t>& directions_;
    std::int64_t least_mass_ = 0;
};

}  // namespace

std::unique_ptr<GrowthTarget> class_target(const BoostingState& state, Criterion criterion, const Collective& collective) {
    return std::make_unique<ClassTarget>(state, criterion, collective);
}

std::unique_ptr<GrowthTarget> gradient_target(const GradientState& state, const std::vector<std::int8_t>& directions) {
    return std::make_unique<GradientTarget>(state, directions);
}

}  // namespace radboost
