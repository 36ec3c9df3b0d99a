// Line searches of ClassScores: loss of scores + eta h and its derivative by eta; h is a hypothesis (slot of columns).
// If h predicts classes, `prepare_line` stores a few numbers per row; then most steps need no pass over the classes.
#include "rows/class_scores.hpp"

#include <cmath>

#include "members/columns.hpp"
#include "core/pool.hpp"

namespace radboost {

LineSums ClassScores::along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss,
                           int n_threads) {
    require(loss_.has_value(), "the scores have no loss to evaluate");
    require(current_, "reweigh before a line search");
    columns.require_fits(slot, n_rows(), n_classes());
    if (columns.has_leaves(slot)) return along_leaves(columns, slot, eta, want_loss, n_threads);
    if (line_.stamp != columns.stamp(slot)) prepare_line(columns, slot, n_threads);
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        double work[kBlockElements];
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
                       objective_.along(line_block(own, begin, count, work), *loss_, eta, want_loss);
                   });
    });
    return {want_loss ? weights_.sum(line_.value.data(), n_threads) : 0.0, weights_.sum(line_.slope.data(), n_threads)};
}

std::vector<std::int32_t> ClassScores::leaf_changes(const HypothesisColumns& columns, std::size_t slot,
                                                    double eta) const {
    require(std::fabs(eta) <= 256.0, "a step is longer than the scores allow");  // int32: |h| <= 1, see ScoreGrid
    const std::vector<std::int32_t>& table = columns.table(slot);
    const double unit = eta * kScoreGrid / kValueGrid;  // from units of leaf values to units of scores
    std::vector<std::int32_t> changes(table.size());
    for (std::size_t k = 0; k < table.size(); ++k)
        changes[k] = static_cast<std::int32_t>(std::llrint(unit * static_cast<double>(table[k])));
    return changes;
}

// For leaf values h(c); evaluates all classes. Row slope: sum over wrong c of (dloss / df(c)) * (h(c) - h(own)).
LineSums ClassScores::along_leaves(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss,
                                   int n_threads) {
    require(per_class(), "leaf values for each class need the objective \"sum\" or \"compsum\"");
    const std::size_t n = n_rows(), n_parts = parts(n_threads), classes = n_classes();
    const std::vector<std::int32_t> changes = leaf_changes(columns, slot, eta);
    const std::vector<std::int32_t>& table = columns.table(slot);
    line_.stamp = 0;  // the next `along` calls prepare_line
    line_.value.resize(n);
    line_.slope.resize(n);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        Scratch scratch(block_rows(), classes);
        std::vector<std::int32_t> leaves(block_rows()), moved(block_rows() * classes);
        std::vector<double> pull(block_rows());  // BlockTerms::slope; not read
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            columns.leaves(slot, begin, count, leaves.data());
            const std::int32_t* scores = grid_.row(begin);
            for (std::size_t r = 0; r < count; ++r) {
                const std::int32_t* change = changes.data() + static_cast<std::size_t>(leaves[r]) * classes;
                for (std::size_t c = 0; c < classes; ++c) moved[r * classes + c] = scores[r * classes + c] + change[c];
            }
            const ClassBlock stepped{moved.data(), count, classes, own};  // scores + eta h
            largest_wrong(stepped, scratch.largest.data());
            objective_.evaluate(stepped, scratch.largest.data(), nullptr, *loss_,
                                {scratch.terms.data(), scratch.values.data(), scratch.scale.data(), pull.data(),
                                 line_.value.data() + begin});
            for (std::size_t r = 0; r < count; ++r) {
                const std::int32_t* leaf = table.data() + static_cast<std::size_t>(leaves[r]) * classes;
                const double* term = scratch.terms.data() + r * classes;
                double slope = 0;  // row slope in units of scale[r] / kValueGrid
                for (std::size_t c = 0; c < classes; ++c) slope += term[c] * static_cast<double>(leaf[c] - leaf[own]);
                line_.slope[begin + r] = slope * scratch.scale[r] / kValueGrid;
            }
        });
    });
    return {want_loss ? weights_.sum(line_.value.data(), n_threads) : 0.0, weights_.sum(line_.slope.data(), n_threads)};
}

void ClassScores::prepare_line(const HypothesisColumns& columns, std::size_t slot, int n_threads) {
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    const float* values = columns.values(slot);
    for (auto* array : {&line_.part, &line_.other, &line_.value, &line_.slope}) array->resize(n);
    line_.rho.resize(n);
    line_.stamp = columns.stamp(slot);
    line_.vertices = values == nullptr;
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::vector<std::uint16_t> answers(block_rows());
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            columns.answers(slot, begin, count, answers.data());
            for (std::size_t r = 0; r < count; ++r) {
                const float size = values ? values[begin + r] : 1.0f;  // h of the predicted class; rho: its margin
                line_.rho[begin + r] = answers[r] == own ? size : answers[r] < n_classes() ? -size : 0.0f;
            }
            objective_.prepare_line(line_block(own, begin, count, nullptr), answers.data(), *loss_);
        });
    });
}

LineBlock ClassScores::line_block(std::size_t own, std::size_t begin, std::size_t count, double* work) {
    return {block(own, begin, count),
            margins_.empty() ? nullptr : margins_.data() + begin,
            row_loss_.data() + begin,
            row_slope_.data() + begin,
            line_.rho.data() + begin,
            line_.vertices,
            line_.part.data() + begin,
            line_.other.data() + begin,
            work,
            line_.value.data() + begin,
            line_.slope.data() + begin};
}

}  // namespace radboost
