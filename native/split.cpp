#include "split.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hashing.hpp"
#include "margins.hpp"
#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kParallelUpdates = 60000;  // row times column visits from which on threads pay

struct Edge {
    using Score = std::int64_t;
    static Score node(std::int64_t sum) { return std::llabs(sum); }
    static bool score(std::int64_t left, std::int64_t right, Score& out) {
        out = std::llabs(left) + std::llabs(right);
        return true;
    }
    static Score to_beat(Score unsplit) { return unsplit; }
    static double share(Score score) { return static_cast<double>(score) / kEdgeScale; }
};

struct Gini {
    using Score = double;
    static double half(std::int64_t packed) {
        const auto signed_sum = static_cast<double>(packed >> 32);
        const auto weight = static_cast<double>(packed & 0xffffffffLL);
        return signed_sum * signed_sum / weight;
    }
    static bool has_weight(std::int64_t packed) { return (packed & 0xffffffffLL) != 0; }
    static Score node(std::int64_t sum) { return has_weight(sum) ? half(sum) : 0.0; }
    static bool score(std::int64_t left, std::int64_t right, Score& out) {
        if (!has_weight(left) || !has_weight(right)) return false;
        out = half(left) + half(right);
        return true;
    }
    // Rounding must not make a useless split look useful.
    static Score to_beat(Score unsplit) { return unsplit * (1 + 1e-12) + 1e-12; }
    static double share(Score score) { return score / kPackedScale; }
};

template <class Measure>
struct Best {
    typename Measure::Score score;
    Split split;

    void consider(const NodeTotals& node, const SplitSearch& search, std::size_t column, std::size_t bin,
                  bool missing_left, const NodeTotals& left) {
        split.asked = true;
        if (search.minimum_mass > 0 &&
            (left.mass < search.minimum_mass || node.mass - left.mass < search.minimum_mass))
            return;
        typename Measure::Score candidate;
        if (!Measure::score(left.sum, node.sum - left.sum, candidate) || !(candidate > score)) return;
        score = candidate;
        split.valid = true;
        split.missing_left = missing_left;
        split.column = static_cast<std::uint32_t>(column);
        split.bin = static_cast<std::uint32_t>(bin);
        split.left_sum = left.sum;
    }
};

// Runs body(k, best) for the columns in parts, one per thread, and returns the first of the best.
template <class Measure, class Body>
Split best_of_columns(std::size_t n_columns, const NodeTotals& node, int n_threads, bool parallel, Body&& body) {
    const auto unsplit = Measure::node(node.sum);
    const Best<Measure> start{Measure::to_beat(unsplit), Split{}};
    const auto finish = [&](const Best<Measure>& best) {
        Split split = best.split;
        if (split.valid) split.gain = Measure::share(best.score) - Measure::share(unsplit);
        return split;
    };
    if (!parallel || n_threads == 1) {
        Best<Measure> best = start;
        for (std::size_t k = 0; k < n_columns; ++k) body(k, best);
        return finish(best);
    }
    // One task per column for few columns, which differ in cost; a range of columns each for many.
    const std::size_t parts = std::min<std::size_t>(n_columns, 8 * static_cast<std::size_t>(n_threads));
    std::vector<Best<Measure>> bests(parts, start);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t k = range_begin(n_columns, parts, part); k < range_begin(n_columns, parts, part + 1); ++k)
            body(k, bests[part]);
    });
    Best<Measure> best = bests[0];
    for (const auto& other : bests) {
        const bool asked = best.split.asked || other.split.asked;
        if (other.score > best.score) best = other;
        best.split.asked = asked;
    }
    return finish(best);
}

// The common case of a column, without missing values and leaf minimum, as a loop of its own: twice as fast.
template <class Measure>
void scan_plain_column(const std::int64_t* sums, std::size_t end, std::int64_t total, std::size_t column,
                       Best<Measure>& best) {
    auto top = best.score;
    std::size_t top_bin = end;
    std::int64_t left = 0, top_left = 0;
    for (std::size_t bin = 0; bin < end; ++bin) {
        if (sums[bin] == 0) continue;
        left += sums[bin];
        typename Measure::Score score;
        if (!Measure::score(left, total - left, score) || !(score > top)) continue;
        top = score;
        top_bin = bin;
        top_left = left;
    }
    if (top_bin == end) return;
    best.score = top;
    best.split.valid = true;
    best.split.missing_left = false;
    best.split.column = static_cast<std::uint32_t>(column);
    best.split.bin = static_cast<std::uint32_t>(top_bin);
    best.split.left_sum = top_left;
}

template <class Measure>
Split search_histograms(const BinnedData& data, const NodeHistograms& histograms, const NodeTotals& node,
                        const SplitSearch& search, int n_threads) {
    return best_of_columns<Measure>(
        data.n_columns, node, n_threads, n_threads > 1, [&](std::size_t column, auto& best) {
            const std::size_t offset = data.slot_offsets[column], bins = data.n_bins(column);
            const std::int64_t* sums = histograms.sums + offset;
            const std::int64_t* masses = histograms.masses ? histograms.masses + offset : nullptr;
            const auto empty = [&](std::size_t bin) { return sums[bin] == 0 && (!masses || masses[bin] == 0); };
            const bool missing = data.has_missing[column] && !empty(bins);
            // With missing values in the node the last bin is a question too: is the value there at all?
            const std::size_t end = missing ? bins : (bins > 0 ? bins - 1 : 0);
            if (!missing && !masses) {
                scan_plain_column<Measure>(sums, end, node.sum, column, best);
                return;
            }
            NodeTotals left{0, 0};
            for (std::size_t bin = 0; bin < end; ++bin) {
                if (empty(bin)) continue;  // the same children as one bin before
                left.sum += sums[bin];
                if (masses) left.mass += masses[bin];
                best.consider(node, search, column, bin, false, left);
                if (missing)
                    best.consider(node, search, column, bin, true,
                                  {left.sum + sums[bins], left.mass + (masses ? masses[bins] : 0)});
            }
        });
}

// The histogram of one column over one or two groups of rows, with the list of the codes that occur.
class ColumnSums {
public:
    ColumnSums() {
        std::memset(sums_, 0, sizeof sums_);
        std::memset(masses_, 0, sizeof masses_);
        std::memset(seen_, 0, sizeof seen_);
    }

    void add(int group, const std::uint8_t* codes, const NodeRows& rows, std::size_t begin, std::size_t end) {
        // Locals, because a store of a byte might change any member as far as the compiler knows.
        const std::uint32_t* indices = rows.rows;
        const std::int64_t* weights = rows.weights;
        std::int64_t* sums = sums_[group];
        std::uint8_t* seen = seen_;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint8_t code = codes[indices[i]];
            sums[code] += weights[i];
            seen[code] = 1;
        }
        if (rows.masses != nullptr)
            for (std::size_t i = begin; i < end; ++i) masses_[group][codes[rows.rows[i]]] += rows.masses[i];
    }
    // Lists the codes seen, ascending; call once after all rows were added. Codes whose rows cancel out are passed over,
    // as in the search by histograms: both searches must ask the same questions.
    void list_codes() {
        n_codes_ = 0;
        for (std::size_t word = 0; word < 256; word += 8) {
            std::uint64_t any;
            std::memcpy(&any, seen_ + word, sizeof any);
            if (any == 0) continue;
            for (std::size_t code = word; code < word + 8; ++code) {
                const bool empty = (sums_[0][code] | sums_[1][code] | masses_[0][code] | masses_[1][code]) == 0;
                if (!empty) codes_[n_codes_++] = static_cast<std::uint8_t>(code);
            }
            std::memset(seen_ + word, 0, 8);
        }
    }
    std::size_t n_codes() const { return n_codes_; }
    std::size_t code(std::size_t k) const { return codes_[k]; }
    NodeTotals at(int group, std::size_t code) const { return {sums_[group][code], masses_[group][code]}; }
    void clear() {
        for (std::size_t k = 0; k < n_codes_; ++k) {
            const std::size_t code = codes_[k];
            for (int group = 0; group < 2; ++group) sums_[group][code] = masses_[group][code] = 0;
        }
    }

private:
    std::int64_t sums_[2][256], masses_[2][256];
    std::uint8_t seen_[256], codes_[256];
    std::size_t n_codes_ = 0;
};

ColumnSums& column_sums() {
    thread_local ColumnSums sums;
    return sums;
}

// Calls ask(bin, codes left, missing_left) for each question that a column has for the rows seen, or for the drawn one:
// the first `codes left` of the codes seen go left.
template <class Ask>
void questions(const BinnedData& data, std::size_t column, const SplitSearch& search, const ColumnSums& seen,
               Ask&& ask) {
    const std::size_t bins = data.n_bins(column), all = seen.n_codes();
    const bool missing = all > 0 && seen.code(all - 1) == bins;  // missing values have the code after the last bin
    const std::size_t present = missing ? all - 1 : all;
    const std::size_t end = missing ? present : (present > 0 ? present - 1 : 0);
    if (end == 0) return;
    if (!search.random_thresholds) {
        for (std::size_t k = 0; k < end; ++k) {
            ask(seen.code(k), k + 1, false);
            if (missing) ask(seen.code(k), k + 1, true);
        }
        return;
    }
    // A bin between the lowest and the highest code; with missing values the highest is a question as well.
    const std::size_t low = seen.code(0), high = seen.code(present - 1);
    const auto choices = static_cast<std::uint32_t>(high - low + (missing ? 1 : 0));
    const std::size_t bin = low + draw_below(mix(search.draw_key, column), choices);
    std::size_t left = 0;
    while (left < present && seen.code(left) <= bin) ++left;
    ask(bin, left, false);
    if (missing) ask(bin, left, true);
}

template <class Measure>
Split search_rows(const BinnedData& data, ColumnSet columns, const NodeRows& rows, const NodeTotals& node,
                  const SplitSearch& search, int n_threads) {
    const bool parallel = rows.count * columns.count >= kParallelUpdates;
    return best_of_columns<Measure>(columns.count, node, n_threads, parallel, [&](std::size_t k, auto& best) {
        ColumnSums& sums = column_sums();
        const std::size_t column = columns.indices ? columns.indices[k] : k;
        sums.add(0, data.column(column), rows, 0, rows.count);
        sums.list_codes();
        std::size_t counted = 0;
        NodeTotals left{0, 0};
        questions(data, column, search, sums, [&](std::size_t bin, std::size_t n_left, bool missing_left) {
            for (; counted < n_left; ++counted) left += sums.at(0, sums.code(counted));
            NodeTotals whole = left;
            if (missing_left) whole += sums.at(0, data.n_bins(column));
            best.consider(node, search, column, bin, missing_left, whole);
        });
        sums.clear();
    });
}

// The lowest and the highest of some codes.
RADBOOST_CLONES void code_range(const std::uint8_t* codes, std::size_t n, std::uint8_t* low, std::uint8_t* high) {
    std::uint8_t lowest = 255, highest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        lowest = codes[i] < lowest ? codes[i] : lowest;
        highest = codes[i] > highest ? codes[i] : highest;
    }
    *low = lowest;
    *high = highest;
}

// The sum of the weights whose code is at most `bin`.
RADBOOST_CLONES std::int64_t sum_up_to(const std::uint8_t* codes, const std::int64_t* weights, std::size_t n,
                                       std::uint8_t bin) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += codes[i] <= bin ? weights[i] : 0;
    return sum;
}

// Random thresholds need no histogram: the range of a column's codes, a draw, and one sum.
template <class Measure>
Split search_random(const BinnedData& data, ColumnSet columns, const NodeRows& rows, const NodeTotals& node,
                    const SplitSearch& search, int n_threads) {
    const bool parallel = rows.count * columns.count >= kParallelUpdates;
    return best_of_columns<Measure>(columns.count, node, n_threads, parallel, [&](std::size_t k, auto& best) {
        const std::size_t column = columns.indices ? columns.indices[k] : k;
        const std::uint8_t* all = data.column(column);
        const std::uint8_t* codes = all;
        thread_local std::vector<std::uint8_t> gathered;
        if (rows.count < data.n_rows) {
            gathered.resize(std::max(gathered.size(), rows.count));
            std::uint8_t* to = gathered.data();
            for (std::size_t i = 0; i < rows.count; ++i) to[i] = all[rows.rows[i]];
            codes = to;
        }
        const auto missing_code = static_cast<std::uint8_t>(data.n_bins(column));
        std::uint8_t low, high;
        code_range(codes, rows.count, &low, &high);
        const bool missing = data.has_missing[column] && high == missing_code;
        if (missing) {
            high = 0;
            for (std::size_t i = 0; i < rows.count; ++i)
                if (codes[i] != missing_code) high = std::max(high, codes[i]);
            if (low == missing_code) return;  // nothing but missing values
        }
        // A bin between the lowest and the highest; with missing values the highest is a question as well.
        const std::uint32_t choices = std::uint32_t{high} - low + (missing ? 1 : 0);
        if (choices == 0) return;
        const auto bin = static_cast<std::uint8_t>(low + draw_below(mix(search.draw_key, column), choices));
        NodeTotals left{sum_up_to(codes, rows.weights, rows.count, bin), 0};
        if (rows.masses) left.mass = sum_up_to(codes, rows.masses, rows.count, bin);
        best.consider(node, search, column, bin, false, left);
        if (!missing) return;
        left.sum += node.sum - sum_up_to(codes, rows.weights, rows.count, high);
        if (rows.masses) left.mass += node.mass - sum_up_to(codes, rows.masses, rows.count, high);
        best.consider(node, search, column, bin, true, left);
    });
}

template <class Measure>
Split search_columns(const BinnedData& data, ColumnSet columns, const NodeRows& rows, const NodeTotals& node,
                     const SplitSearch& search, int n_threads) {
    return search.random_thresholds ? search_random<Measure>(data, columns, rows, node, search, n_threads)
                                    : search_rows<Measure>(data, columns, rows, node, search, n_threads);
}

}  // namespace

Split find_split(const BinnedData& data, const NodeHistograms& histograms, const NodeTotals& node,
                 const SplitSearch& search, int n_threads) {
    return search.criterion == Criterion::edge
               ? search_histograms<Edge>(data, histograms, node, search, n_threads)
               : search_histograms<Gini>(data, histograms, node, search, n_threads);
}

Split find_split_in_rows(const BinnedData& data, ColumnSet columns, const NodeRows& rows, const NodeTotals& node,
                         const SplitSearch& search, int n_threads) {
    return search.criterion == Criterion::edge ? search_columns<Edge>(data, columns, rows, node, search, n_threads)
                                               : search_columns<Gini>(data, columns, rows, node, search, n_threads);
}

Split find_shared_split(const BinnedData& data, ColumnSet columns, const NodeRows& rows, std::size_t first_count,
                        const NodeTotals& first, const NodeTotals& second, const SplitSearch& search,
                        std::size_t excluded, int n_threads) {
    // Two nodes at once: the score of a question is the sum of its scores at both.
    struct PairBest {
        std::int64_t score;
        Split split;
    };
    const std::int64_t unsplit = std::llabs(first.sum) + std::llabs(second.sum);
    const bool parallel = rows.count * columns.count >= kParallelUpdates;
    const std::size_t parts = parallel ? static_cast<std::size_t>(n_threads) : 1;
    std::vector<PairBest> bests(parts, PairBest{unsplit, Split{}});
    const auto too_light = [&](const NodeTotals& node, const NodeTotals& left) {
        return search.minimum_mass > 0 &&
               (left.mass < search.minimum_mass || node.mass - left.mass < search.minimum_mass);
    };
    const auto search_column = [&](std::size_t column, PairBest& best) {
        ColumnSums sums;
        sums.add(0, data.column(column), rows, 0, first_count);
        sums.add(1, data.column(column), rows, first_count, rows.count);
        sums.list_codes();
        std::size_t counted = 0;
        NodeTotals counted_left[2] = {{0, 0}, {0, 0}};
        questions(data, column, search, sums, [&](std::size_t bin, std::size_t n_left, bool missing_left) {
            for (; counted < n_left; ++counted)
                for (int group = 0; group < 2; ++group) counted_left[group] += sums.at(group, sums.code(counted));
            NodeTotals left[2] = {counted_left[0], counted_left[1]};
            for (int group = 0; group < 2 && missing_left; ++group) left[group] += sums.at(group, data.n_bins(column));
            if (too_light(first, left[0]) || too_light(second, left[1])) return;
            const std::int64_t score = std::llabs(left[0].sum) + std::llabs(first.sum - left[0].sum) +
                                       std::llabs(left[1].sum) + std::llabs(second.sum - left[1].sum);
            if (score <= best.score) return;
            best.score = score;
            best.split.valid = true;
            best.split.missing_left = missing_left;
            best.split.column = static_cast<std::uint32_t>(column);
            best.split.bin = static_cast<std::uint32_t>(bin);
            best.split.left_sum = left[0].sum;
        });
    };
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t k = range_begin(columns.count, parts, part); k < range_begin(columns.count, parts, part + 1);
             ++k) {
            const std::size_t column = columns.indices ? columns.indices[k] : k;
            if (column != excluded) search_column(column, bests[part]);
        }
    });
    const PairBest* best = &bests[0];
    for (const PairBest& other : bests)
        if (other.score > best->score) best = &other;
    Split split = best->split;
    split.gain = static_cast<double>(best->score - unsplit) / kEdgeScale;
    return split;
}

}  // namespace radboost
