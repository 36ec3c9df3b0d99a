// Line searches through the scores of a ClassScores. Each row keeps what it needs on the line, so that an evaluation is
// one pass over the rows: an answer moves one class against the others, or all of them against the row's own.
#include "rows/class_scores.hpp"
#include "members/columns.hpp"
#include "core/pool.hpp"

namespace radboost {

LineSums ClassScores::along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss,
                           int n_threads) {
    require(loss_.has_value(), "the scores have no loss to evaluate");
    require(current_, "reweigh before a line search");
    columns.require_fits(slot, n_rows(), n_classes());
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
                const float size = values ? values[begin + r] : 1.0f;
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
