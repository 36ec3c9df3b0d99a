// Splits of regression trees by explained squared gradient.
//
// A leaf with gradient sums G_k (k: output) and weight W has the values -G_k / W; its score is sum_k G_k^2 / W.
#include <algorithm>
#include <array>

#include "search/channel_statistics.hpp"

namespace radboost {
namespace {

// Relative margin for rounding by which a split must exceed the unsplit node.
constexpr double kGuard = 1e-12;

// Adds the n words of each of the rows [begin, end) to a histogram of shape (n_slots, n), columns [first, last).
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

// Scores of n cuts with one output: left[i] is the sum of words left of cut i; gradient and weight are those of the node.
RADBOOST_CLONES void score_words(const std::int64_t* left, std::size_t n, int weight_bits, std::int64_t gradient,
                                 std::int64_t weight, std::int64_t minimum, double* out) {
    const std::int64_t mask = (std::int64_t{1} << weight_bits) - 1;
    const double unit = 1.0 / static_cast<double>(std::int64_t{1} << weight_bits);
    const auto g = static_cast<double>(gradient);
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t wl = left[i] & mask, wr = weight - wl;
        // The gradient has at most 50 bits, so the conversion is exact.
        const double gl = static_cast<double>(left[i] - wl) * unit, gr = g - gl;
        const double score = gl * gl / static_cast<double>(wl) + gr * gr / static_cast<double>(wr);
        out[i] = ((wl < minimum) | (wr < minimum)) ? -1.0 : score;
    }
}

// The same with n outputs. entries: (size, n); left: sums left of the first entry (n,); sums: of the node (n,).
RADBOOST_CLONES void score_many_words(const std::int64_t* entries, std::size_t size, std::size_t n, int weight_bits,
                                      const std::int64_t* sums, std::int64_t gradient, std::int64_t weight,
                                      std::int64_t minimum, const std::int64_t* left, double* out) {
    const std::int64_t mask = (std::int64_t{1} << weight_bits) - 1;
    std::int64_t running[kEntries], weights[kEntries];
    double here[kEntries], there[kEntries];
    std::int64_t sum = left[0];
    for (std::size_t entry = 0; entry < size; ++entry) running[entry] = sum += entries[entry * n];
    for (std::size_t entry = 0; entry < size; ++entry) {
        weights[entry] = running[entry] & mask;
        const std::int64_t first = (running[entry] - weights[entry]) >> weight_bits;
        const auto gl = static_cast<double>(first), gr = static_cast<double>(gradient - first);
        here[entry] = gl * gl;
        there[entry] = gr * gr;
    }
    for (std::size_t k = 1; k < n; ++k) {
        sum = left[k];
        for (std::size_t entry = 0; entry < size; ++entry) running[entry] = sum += entries[entry * n + k];
        for (std::size_t entry = 0; entry < size; ++entry) {
            const auto gl = static_cast<double>(running[entry]), gr = static_cast<double>(sums[k] - running[entry]);
            here[entry] += gl * gl;
            there[entry] += gr * gr;
        }
    }
    for (std::size_t entry = 0; entry < size; ++entry) {
        const std::int64_t wl = weights[entry], wr = weight - wl;
        const double score = here[entry] / static_cast<double>(wl) + there[entry] / static_cast<double>(wr);
        out[entry] = ((wl < minimum) | (wr < minimum)) ? -1.0 : score;
    }
}

// Leaf value within the node's monotone bounds, given gradient and weight, and the decrease of the squared error by it.
struct BoundedValue {
    double value, score;

    BoundedValue(std::int64_t gradient, std::int64_t weight, const Node& node) {
        const auto g = static_cast<double>(gradient), w = static_cast<double>(weight);
        value = std::min(std::max(-g / w, node.lowest), node.highest);
        score = -(w * value + 2 * g) * value;
    }
};

// Channels: the words of a row, one per output (see GradientWords).
struct WordChannels : GradientWords {
    std::size_t width() const { return n_outputs; }
    void add(std::size_t row, std::int64_t sign, std::int64_t* sums) const {
        const std::int64_t* from = words + row * n_outputs;
        for (std::size_t k = 0; k < n_outputs; ++k) sums[k] += sign * from[k];
    }
    void add_rows(const BinnedData& data, const RowSet& rows, std::size_t begin, std::size_t end, std::size_t first,
                  std::size_t last, std::int64_t* histogram) const {
        if (n_outputs == 1)
            add_to_histogram(data, rows, begin, end, first, last, words, histogram);
        else
            add_words(data.row(0), data.n_columns, rows.indices, begin, end, data.slot_offsets.data(), first, last, words,
                      n_outputs, histogram);
    }
    // As many columns as have histograms that fit the cache together.
    std::size_t tile_columns(std::size_t, int) const { return std::max<std::size_t>(1, kTileColumns / n_outputs); }
};

class VarianceScore {
public:
    using Interface = NodeStatistics;

    VarianceScore(const GradientWeighting& weighting, std::int64_t minimum_mass, const std::vector<std::int8_t>& directions)
        : weighting_(weighting), minimum_(minimum_mass), directions_(directions) {}

    WordChannels channels() const { return {weighting_.words()}; }

    double unsplit(const Node& node) const {
        const GradientWords words = weighting_.words();
        const std::int64_t gradient = words.gradient(node.sums[0]), weight = words.weight(node.sums[0]);
        if (weight == 0) return 0;
        if (!directions_.empty()) return std::max(0.0, BoundedValue(gradient, weight, node).score);
        double squares = static_cast<double>(gradient) * static_cast<double>(gradient);
        for (std::size_t k = 1; k < node.sums.size(); ++k)
            squares += static_cast<double>(node.sums[k]) * static_cast<double>(node.sums[k]);
        return squares / static_cast<double>(weight);
    }
    double to_beat(double unsplit) const { return unsplit * (1 + kGuard); }
    // Score in units of the mean squared gradient.
    double gain(double score) const {
        return score * weighting_.unit() * weighting_.unit() * weighting_.mass_scale() / weighting_.total_weight();
    }
    bool cannot_improve(const Node& node) const { return weight(node) < 2 * minimum_; }
    std::int64_t weight(const Node& node) const { return weighting_.words().weight(node.sums[0]); }

    // Monotone constraints: bounds all values below either child by the mean of the two children's values.
    void inherit(const Node& parent, const Split& split, Node& left, Node& right) const {
        for (Node* child : {&left, &right}) {
            child->lowest = parent.lowest;
            child->highest = parent.highest;
        }
        const int towards = direction(split.column);
        if (towards == 0) return;
        const double middle = 0.5 * value_of(left, parent) + 0.5 * value_of(right, parent);
        (towards > 0 ? left : right).highest = middle;
        (towards > 0 ? right : left).lowest = middle;
    }

    void scores(const std::int64_t* entries, std::size_t n, std::int64_t* left, const Node& node, std::size_t column,
                double* out) const {
        const GradientWords words = weighting_.words();
        const std::int64_t minimum = std::max<std::int64_t>(1, minimum_);
        const std::int64_t gradient = words.gradient(node.sums[0]), weight = words.weight(node.sums[0]);
        if (words.n_outputs > 1) {
            score_many_words(entries, n, words.n_outputs, words.weight_bits, node.sums.data(), gradient, weight, minimum,
                             left, out);
            return;
        }
        std::array<std::int64_t, kEntries> running;
        std::int64_t sum = left[0];  // a local variable stays in a register
        for (std::size_t entry = 0; entry < n; ++entry) running[entry] = sum += entries[entry];
        score_words(running.data(), n, words.weight_bits, gradient, weight, minimum, out);
        if (directions_.empty()) return;
        // Monotone constraints: children's values are clipped to the node's bounds, and must be in the column's order.
        for (std::size_t i = 0; i < n; ++i) {
            if (out[i] < 0) continue;
            const std::int64_t g = words.gradient(running[i]), w = words.weight(running[i]);
            const BoundedValue here(g, w, node), there(gradient - g, weight - w, node);
            const bool wrong_way = direction(column) * (there.value - here.value) < 0;
            out[i] = wrong_way ? -1.0 : here.score + there.score;
        }
    }

    // Ascending by the mean gradient of the output that varies most between categories; optimal with one output.
    void order(const std::int64_t* entries, std::uint8_t* kept, std::size_t n, const Node&) const {
        const GradientWords words = weighting_.words();
        const auto weight = [&](std::size_t entry) { return words.weight(entries[entry * words.n_outputs]); };
        const auto gradient = [&](std::size_t entry, std::size_t k) {
            const std::int64_t word = entries[entry * words.n_outputs + k];
            return k == 0 ? words.gradient(word) : word;
        };
        std::size_t key = 0;
        double largest = -1;
        for (std::size_t k = 0; k < words.n_outputs; ++k) {
            double spread = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const auto g = static_cast<double>(gradient(kept[i], k));
                spread += g * g / static_cast<double>(std::max<std::int64_t>(1, weight(kept[i])));
            }
            if (spread > largest) key = k;
            largest = std::max(largest, spread);
        }
        std::sort(kept, kept + n, [&](std::uint8_t a, std::uint8_t b) {
            const int128 mean_a = static_cast<int128>(gradient(a, key)) * weight(b);
            const int128 mean_b = static_cast<int128>(gradient(b, key)) * weight(a);
            return mean_a != mean_b ? mean_a < mean_b : a < b;
        });
    }

private:
    int direction(std::size_t column) const { return directions_.empty() ? 0 : directions_[column]; }
    double value_of(const Node& child, const Node& parent) const {
        const GradientWords words = weighting_.words();
        return BoundedValue(words.gradient(child.sums[0]), words.weight(child.sums[0]), parent).value;
    }

    const GradientWeighting& weighting_;
    std::int64_t minimum_;
    const std::vector<std::int8_t>& directions_;
};

}  // namespace

std::unique_ptr<NodeStatistics> make_variance_statistics(const BinnedData& data, const GradientWeighting& weighting,
                                                         std::int64_t minimum_mass,
                                                         const std::vector<std::int8_t>& directions) {
    return std::make_unique<ChannelStatistics<VarianceScore>>(data, VarianceScore(weighting, minimum_mass, directions));
}

}  // namespace radboost
