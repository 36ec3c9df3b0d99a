#include "growth/growth_target.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

void check_directions(const std::vector<std::int8_t>& directions, const BinnedData& data) {
    require(directions.empty() || directions.size() == data.n_columns, "one direction per column is needed");
    for (std::size_t c = 0; c < directions.size(); ++c) {
        require(directions[c] >= -1 && directions[c] <= 1, "a direction is -1, 0 or +1");
        require(directions[c] == 0 || !data.is_categorical[c], "categories have no order to be monotone in");
    }
}

class ClassTarget : public GrowthTarget {
public:
    ClassTarget(const AnswerWeighting& weighting, Criterion criterion, bool rated, std::vector<std::int8_t> directions)
        : weighting_(weighting), criterion_(criterion), rated_(rated), directions_(std::move(directions)) {
        require(directions_.empty() || weighting.n_classes() == 2, "only trees that tell two classes apart can be monotone");
    }

    const RowWeights& row_weights() const override { return weighting_.row_weights(); }
    std::size_t n_rows() const override { return weighting_.n_rows(); }

    double read_masses(double minimum_leaf_weight, RowMasses& masses) override {
        require(!weighting_.class_begin().empty(), "the rows must be sorted by class");
        // Weights that are not numbers of copies become integers with a sum below 2^61.
        const RowWeights& weights = weighting_.row_weights();
        const double scale = weights.whole() ? 1.0 : std::ldexp(1.0, 60 - std::ilogb(weights.total()));
        masses.of_row = weights.masses(scale);
        masses.minimum = least_mass(minimum_leaf_weight, scale);
        if (masses.minimum > 0 && masses.of_row.empty()) masses.of_row.assign(weighting_.n_rows(), 1);
        return scale;
    }

    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override {
        return weighting_.row_hashes(data, n_threads);
    }
    std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data) const override {
        check_directions(directions_, data);
        return radboost::make_statistics(data, weighting_, criterion_, directions_);
    }
    const AnswerWeighting* classes() const override { return &weighting_; }
    bool monotone() const override { return !directions_.empty(); }

    std::size_t n_channels() const override { return weighting_.n_channels() + rated_; }
    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override {
        if (!rated_) {
            weighting_.leaf_sums(label_of_row, n_labels, n_threads, sums);
            return;
        }
        const std::size_t width = weighting_.n_channels();
        std::vector<std::int64_t> gains(n_labels * width), totals(n_labels);
        weighting_.leaf_sums(label_of_row, n_labels, n_threads, gains.data());
        weighting_.leaf_totals(label_of_row, n_labels, n_threads, totals.data());
        for (std::size_t label = 0; label < n_labels; ++label) {
            std::copy_n(gains.data() + label * width, width, sums + label * (width + 1));
            sums[label * (width + 1) + width] = totals[label];
        }
    }
    // Node::sums are growth weights; edges need the finer gains.
    bool read_sums(const Node&, std::int64_t*) const override { return false; }
    bool sums_end_with_mass() const override { return false; }
    void list_candidates(bool every_size, int n_threads, GrownTree& tree) const override {
        tree.rated = rated_;
        if (!directions_.empty()) {
            std::vector<std::int64_t> totals(tree.nodes.size());
            weighting_.leaf_totals(tree.leaf_of_row.data(), totals.size(), n_threads, totals.data());
            tree.keep_directions(directions_, totals);
        }
        tree.list_candidates(every_size, weighting_.edge_unit());
    }

private:
    const AnswerWeighting& weighting_;
    Criterion criterion_;
    bool rated_;
    std::vector<std::int8_t> directions_;
};

class GradientTarget : public GrowthTarget {
public:
    GradientTarget(const GradientWeighting& weighting, const std::vector<std::int8_t>& directions)
        : weighting_(weighting), directions_(directions) {}

    const RowWeights& row_weights() const override { return weighting_.row_weights(); }
    std::size_t n_rows() const override { return weighting_.n_rows(); }

    // The minimum mass is checked by VarianceScore, because words contain the weights; so masses.minimum stays 0.
    double read_masses(double minimum_leaf_weight, RowMasses& masses) override {
        masses.of_row = weighting_.masses();
        least_mass_ = least_mass(minimum_leaf_weight, weighting_.mass_scale());
        return weighting_.mass_scale();
    }

    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override {
        return weighting_.row_hashes(data, n_threads);
    }
    std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data) const override {
        check_directions(directions_, data);
        return make_variance_statistics(data, weighting_, least_mass_, directions_);
    }
    bool monotone() const override { return !directions_.empty(); }

    std::size_t n_channels() const override { return weighting_.n_outputs() + 1; }

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override {
        const GradientWords words = weighting_.words();
        const std::size_t n = words.n_outputs;
        const std::vector<std::int64_t> by_label = weighting_.row_weights().add<std::int64_t>(
            n_labels * n, weighting_.n_rows(), n_threads,
            [&](std::size_t begin, std::size_t end, std::int64_t* own) {
                for (std::size_t i = begin; i < end; ++i) {
                    std::int64_t* to = own + static_cast<std::size_t>(label_of_row[i]) * n;
                    for (std::size_t k = 0; k < n; ++k) to[k] += words.words[i * n + k];
                }
            });
        for (std::size_t label = 0; label < n_labels; ++label) unpack(by_label.data() + label * n, sums + label * (n + 1));
    }

    bool read_sums(const Node& leaf, std::int64_t* sums) const override {
        unpack(leaf.sums.data(), sums);
        return true;
    }
    bool sums_end_with_mass() const override { return true; }
    void list_candidates(bool, int, GrownTree&) const override {}  // Python chooses the sizes

private:
    // Sums of words (n_outputs,) to sums of gradients and weight (n_outputs + 1,).
    void unpack(const std::int64_t* words, std::int64_t* sums) const {
        const GradientWords format = weighting_.words();
        std::copy_n(words, format.n_outputs, sums);
        sums[0] = format.gradient(words[0]);
        sums[format.n_outputs] = format.weight(words[0]);
    }

    const GradientWeighting& weighting_;
    const std::vector<std::int8_t>& directions_;
    std::int64_t least_mass_ = 0;
};

}  // namespace

std::unique_ptr<GrowthTarget> class_target(const AnswerWeighting& weighting, Criterion criterion, bool rated,
                                           std::vector<std::int8_t> directions) {
    return std::make_unique<ClassTarget>(weighting, criterion, rated, std::move(directions));
}

std::unique_ptr<GrowthTarget> gradient_target(const GradientWeighting& weighting,
                                              const std::vector<std::int8_t>& directions) {
    return std::make_unique<GradientTarget>(weighting, directions);
}

}  // namespace radboost
