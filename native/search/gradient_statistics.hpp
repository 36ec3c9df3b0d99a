// Splits of regression trees: by the squares of the gradients' sums.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/gradient_scores.hpp"
#include "search/statistics.hpp"

namespace radboost {

// A node with gradient sums G_k and weight W fits the negative gradient with the values -G_k / W, which takes sum_k G_k^2 / W
// off the squared error: that is its score. Its `sums` are G_0, G_1, ... and W, all in the integers of the state.
class GradientStatistics : public NodeStatistics {
public:
    // `directions` has -1, 0 or +1 for each column: values may only fall or rise with it. Empty: no constraints.
    GradientStatistics(const BinnedData& data, const GradientWeighting& state, std::int64_t minimum_mass,
                       const std::vector<std::int8_t>& directions)
        : data_(data), state_(state), minimum_(minimum_mass), directions_(directions) {}

    void describe(Node& node, int n_threads) const override;
    void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const override;
    bool hopeless(const Node& node) const override { return node.sums.back() < 2 * minimum_; }
    std::size_t histogram_bytes(bool with_masses) const override;
    void build(const Node& node, const SplitSearch& search, NodeHistograms& out) override;
    void take_out(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                  NodeHistograms& whole) const override;
    Split find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const override;
    Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) override;
    Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                      const SplitSearch& search) override;

private:
    friend class GradientTable;

    int direction(std::size_t column) const { return directions_.empty() ? 0 : directions_[column]; }
    void add_rows(const RowSet& rows, std::size_t begin, std::size_t end, std::size_t first, std::size_t last,
                  std::int64_t* histogram) const;
    void share_rows(const Node& node, int n_threads, std::int64_t* out);
    // Words summed over rows or slots as sums of gradients and the weight.
    void unpack(const std::int64_t* words, std::vector<std::int64_t>& sums) const;
    double unsplit_score(const Node& node) const;
    // As the part of the mean squared gradient that a split explains.
    double gain_of(double score) const;
    void count_left(const Node& node, Split& split) const;

    const BinnedData& data_;
    const GradientWeighting& state_;
    std::int64_t minimum_;
    const std::vector<std::int8_t>& directions_;
    std::vector<LargeArray<std::int64_t>> scratch_;  // histograms of the threads
};

}  // namespace radboost
