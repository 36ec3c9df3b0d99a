#include "search/gradient_statistics.hpp"

#include <algorithm>
#include <array>

#include "core/pool.hpp"
#include "search/split_search.hpp"

namespace radboost {
namespace {

// A split must beat the unsplit node by more than rounding.
constexpr double kGuard = 1e-12;

// sum of words of many rows by slot, for the columns [first, last) and n words per row.
RADBOOST_CLONES void add_words(const std::uint8_t* by_row, std::size_t width, const std::uint32_t* rows, std::size_t begin,
                               std::size_t end, const std::uint32_t* offsets, std::size_t first, std::size_t last,
                               const std::int64_t* words, std::size_t n, std::int64_t* out) {
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t row = rows ? rows[i] : i;
        const std::uint8_t* codes = by_row + row * width;
        const std::int64_t* from = words + row * n;
        for (std::size_t c = first; c < last; ++c) {
            std::int64_t* to = out + (offsets[c] + codes[c]) * n;
            for (std::size_t k = 0; k < n; ++k) to[k] += from[k];
        }
    }
}

// The scores of the cuts whose left sides have these sums of words, one word each.
RADBOOST_CLONES void score_words(const std::int64_t* left, std::size_t n, int weight_bits, std::int64_t gradient,
                                 std::int64_t weight, std::int64_t minimum, double* out) {
    const std::int64_t mask = (std::int64_t{1} << weight_bits) - 1;
    const double unit = 1.0 / static_cast<double>(std::int64_t{1} << weight_bits);
    const auto g = static_cast<double>(gradient);
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t wl = left[i] & mask, wr = weight - wl;
        // At most 50 bits above the weight's: exact.
        const double gl = static_cast<double>(left[i] - wl) * unit, gr = g - gl;
        const double score = gl * gl / static_cast<double>(wl) + gr * gr / static_cast<double>(wr);
        out[i] = (wl < minimum) | (wr < minimum) ? -1.0 : score;
    }
}

// The same with n words each: `left` holds what is left of the first entry, and ends as the sum of all.
RADBOOST_CLONES void score_many_words(const std::int64_t* entries, std::size_t size, std::size_t n, int weight_bits,
                                      const std::int64_t* sums, std::int64_t minimum, std::int64_t* left, double* out) {
    const std::int64_t mask = (std::int64_t{1} << weight_bits) - 1;
    for (std::size_t entry = 0; entry < size; ++entry) {
        for (std::size_t k = 0; k < n; ++k) left[k] += entries[entry * n + k];
        const std::int64_t wl = left[0] & mask, wr = sums[n] - wl;
        const std::int64_t first = (left[0] - wl) >> weight_bits;
        double here = static_cast<double>(first) * static_cast<double>(first);
        double there = static_cast<double>(sums[0] - first) * static_cast<double>(sums[0] - first);
        for (std::size_t k = 1; k < n; ++k) {
            const auto gl = static_cast<double>(left[k]), gr = static_cast<double>(sums[k] - left[k]);
            here += gl * gl;
            there += gr * gr;
        }
        const double score = here / static_cast<double>(wl) + there / static_cast<double>(wr);
        out[entry] = (wl < minimum) | (wr < minimum) ? -1.0 : score;
    }
}

// The value that a node may have, given its sums, and what that value takes off the squared error.
struct BoundedValue {
    double value, score;

    BoundedValue(std::int64_t gradient, std::int64_t weight, const Node& node) {
        const auto g = static_cast<double>(gradient), w = static_cast<double>(weight);
        value = std::min(std::max(-g / w, node.lowest), node.highest);
        score = -(w * value + 2 * g) * value;
    }
};

}  // namespace

// One column of a node: the words by entry.
class GradientTable {
public:
    GradientTable(const GradientStatistics& statistics, const Node& node)
        : statistics_(statistics), node_(node), words_(statistics.state_.words()), n_(words_.n_outputs) {}

    void read(const NodeHistograms& histograms, std::size_t column) {
        first_ = histograms.gains.data() + statistics_.data_.slot_offsets[column] * n_;
        missing_entry_ = statistics_.data_.n_bins(column);
        direction_ = statistics_.direction(column);
    }

    void read(const ColumnCodes& codes) {
        missing_entry_ = codes.n_present();
        direction_ = statistics_.direction(codes.column());
        thread_local std::vector<std::int64_t> table;
        table.assign((missing_entry_ + 1) * n_, 0);
        for (std::size_t i = 0; i < codes.count(); ++i) {
            const std::int64_t* from = words_.words + node_.rows[i] * n_;
            std::int64_t* to = table.data() + codes.ranks()[codes.codes()[i]] * n_;
            for (std::size_t k = 0; k < n_; ++k) to[k] += from[k];
        }
        first_ = table.data();
    }

    bool has_missing() const { return !empty(missing_entry_); }
    bool empty(std::size_t entry) const {
        const std::int64_t* words = first_ + entry * n_;
        return std::all_of(words, words + n_, [](std::int64_t word) { return word == 0; });
    }

    void scores(std::size_t n, bool missing_left, double* out) const {
        const std::int64_t minimum = std::max<std::int64_t>(1, statistics_.minimum_), *sums = node_.sums.data();
        if (n_ > 1) {
            thread_local std::vector<std::int64_t> left;
            left.assign(n_, 0);
            if (missing_left) std::copy_n(first_ + missing_entry_ * n_, n_, left.data());
            score_many_words(first_, n, n_, words_.weight_bits, sums, minimum, left.data(), out);
            return;
        }
        std::array<std::int64_t, kEntries> left;
        std::int64_t running = missing_left ? first_[missing_entry_] : 0;
        for (std::size_t entry = 0; entry < n; ++entry) left[entry] = running += first_[entry];
        score_words(left.data(), n, words_.weight_bits, sums[0], sums[1], minimum, out);
        if (!statistics_.directions_.empty()) score_bounded(left.data(), n, out);
    }

    // By the mean of the gradient that differs most between the categories, the smallest first: with one gradient the best
    // of all subsets is a cut along this order.
    std::size_t order(std::uint8_t* entries) const {
        std::size_t n = 0, key = 0;
        for (std::size_t entry = 0; entry < missing_entry_; ++entry)
            if (!empty(entry)) entries[n++] = static_cast<std::uint8_t>(entry);
        double largest = -1;
        for (std::size_t k = 0; k < n_; ++k) {
            double spread = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const auto g = static_cast<double>(gradient(entries[i], k));
                spread += g * g / static_cast<double>(std::max<std::int64_t>(1, weight(entries[i])));
            }
            if (spread > largest) key = k;
            largest = std::max(largest, spread);
        }
        std::sort(entries, entries + n, [&](std::uint8_t a, std::uint8_t b) {
            const int128 mean_a = static_cast<int128>(gradient(a, key)) * weight(b);
            const int128 mean_b = static_cast<int128>(gradient(b, key)) * weight(a);
            return mean_a != mean_b ? mean_a < mean_b : a < b;
        });
        return n;
    }

    void arrange(const std::uint8_t* entries, std::size_t n, bool missing) {
        thread_local std::vector<std::int64_t> arranged;
        arranged.assign((n + 1) * n_, 0);
        for (std::size_t k = 0; k < n; ++k) std::copy_n(first_ + entries[k] * n_, n_, arranged.data() + k * n_);
        if (missing) std::copy_n(first_ + missing_entry_ * n_, n_, arranged.data() + n * n_);
        first_ = arranged.data();
        missing_entry_ = n;
    }

private:
    std::int64_t weight(std::size_t entry) const { return words_.weight(first_[entry * n_]); }
    std::int64_t gradient(std::size_t entry, std::size_t k) const {
        const std::int64_t word = first_[entry * n_ + k];
        return k == 0 ? words_.gradient(word) : word;
    }

    // With constraints values are kept inside the node's bounds, and those of a constrained column in their order.
    void score_bounded(const std::int64_t* left, std::size_t n, double* out) const {
        for (std::size_t i = 0; i < n; ++i) {
            if (out[i] < 0) continue;
            const std::int64_t g = words_.gradient(left[i]), w = words_.weight(left[i]);
            const BoundedValue here(g, w, node_), there(node_.sums[0] - g, node_.sums[1] - w, node_);
            const bool wrong_way = direction_ * (there.value - here.value) < 0;
            out[i] = wrong_way ? -1.0 : here.score + there.score;
        }
    }

    const GradientStatistics& statistics_;
    const Node& node_;
    GradientWords words_;
    std::size_t n_;
    const std::int64_t* first_ = nullptr;
    std::size_t missing_entry_ = 0;
    int direction_ = 0;
};

void GradientStatistics::unpack(const std::int64_t* words, std::vector<std::int64_t>& sums) const {
    const GradientWords format = state_.words();
    sums.assign(words, words + format.n_outputs);
    sums[0] = format.gradient(words[0]);
    sums.push_back(format.weight(words[0]));
}

void GradientStatistics::describe(Node& node, int n_threads) const {
    const GradientWords words = state_.words();
    const std::size_t n = words.n_outputs, parts = row_parts(node.rows.count, n_threads);
    std::vector<std::vector<std::int64_t>> partial(parts, std::vector<std::int64_t>(n, 0));
    parallel_for(n_threads, parts, [&](std::size_t part) {
        std::int64_t* sums = partial[part].data();
        const std::size_t end = range_begin(node.rows.count, parts, part + 1);
        for (std::size_t i = range_begin(node.rows.count, parts, part); i < end; ++i)
            for (std::size_t k = 0; k < n; ++k) sums[k] += words.words[node.rows[i] * n + k];
    });
    for (std::size_t part = 1; part < parts; ++part)
        for (std::size_t k = 0; k < n; ++k) partial[0][k] += partial[part][k];
    unpack(partial[0].data(), node.sums);
}

void GradientStatistics::describe_children(const Node& parent, const Split& split, Node& left, Node& right) const {
    left.sums = split.left_sums;
    right.sums = parent.sums;
    for (std::size_t k = 0; k < right.sums.size(); ++k) right.sums[k] -= split.left_sums[k];
    for (Node* child : {&left, &right}) {
        child->lowest = parent.lowest;
        child->highest = parent.highest;
    }
    const int towards = direction(split.column);
    if (towards == 0) return;
    // Everything to one side of the middle stays there, however far the tree grows.
    const BoundedValue here(left.sums[0], left.sums[1], parent), there(right.sums[0], right.sums[1], parent);
    const double middle = 0.5 * here.value + 0.5 * there.value;
    (towards > 0 ? left : right).highest = middle;
    (towards > 0 ? right : left).lowest = middle;
}

std::size_t GradientStatistics::histogram_bytes(bool) const {
    return data_.n_slots() * state_.n_outputs() * sizeof(std::int64_t);
}

void GradientStatistics::add_rows(const RowSet& rows, std::size_t begin, std::size_t end, std::size_t first,
                                  std::size_t last, std::int64_t* histogram) const {
    const GradientWords words = state_.words();
    if (words.n_outputs == 1)
        add_to_histogram(data_, rows, begin, end, first, last, words.words, histogram);
    else
        add_words(data_.row(0), data_.n_columns, rows.indices, begin, end, data_.slot_offsets.data(), first, last,
                  words.words, words.n_outputs, histogram);
}

void GradientStatistics::build(const Node& node, const SplitSearch& search, NodeHistograms& out) {
    const std::size_t n = state_.n_outputs(), d = data_.n_columns;
    // Columns whose histograms stay in the cache together.
    const std::size_t width = std::max<std::size_t>(1, kTileColumns / n), tiles = (d + width - 1) / width;
    out.gains.resize(data_.n_slots() * n);
    const bool parallel = search.n_threads > 1 && node.rows.count * d * n >= kParallelUpdates;
    if (parallel && tiles < static_cast<std::size_t>(search.n_threads)) {
        share_rows(node, search.n_threads, out.gains.data());
        return;
    }
    parallel_for(parallel ? search.n_threads : 1, tiles, [&](std::size_t tile) {
        const std::size_t first = tile * width, last = std::min(first + width, d);
        std::int64_t* words = out.gains.data();
        std::fill(words + data_.slot_offsets[first] * n, words + data_.slot_offsets[last] * n, 0);
        add_rows(node.rows, 0, node.rows.count, first, last, words);
    });
}

// Narrow data: each thread sums some of the rows, all but the first into a histogram of its own.
void GradientStatistics::share_rows(const Node& node, int n_threads, std::int64_t* out) {
    const std::size_t size = data_.n_slots() * state_.n_outputs(), parts = static_cast<std::size_t>(n_threads);
    scratch_.resize(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        if (part > 0) scratch_[part].resize(size);
        std::int64_t* words = part > 0 ? scratch_[part].data() : out;
        std::fill(words, words + size, 0);
        add_rows(node.rows, range_begin(node.rows.count, parts, part), range_begin(node.rows.count, parts, part + 1), 0,
                 data_.n_columns, words);
    });
    for (std::size_t part = 1; part < parts; ++part)
        for (std::size_t slot = 0; slot < size; ++slot) out[slot] += scratch_[part][slot];
}

void GradientStatistics::take_out(const Node& part, const NodeHistograms* known, const SplitSearch&,
                                  NodeHistograms& whole) const {
    if (known != nullptr) {
        for (std::size_t slot = 0; slot < whole.gains.size(); ++slot) whole.gains[slot] -= known->gains[slot];
        return;
    }
    const GradientWords words = state_.words();
    const std::size_t n = words.n_outputs;
    for (std::size_t i = 0; i < part.rows.count; ++i) {
        const std::size_t row = part.rows[i];
        for (std::size_t c = 0; c < data_.n_columns; ++c) {
            std::int64_t* slot = whole.gains.data() + (data_.slot_offsets[c] + data_.row(row)[c]) * n;
            for (std::size_t k = 0; k < n; ++k) slot[k] -= words.words[row * n + k];
        }
    }
}

double GradientStatistics::unsplit_score(const Node& node) const {
    const std::int64_t weight = node.sums.back();
    if (weight == 0) return 0;
    if (!directions_.empty()) return std::max(0.0, BoundedValue(node.sums[0], weight, node).score);
    double squares = 0;
    for (std::size_t k = 0; k + 1 < node.sums.size(); ++k)
        squares += static_cast<double>(node.sums[k]) * static_cast<double>(node.sums[k]);
    return squares / static_cast<double>(weight);
}

double GradientStatistics::gain_of(double score) const {
    return score * state_.unit() * state_.unit() * state_.mass_scale() / state_.total_weight();
}

void GradientStatistics::count_left(const Node& node, Split& split) const {
    const GradientWords words = state_.words();
    const std::size_t n = words.n_outputs;
    const std::uint8_t* codes = data_.column(split.column);
    const SideTable sides = sides_of(data_, split);
    std::vector<std::int64_t> sums(n, 0);
    for (std::size_t i = 0; i < node.rows.count; ++i) {
        const std::size_t row = node.rows[i];
        for (std::size_t k = 0; k < n; ++k) sums[k] += sides[codes[row]] ? words.words[row * n + k] : 0;
    }
    unpack(sums.data(), split.left_sums);
}

Split GradientStatistics::find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const {
    const double unsplit = unsplit_score(node);
    BestSplit best = search_histograms<GradientTable>(*this, data_, node, histograms, search, unsplit * (1 + kGuard));
    if (!best.split.valid) return best.split;
    // What goes left is read off the histograms.
    const std::size_t n = state_.n_outputs(), bins = data_.n_bins(best.split.column);
    const std::int64_t* words = histograms.gains.data() + data_.slot_offsets[best.split.column] * n;
    const SideTable sides = sides_of(data_, best.split);
    const std::size_t entries = bins + (data_.has_missing[best.split.column] ? 1 : 0);
    std::vector<std::int64_t> sums(n, 0);
    for (std::size_t entry = 0; entry < entries; ++entry)
        for (std::size_t k = 0; sides[entry] && k < n; ++k) sums[k] += words[entry * n + k];
    unpack(sums.data(), best.split.left_sums);
    best.split.gain = gain_of(best.score - unsplit);
    return best.split;
}

Split GradientStatistics::find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) {
    const double unsplit = unsplit_score(node);
    BestSplit best = search_rows<GradientTable>(*this, data_, node, columns, search, unsplit * (1 + kGuard));
    if (!best.split.valid) return best.split;
    count_left(node, best.split);
    best.split.gain = gain_of(best.score - unsplit);
    return best.split;
}

Split GradientStatistics::find_shared(Node&, Node&, ColumnSet, std::size_t, const SplitSearch&) {
    throw std::invalid_argument("regression trees have no shared questions");
}

}  // namespace radboost
