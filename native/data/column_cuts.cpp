#include "data/column_cuts.hpp"

#include <algorithm>
#include <cmath>

#include "data/distinct_values.hpp"
#include "data/letter.hpp"
#include "data/quantiles.hpp"
#include "data/sample_rows.hpp"
#include "data/sketch.hpp"
#include "core/large_array.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// Thresholds between all neighboring distinct values, for columns that do not have more values than bins.
template <class T>
ColumnCuts cut_between(const DistinctValues<T>& distinct) {
    ColumnCuts result;
    const std::vector<T> values = distinct.sorted();
    result.empty = values.empty();
    for (std::size_t i = 0; i + 1 < values.size(); ++i) result.thresholds.push_back(midpoint(values[i], values[i + 1]));
    return result;
}

// Throws unless each value of the categorical column is an integer 0 ... n_categories - 1, or NaN.
template <class T>
void check_categories(const MatrixView<T>& X, std::size_t column, std::int32_t n_categories) {
    for (std::size_t row = 0; row < X.n_rows; ++row) {
        const T x = X.at(row, column);
        require(x != x || (x >= 0 && x < static_cast<T>(n_categories) && x == std::floor(x)),
                "a category is not one of the column's codes");
    }
}

// Number of columns that are cut between two checks for Ctrl-C: their samples take at most 16 MiB, so little beside the bins.
template <class T>
std::size_t columns_at_once(std::size_t sample_size, int n_threads) {
    constexpr std::size_t kSampleBytes = std::size_t{1} << 24;
    const std::size_t affordable = kSampleBytes / (sizeof(T) * std::max<std::size_t>(sample_size, 1));
    const std::size_t least = kGroupColumns, most = kGroupColumns * 4 * static_cast<std::size_t>(n_threads);
    return std::clamp(affordable / kGroupColumns * kGroupColumns, least, most);
}

// Number of columns per pass over blocks that have to be loaded, by a limit of 256 MiB for their samples.
template <class T>
std::size_t columns_in_a_pass(double sample_size) {
    constexpr double kPassBytes = 268435456.0;
    const double affordable = kPassBytes / (static_cast<double>(sizeof(Run<T>)) * std::max(sample_size, 1.0));
    return kGroupColumns * static_cast<std::size_t>(std::clamp(affordable / kGroupColumns, 1.0, 65536.0));
}

// Computes the cuts of all columns, a group of columns per pass: collects distinct values and samples (look), exchanges them
// between workers (share), then computes thresholds (cut_...).
template <class T>
class CutFinder {
public:
    CutFinder(const RowBlocks<T>& blocks, const double* weights, bool integer_weights, const std::int32_t* categories,
              int max_bins, int n_threads, InterruptCheck check, const Collective& collective, bool sketched)
        : blocks_(blocks),
          weights_(weights),
          categories_(categories),
          max_bins_(max_bins),
          n_threads_(n_threads),
          check_(check),
          collective_(collective),
          alone_(collective.alone()),
          sketched_(sketched),
          at_hand_(alone_ && blocks.n_blocks() == 1 && !sketched),
          rows_(blocks.n_blocks()),
          cuts_(blocks.n_columns) {
        // All workers must agree; one without rows passes null weights even if the others have some.
        double facts[2] = {weights != nullptr ? 1.0 : 0.0, integer_weights ? 0.0 : 1.0};
        collective.maximum(facts, 2);
        weighted_ = facts[0] > 0.0;
        whole_ = facts[1] == 0.0;
        for (std::size_t b = 0; b < blocks.n_blocks(); ++b) rows_[b].size = blocks.n_rows(b);
    }

    std::vector<ColumnCuts> find() {
        const std::size_t width = prepare();
        for (std::size_t first = 0; first < blocks_.n_columns; first += width) {
            const std::size_t last = std::min(blocks_.n_columns, first + width);
            look(first, last);
            if (!alone_) share_distinct(distinct_, static_cast<std::size_t>(max_bins_), collective_);
            if (at_hand_)
                cut_at_hand(first, last);
            else
                cut_shared(first, last);
            if (drawn_) cut_by_all_rows(first, last);
        }
        return std::move(cuts_);
    }

private:
    bool categorical(std::size_t c) const { return categories_ != nullptr && categories_[c] >= 0; }
    // True if column c has more distinct values than bins, so that quantiles are needed; the group begins at column `first`.
    bool wants_sample(std::size_t first, std::size_t c) const { return distinct_[c - first].too_many() && !categorical(c); }
    const double* weights_of(std::size_t block) const {
        return weights_ == nullptr ? nullptr : weights_ + blocks_.first_row(block);
    }
    void visit_all(const std::function<void(std::size_t, const MatrixView<T>&)>& use) const {
        for (std::size_t b = 0; b < blocks_.n_blocks(); ++b) {
            check_();
            blocks_.visit(b, [&](const MatrixView<T>& X) { use(b, X); });
        }
    }

    // Decides whether rows are sampled, and returns the number of columns per pass.
    std::size_t prepare() {
        if (sketched_) {
            double n_summaries = 2;
            for (std::size_t n = 1; n < blocks_.n_blocks(); n *= 2) ++n_summaries;
            return columns_in_a_pass<T>(collective_.maximum(n_summaries * static_cast<double>(2 * sketch_size())));
        }
        double own_count = static_cast<double>(blocks_.n_rows());
        if (weights_ != nullptr && whole_) {
            own_count = 0;
            for (std::size_t row = 0; row < blocks_.n_rows(); ++row) own_count += weights_[row];
        }
        const auto count = static_cast<double>(collective_.sum(static_cast<std::int64_t>(own_count)));  // rows, or weight
        drawn_ = to_draw_ = count > static_cast<double>(kQuantileRows);
        const double share = drawn_ ? static_cast<double>(kQuantileRows / 2) / count : 1.0;
        if (drawn_) limit_ = static_cast<std::uint64_t>(share * 18446744073709551616.0);
        if (!at_hand_) return columns_in_a_pass<T>(collective_.maximum(share * static_cast<double>(blocks_.n_rows())));
        if (to_draw_) {
            visit_all([&](std::size_t b, const MatrixView<T>& X) { draw(b, X); });
            to_draw_ = false;
        }
        return columns_at_once<T>(rows_[0].size, n_threads_);
    }

    std::size_t sketch_size() const { return Sketch<T>::kPerBin * static_cast<std::size_t>(max_bins_); }

    void draw(std::size_t block, const MatrixView<T>& X) { rows_[block] = draw_rows(X, limit_, n_threads_); }

    // One pass over all blocks: distinct values and samples of columns first ... last - 1.
    void look(std::size_t first, std::size_t last) {
        distinct_.assign(last - first, DistinctValues<T>(static_cast<std::size_t>(max_bins_)));
        samples_.assign(at_hand_ || sketched_ ? 0 : last - first, SharedSample<T>());
        sketches_.assign(sketched_ ? last - first : 0, Sketch<T>(sketch_size()));
        visit_all([&](std::size_t b, const MatrixView<T>& X) {
            if (to_draw_) draw(b, X);
            const std::size_t width = X.column_stride == 1 ? kGroupColumns : 1;
            parallel_for(n_threads_, (last - first + width - 1) / width, [&](std::size_t group) {
                const std::size_t begin = group * width, end = std::min(begin + width, last - first);
                look_over(X, first + begin, distinct_.data() + begin, end - begin);
                for (std::size_t c = first + begin; c < first + end; ++c)
                    if (categorical(c)) check_categories(X, c, categories_[c]);
            });
            if (at_hand_)
                gather_if_wanted(X, first, last);
            else
                add_sample(b, X, first, last);
        });
        to_draw_ = false;
    }

    // For a single block: distinct values are complete here, so values are only gathered if some column needs quantiles.
    void gather_if_wanted(const MatrixView<T>& X, std::size_t first, std::size_t last) {
        for (std::size_t c = first; c < last; ++c)
            if (wants_sample(first, c)) return gather_sample(X, rows_[0], first, last, n_threads_, gathered_);
    }

    // Adds a block to the samples or sketches, 16 columns at a time to keep the copy of its values small.
    void add_sample(std::size_t block, const MatrixView<T>& X, std::size_t first, std::size_t last) {
        for (std::size_t begin = first; begin < last; begin += kGroupColumns) {
            const std::size_t end = std::min(begin + kGroupColumns, last), size = rows_[block].size;
            gather_sample(X, rows_[block], begin, end, n_threads_, gathered_);
            parallel_for(n_threads_, end - begin, [&](std::size_t i) {
                const T* const values = gathered_.data() + i * size;
                if (categorical(begin + i)) return;
                if (sketched_)
                    sketches_[begin + i - first].add(values, weights_of(block), rows_[block]);
                else
                    samples_[begin + i - first].add(values, weights_of(block), rows_[block]);
            });
        }
    }

    void cut_at_hand(std::size_t first, std::size_t last) {
        parallel_for(n_threads_, last - first, [&](std::size_t i) {
            if (categorical(first + i)) return;
            if (!distinct_[i].too_many())
                cuts_[first + i] = cut_between(distinct_[i]);
            else
                cuts_[first + i].thresholds =
                    cut_at_quantiles(gathered_.data() + i * rows_[0].size, weights_, rows_[0], max_bins_);
        });
    }

    // Cuts from samples of several blocks or workers, in groups of columns that must be equal on all workers.
    void cut_shared(std::size_t first, std::size_t last) {
        std::int64_t own_size = sketched_ ? static_cast<std::int64_t>(2 * sketch_size()) : 0;
        if (!sketched_)
            for (const SampleRows& rows : rows_) own_size += static_cast<std::int64_t>(rows.size);
        const std::size_t width = columns_at_once<T>(static_cast<std::size_t>(collective_.sum(own_size)), 1);
        for (std::size_t begin = first; begin < last; begin += width) {
            check_();
            const std::size_t end = std::min(begin + width, last);
            if (sketched_)
                share(held(sketches_, first, begin, end), Sketch<T>(sketch_size()),
                      [](Sketch<T>& own, Letter& to) { own.write(to); });
            else if (!alone_)
                share_samples(held(samples_, first, begin, end));
            parallel_for(n_threads_, end - begin, [&](std::size_t i) {
                const std::size_t c = begin + i;
                if (!wants_sample(first, c)) {
                    if (!categorical(c)) cuts_[c] = cut_between(distinct_[c - first]);
                } else if (sketched_) {
                    cuts_[c].thresholds = sketches_[c - first].thresholds(max_bins_);
                } else {
                    cuts_[c].thresholds = samples_[c - first].thresholds(whole_, max_bins_);
                    samples_[c - first] = SharedSample<T>();
                }
            });
        }
    }

    // Cuts again, by all rows, the columns that have more distinct values than bins although the sampled rows have fewer.
    void cut_by_all_rows(std::size_t first, std::size_t last) {
        std::vector<std::size_t> columns;
        for (std::size_t c = first; c < last; ++c)
            if (wants_sample(first, c) && cuts_[c].thresholds.size() + 1 < static_cast<std::size_t>(max_bins_))
                columns.push_back(c);
        if (columns.empty()) return;
        std::vector<SharedSample<T>> samples(columns.size());
        visit_all([&](std::size_t b, const MatrixView<T>& X) {
            parallel_for(n_threads_, columns.size(), [&](std::size_t i) {
                samples[i].add_few_values(X, columns[i], weights_of(b));
            });
        });
        std::vector<SharedSample<T>*> all;
        for (SharedSample<T>& sample : samples) all.push_back(&sample);
        if (!alone_) share_samples(all);
        parallel_for(n_threads_, columns.size(),
                     [&](std::size_t i) { cuts_[columns[i]].thresholds = samples[i].thresholds(whole_, max_bins_); });
    }

    // This worker's samples or sketches of those columns among begin ... end - 1 that need quantiles.
    template <class Held>
    std::vector<Held*> held(std::vector<Held>& of_all, std::size_t first, std::size_t begin, std::size_t end) const {
        std::vector<Held*> wanted;
        for (std::size_t c = begin; c < end; ++c)
            if (wants_sample(first, c)) wanted.push_back(&of_all[c - first]);
        return wanted;
    }

    // Replaces each of this worker's samples or sketches by the union over all workers; `none` is an empty one.
    template <class Held, class Write>
    void share(const std::vector<Held*>& held, const Held& none, Write&& write) {
        if (held.empty()) return;
        Letter own;
        for (Held* const one : held) {
            write(*one, own);
            *one = none;
        }
        for (Letter& letter : own.exchange(collective_))
            for (Held* const one : held) one->read(letter);
    }
    void share_samples(const std::vector<SharedSample<T>*>& samples) {
        share(samples, SharedSample<T>(), [&](SharedSample<T>& own, Letter& to) { own.write(weighted_, to); });
    }

    const RowBlocks<T>& blocks_;
    const double* weights_;
    const std::int32_t* categories_;
    const int max_bins_, n_threads_;
    const InterruptCheck check_;
    const Collective& collective_;
    const bool alone_;
    const bool sketched_;
    const bool at_hand_;  // one worker with a single block, and not sketched
    bool weighted_ = false, whole_ = true;  // of any worker: there are weights; all of them are integers
    bool drawn_ = false;    // quantiles come from sampled rows
    bool to_draw_ = false;  // they are not sampled yet
    std::uint64_t limit_ = 0;  // rows whose 64-bit hash is below are sampled
    std::vector<SampleRows> rows_;  // sampled rows of each block
    std::vector<ColumnCuts> cuts_;
    // One entry per column of the present pass:
    std::vector<DistinctValues<T>> distinct_;
    std::vector<SharedSample<T>> samples_;  // unless at_hand_ or sketched_
    std::vector<Sketch<T>> sketches_;       // if sketched_
    LargeArray<T> gathered_;  // values of a block's sampled rows, shape (n_columns, n_sampled)
};

}  // namespace

template <class T>
std::vector<ColumnCuts> cut_columns(const RowBlocks<T>& blocks, const double* weights, bool integer_weights,
                                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                                    const Collective& collective, bool sketched) {
    return CutFinder<T>(blocks, weights, integer_weights, categories, max_bins, n_threads, check, collective, sketched)
        .find();
}

template std::vector<ColumnCuts> cut_columns<float>(const RowBlocks<float>&, const double*, bool, const std::int32_t*, int,
                                                    int, InterruptCheck, const Collective&, bool);
template std::vector<ColumnCuts> cut_columns<double>(const RowBlocks<double>&, const double*, bool, const std::int32_t*,
                                                     int, int, InterruptCheck, const Collective&, bool);

}  // namespace radboost
