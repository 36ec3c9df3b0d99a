// Splits by the edge criterion for objectives whose gains g(i, c) differ by class (see AnswerWeighting): the channels of a
// row are its gains for all classes. Also has make_statistics, which chooses between this and LabelStatistics.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "search/channel_statistics.hpp"
#include "search/label_statistics.hpp"

namespace radboost {
namespace {

RADBOOST_CLONES void add_gains(const std::int32_t* gains, std::size_t n, std::int64_t times, std::int64_t* sums) {
    for (std::size_t c = 0; c < n; ++c) sums[c] += times * gains[c];
}

// Adds the gains of rows [begin, end) to a histogram of shape (n_slots, n), columns [first, last). One call for all rows,
// because dispatching to the clone (RADBOOST_CLONES) for each row and column took a third of the time.
RADBOOST_CLONES void add_rows_of_gains(const std::uint8_t* by_row, std::size_t width, const std::uint32_t* rows,
                                       std::size_t begin, std::size_t end, const std::uint32_t* offsets,
                                       std::size_t first, std::size_t last, const std::int32_t* gains,
                                       const std::int64_t* copies, std::size_t n, std::int64_t* out) {
    for (std::size_t i = begin; i < end; ++i) {
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

// Score of the cut after each of `size` entries: sum over both sides of the largest gain of a class, or 0 if all are negative
// (the leaf abstains). `left`: gains left of the first entry; overwritten.
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

// Channels: the gain of each class in a row, times the copies of the row.
struct GainChannels {
    const std::int32_t* gains;   // shape (n_rows, n_answers); an answer is a class
    const std::int64_t* copies;  // null: all 1
    std::size_t n_answers;

    std::size_t width() const { return n_answers; }
    void add(std::size_t row, std::int64_t sign, std::int64_t* sums) const {
        add_gains(gains + row * n_answers, n_answers, copies ? sign * copies[row] : sign, sums);
    }
    void add_rows(const BinnedData& data, const RowSet& rows, std::size_t begin, std::size_t end, std::size_t first,
                  std::size_t last, std::int64_t* histogram) const {
        add_rows_of_gains(data.row(0), data.n_columns, rows.indices, begin, end, data.slot_offsets.data(), first, last,
                          gains, copies, n_answers, histogram);
    }
    std::size_t tile_columns(std::size_t n_columns, int n_threads) const {
        const std::size_t parts = n_threads > 1 ? std::min(n_columns, 2 * static_cast<std::size_t>(n_threads)) : 1;
        return (n_columns + parts - 1) / parts;
    }
};

class EdgeScore {
public:
    using Interface = PairStatistics;

    explicit EdgeScore(const AnswerWeighting& weighting) : weighting_(weighting) {}

    GainChannels channels() const { return {weighting_.gradients(), weighting_.copies(), weighting_.n_classes()}; }
    double unsplit(const Node& node) const {
        return static_cast<double>(std::max<std::int64_t>(0, *std::max_element(node.sums.begin(), node.sums.end())));
    }
    double to_beat(double unsplit) const { return unsplit; }
    double gain(double score) const { return score * weighting_.edge_unit(); }
    bool cannot_improve(const Node&) const { return false; }
    std::int64_t weight(const Node& node) const {  // a proxy: the sum of |gains|
        return std::accumulate(node.sums.begin(), node.sums.end(), std::int64_t{0},
                               [](std::int64_t sum, std::int64_t gain) { return sum + std::abs(gain); });
    }
    void inherit(const Node&, const Split&, Node&, Node&) const {}
    void scores(const std::int64_t* entries, std::size_t n, std::int64_t* left, const Node& node, std::size_t,
                double* out) const {
        scan_entries(entries, n, weighting_.n_classes(), node.sums.data(), left, out);
    }
    // Ascending by the gain of the node's best class.
    void order(const std::int64_t* entries, std::uint8_t* kept, std::size_t n, const Node& node) const {
        std::array<std::int64_t, kEntries> gains;
        for (std::size_t k = 0; k < n; ++k) gains[kept[k]] = answer_gain(entries + kept[k] * weighting_.n_classes(), node);
        std::sort(kept, kept + n, [&](std::uint8_t a, std::uint8_t b) {
            return gains[a] != gains[b] ? gains[a] < gains[b] : a < b;
        });
    }
    std::int64_t answer_gain(const std::int64_t* sums, const Node& node) const {
        return sums[std::max_element(node.sums.begin(), node.sums.end()) - node.sums.begin()];
    }

private:
    const AnswerWeighting& weighting_;
};

class EdgeStatistics : public ChannelStatistics<EdgeScore> {
public:
    using ChannelStatistics<EdgeScore>::ChannelStatistics;

    Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                      const SplitSearch& search) override {
        return finish_shared(first, second,
                             search_shared<Table>(*this, data_, first, second, columns, excluded, search,
                                                  start_shared(first, second).score));
    }
    BestSplit start_shared(const Node& first, const Node& second) const override {
        return {score_.unsplit(first) + score_.unsplit(second), Split{}};
    }
    void choose_shared(const Node& first, const Node& second, std::size_t column, const ColumnTable* tables,
                       const SplitSearch& search, BestSplit& best) const override {
        choose_shared_from_tables<Table>(*this, data_, first, second, column, tables, search, best);
    }
    Split finish_shared(const Node& first, const Node& second, const BestSplit& best) const override {
        Split split = best.split;
        split.gain = score_.gain(best.score - start_shared(first, second).score);
        return split;
    }
};

}  // namespace

std::unique_ptr<PairStatistics> make_statistics(const BinnedData& data, const AnswerWeighting& weighting,
                                                Criterion criterion, const std::vector<std::int8_t>& directions) {
    require(criterion != Criterion::variance, "classes are told apart by the edge or gini criterion");
    if (criterion == Criterion::gini || weighting.gains_follow_classes())
        return std::make_unique<LabelStatistics>(data, weighting, criterion, directions);
    require(directions.empty(), "monotone trees tell two classes apart");
    return std::make_unique<EdgeStatistics>(data, EdgeScore(weighting));
}

}  // namespace radboost
