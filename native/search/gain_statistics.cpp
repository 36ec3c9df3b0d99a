#include "search/gain_statistics.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "search/label_statistics.hpp"
#include "core/pool.hpp"
#include "search/split_search.hpp"

namespace radboost {
namespace {

RADBOOST_CLONES void add_gains(const std::int32_t* gains, std::size_t n, std::int64_t times, std::int64_t* sums) {
    for (std::size_t c = 0; c < n; ++c) sums[c] += times * gains[c];
}

// The largest entry of `sums` and of `totals - sums`; 0 where all are negative: the leaf abstains.
RADBOOST_CLONES void largest_gains(const std::int64_t* sums, const std::int64_t* totals, std::size_t n,
                                   std::int64_t* here, std::int64_t* there) {
    std::int64_t left = 0, right = 0;
    for (std::size_t c = 0; c < n; ++c) {
        left = left < sums[c] ? sums[c] : left;
        const std::int64_t rest = totals[c] - sums[c];
        right = right < rest ? rest : right;
    }
    *here = left;
    *there = right;
}

// The gains of many rows by slot, for the columns [first, last). One call for all of them: choosing the instruction set
// for every row and column took a third of the time.
RADBOOST_CLONES void add_rows(const std::uint8_t* by_row, std::size_t width, const std::uint32_t* rows,
                              std::size_t count, const std::uint32_t* offsets, std::size_t first, std::size_t last,
                              const std::int32_t* gains, const std::int64_t* copies, std::size_t n, std::int64_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = rows ? rows[i] : i;
        const std::uint8_t* codes = by_row + row * width;
        const std::int32_t* from = gains + row * n;
        const std::int64_t times = copies ? copies[row] : 1;
        for (std::size_t c = first; c < last; ++c) {
            std::int64_t* to = out + (offsets[c] + codes[c]) * n;
            for (std::size_t k = 0; k < n; ++k) to[k] += times * from[k];
        }
    }
}

// The score of the cut after each of `size` entries; `left` holds what is left of the first, and ends as their sum.
RADBOOST_CLONES void scan_entries(const std::int64_t* entries, std::size_t size, std::size_t n,
                                  const std::int64_t* totals, std::int64_t* left, double* out) {
    for (std::size_t entry = 0; entry < size; ++entry) {
        const std::int64_t* gains = entries + entry * n;
        std::int64_t here = 0, there = 0;
        for (std::size_t c = 0; c < n; ++c) {
            left[c] += gains[c];
            const std::int64_t rest = totals[c] - left[c];
            here = here < left[c] ? left[c] : here;
            there = there < rest ? rest : there;
        }
        out[entry] = static_cast<double>(here + there);
    }
}

}  // namespace

// One column of a node: the gains of every answer, by entry.
class GainTable {
public:
    GainTable(const GainStatistics& statistics, const Node& node)
        : statistics_(statistics), node_(node), n_answers_(statistics.state_.n_classes()) {}

    void read(const NodeHistograms& histograms, std::size_t column) {
        first_ = histograms.gains.data() + statistics_.data_.slot_offsets[column] * n_answers_;
        missing_entry_ = statistics_.data_.n_bins(column);
    }

    void read(const ColumnCodes& codes) {
        missing_entry_ = codes.n_present();
        thread_local std::vector<std::int64_t> table;
        table.assign((missing_entry_ + 1) * n_answers_, 0);
        for (std::size_t i = 0; i < codes.count(); ++i)
            statistics_.add_row(node_.rows[i], 1, table.data() + codes.ranks()[codes.codes()[i]] * n_answers_);
        first_ = table.data();
    }

    bool has_missing() const { return !empty(missing_entry_); }
    bool empty(std::size_t entry) const {
        const std::int64_t* gains = first_ + entry * n_answers_;
        return std::all_of(gains, gains + n_answers_, [](std::int64_t sum) { return sum == 0; });
    }

    void scores(std::size_t n, bool missing_left, double* out) const {
        thread_local std::vector<std::int64_t> left;
        left.assign(n_answers_, 0);
        if (missing_left) std::copy_n(first_ + missing_entry_ * n_answers_, n_answers_, left.data());
        scan_entries(first_, n, n_answers_, node_.sums.data(), left.data(), out);
    }

    std::int64_t lean(std::size_t entry) const { return first_[entry * n_answers_ + best_answer()]; }

    // By what the node's best answer gains, the least first.
    std::size_t order(std::uint8_t* entries) const {
        std::array<std::int64_t, kEntries> gains;
        const std::size_t answer = best_answer();
        std::size_t n = 0;
        for (std::size_t entry = 0; entry < missing_entry_; ++entry) {
            gains[entry] = first_[entry * n_answers_ + answer];
            if (!empty(entry)) entries[n++] = static_cast<std::uint8_t>(entry);
        }
        std::sort(entries, entries + n, [&](std::uint8_t a, std::uint8_t b) {
            return gains[a] != gains[b] ? gains[a] < gains[b] : a < b;
        });
        return n;
    }

    void arrange(const std::uint8_t* entries, std::size_t n, bool missing) {
        thread_local std::vector<std::int64_t> arranged;
        arranged.resize((n + 1) * n_answers_);
        for (std::size_t k = 0; k < n; ++k)
            std::copy_n(first_ + entries[k] * n_answers_, n_answers_, arranged.data() + k * n_answers_);
        if (missing)
            std::copy_n(first_ + missing_entry_ * n_answers_, n_answers_, arranged.data() + n * n_answers_);
        first_ = arranged.data();
        missing_entry_ = n;
    }

    double score_sides(const ColumnCodes& codes, const SideTable& sides, std::int64_t* left_sums) const {
        std::fill(left_sums, left_sums + n_answers_, 0);
        for (std::size_t i = 0; i < codes.count(); ++i)
            if (sides[codes.codes()[i]]) statistics_.add_row(node_.rows[i], 1, left_sums);
        return split_score(left_sums);
    }

    double score_cut(const ColumnCodes& codes, std::uint8_t bin, bool missing_left, std::int64_t* left_sums) const {
        std::fill(left_sums, left_sums + n_answers_, 0);
        for (std::size_t i = 0; i < codes.count(); ++i) {
            const int code = codes.codes()[i];
            const bool goes_left = code == codes.missing_code() ? missing_left : code <= bin;
            if (goes_left) statistics_.add_row(node_.rows[i], 1, left_sums);
        }
        return split_score(left_sums);
    }

private:
    double split_score(const std::int64_t* left) const {
        std::int64_t here, there;
        largest_gains(left, node_.sums.data(), n_answers_, &here, &there);
        return static_cast<double>(here + there);
    }

    std::size_t best_answer() const {
        return static_cast<std::size_t>(std::max_element(node_.sums.begin(), node_.sums.end()) - node_.sums.begin());
    }

    const GainStatistics& statistics_;
    const Node& node_;
    std::size_t n_answers_;
    const std::int64_t* first_ = nullptr;
    std::size_t missing_entry_ = 0;
};

void GainStatistics::add_row(std::size_t row, std::int64_t sign, std::int64_t* sums) const {
    const std::size_t n = state_.n_classes();
    add_gains(state_.gradients() + row * n, n, state_.copies() ? sign * state_.copies()[row] : sign, sums);
}

double GainStatistics::score(const std::int64_t* sums) const {
    const std::int64_t best = *std::max_element(sums, sums + state_.n_classes());
    return static_cast<double>(std::max<std::int64_t>(0, best));
}

void GainStatistics::describe(Node& node, int n_threads) const {
    const std::size_t n = state_.n_classes(), parts = row_parts(node.rows.count, n_threads);
    std::vector<std::vector<std::int64_t>> partial(parts, std::vector<std::int64_t>(n, 0));
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t i = range_begin(node.rows.count, parts, part); i < range_begin(node.rows.count, parts, part + 1);
             ++i)
            add_row(node.rows[i], 1, partial[part].data());
    });
    node.sums.assign(n, 0);
    for (const auto& own : partial)
        for (std::size_t c = 0; c < n; ++c) node.sums[c] += own[c];
}

void GainStatistics::describe_children(const Node& parent, const Split& split, Node& left, Node& right) const {
    left.sums = split.left_sums;
    right.sums = parent.sums;
    for (std::size_t c = 0; c < right.sums.size(); ++c) right.sums[c] -= split.left_sums[c];
}

std::size_t GainStatistics::histogram_bytes(bool with_masses) const {
    return data_.n_slots() * (state_.n_classes() + (with_masses ? 1 : 0)) * sizeof(std::int64_t);
}

void GainStatistics::build(const Node& node, const SplitSearch& search, NodeHistograms& out) {
    const std::size_t n = state_.n_classes(), d = data_.n_columns;
    out.gains.resize(data_.n_slots() * n);
    if (search.minimum_mass > 0) build_masses(data_, node, search, out.masses);
    const bool parallel = search.n_threads > 1 && node.rows.count * d * n >= kParallelUpdates;
    // A range of columns each, so that no two threads write to the same histogram.
    const std::size_t parts = parallel ? std::min(d, 2 * static_cast<std::size_t>(search.n_threads)) : 1;
    parallel_for(parallel ? search.n_threads : 1, parts, [&](std::size_t part) {
        const std::size_t first = range_begin(d, parts, part), last = range_begin(d, parts, part + 1);
        std::int64_t* gains = out.gains.data();
        std::fill(gains + data_.slot_offsets[first] * n, gains + data_.slot_offsets[last] * n, 0);
        add_rows(data_.row(0), d, node.rows.indices, node.rows.count, data_.slot_offsets.data(), first, last,
                 state_.gradients(), state_.copies(), n, gains);
    });
}

void GainStatistics::take_out(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                              NodeHistograms& whole) const {
    if (search.minimum_mass > 0) take_out_masses(data_, part, known, search, whole.masses);
    if (known != nullptr) {
        for (std::size_t i = 0; i < whole.gains.size(); ++i) whole.gains[i] -= known->gains[i];
        return;
    }
    const std::size_t n = state_.n_classes(), d = data_.n_columns;
    for (std::size_t i = 0; i < part.rows.count; ++i) {
        const std::size_t row = part.rows[i];
        for (std::size_t c = 0; c < d; ++c)
            add_row(row, -1, whole.gains.data() + (data_.slot_offsets[c] + data_.row(row)[c]) * n);
    }
}

void GainStatistics::count_left(const Node& node, Split& split) const {
    const std::uint8_t* codes = data_.column(split.column);
    const SideTable sides = sides_of(data_, split);
    split.left_sums.assign(state_.n_classes(), 0);
    for (std::size_t i = 0; i < node.rows.count; ++i)
        if (sides[codes[node.rows[i]]]) add_row(node.rows[i], 1, split.left_sums.data());
}

Split GainStatistics::find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const {
    const double unsplit = score(node.sums.data());
    BestSplit best = search_histograms<GainTable>(*this, data_, node, histograms, search, unsplit);
    best.split.gain = share(best.score - unsplit);
    if (best.split.valid) count_left(node, best.split);
    return best.split;
}

Split GainStatistics::find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) {
    const double unsplit = score(node.sums.data());
    BestSplit best = search.random_thresholds
                         ? search_random<GainTable>(*this, data_, node, columns, search, unsplit)
                         : search_rows<GainTable>(*this, data_, node, columns, search, unsplit);
    best.split.gain = share(best.score - unsplit);
    if (best.split.valid && best.split.left_sums.empty()) count_left(node, best.split);
    return best.split;
}

Split GainStatistics::find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                                  const SplitSearch& search) {
    const double unsplit = score(first.sums.data()) + score(second.sums.data());
    BestSplit best = search_shared<GainTable>(*this, data_, first, second, columns, excluded, search, unsplit);
    best.split.gain = share(best.score - unsplit);
    return best.split;
}

std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data, const AnswerWeighting& state,
                                                Criterion criterion) {
    if (criterion == Criterion::gini || state.gradients() == nullptr)
        return std::make_unique<LabelStatistics>(data, state, criterion);
    return std::make_unique<GainStatistics>(data, state);
}

}  // namespace radboost
