#include "rows/given_weighting.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "rows/label_sums.hpp"

namespace radboost {

GivenWeighting::GivenWeighting(Held held) : AnswerWeighting(*held.weights, held.classes), held_(std::move(held)) {}

GivenWeighting::GivenWeighting(std::size_t n_classes, const Collective& collective)
    : GivenWeighting(Held{std::make_unique<RowWeights>(0, std::vector<double>(), std::numeric_limits<double>::infinity(),
                                                       collective),
                          std::make_shared<RowClasses>(std::vector<std::uint16_t>(), n_classes)}) {}

void GivenWeighting::take(const GivenRows& sorted) {
    held_.classes->replace(sorted.classes, sorted.size);
    held_.weights->replace(sorted.counts, sorted.size);
    growth_.assign(sorted.weights, sorted.weights + sorted.size);
    std::int64_t total = 0;
    for (const std::uint32_t weight : growth_) total += weight;
    total = collective().sum(total);
    require(total > 0, "all weights are zero: a problem needs at least one row with a weight");
    require(static_cast<double>(total) <= kGrowthScale, "the weights sum to more than 2^30");
    total_growth_ = static_cast<std::uint64_t>(total);
}

void GivenWeighting::leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int, std::int64_t* sums) const {
    const std::size_t channels = n_channels();
    std::fill(sums, sums + n_labels * channels, 0);
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const auto label = static_cast<std::size_t>(label_of_row[i]);
        const std::int64_t weight = growth_[i];
        if (channels == 1)
            sums[label] += classes()[i] == 1 ? weight : -weight;
        else
            sums[label * channels + classes()[i]] += weight;
    }
    collective().sum(sums, n_labels * channels);
}

void GivenWeighting::leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                                 std::int64_t* totals) const {
    sum_by_label(row_weights(), label_of_row, n_labels, n_threads, totals,
                 [this](std::size_t i) { return std::int64_t{growth_[i]}; });
}

void GivenWeighting::gains(std::size_t begin, std::size_t count, bool, std::int64_t* table) const {
    const std::size_t n_answers = n_classes();
    for (std::size_t i = begin; i < begin + count; ++i, table += n_answers + 1) {
        const std::int64_t weight = growth_[i];
        std::fill(table, table + n_answers + 1, 0);
        table[classes()[i]] = weight;
        if (n_answers == 2) table[1 - classes()[i]] = -weight;
    }
}

}  // namespace radboost
