// Node statistics for splits that are scored by the weight of each class in the children (gini, and edges whose gains follow
// from the class). The histogram of a class is filled from the node's rows of that class, which are contiguous.
#pragma once

#include <array>
#include <vector>

#include "search/statistics.hpp"

namespace radboost {

class LabelStatistics : public PairStatistics {
public:
    // Keeps references; `directions` as in make_statistics.
    LabelStatistics(const BinnedData& data, const AnswerWeighting& weighting, Criterion criterion,
                    const std::vector<std::int8_t>& directions);

    void describe(Node& node, int n_threads) const override;
    void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const override;
    bool cannot_improve(const Node& node) const override;
    std::int64_t weight(const Node& node) const override;
    std::size_t histogram_bytes(bool with_masses) const override;
    void build(const Node& node, const SplitSearch& search, NodeHistograms& out) override;
    void subtract(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                  NodeHistograms& whole) const override;
    Split find(const Node& node, const NodeHistograms& histograms, ColumnSet columns,
               const SplitSearch& search) const override;
    Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) override;
    void gather(Node* const* nodes, std::size_t n_nodes, int n_threads) override;
    void measure(const Node& node, std::size_t column, const SplitSearch& search, std::int64_t* table) const override;
    BestSplit start(const Node& node) const override;
    void choose(const Node& node, std::size_t column, const ColumnTable& table, const SplitSearch& search,
                BestSplit& best) const override;
    Split finish(const Node& node, BestSplit&& best) const override;
    void measure_drawn(const Node& node, const ColumnCodes& codes, const DrawnCut& cut, const std::int64_t* masses,
                       std::int64_t* numbers) const override;
    void choose_drawn(const Node& node, std::size_t column, const DrawnCut& cut, const DrawnSums& sums,
                      const SplitSearch& search, BestSplit& best) const override;
    Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                      const SplitSearch& search) override;
    BestSplit start_shared(const Node& first, const Node& second) const override;
    void choose_shared(const Node& first, const Node& second, std::size_t column, const ColumnTable* tables,
                       const SplitSearch& search, BestSplit& best) const override;
    Split finish_shared(const Node& first, const Node& second, const BestSplit& best) const override;

private:
    friend class LabelTable;

    double unsplit_score(const Node& node) const;
    int direction(std::size_t column) const { return directions_.empty() ? 0 : directions_[column]; }
    // Weights of two classes (0 for a class without segment) from an array by segment of the node.
    std::array<std::int64_t, 2> weights_of_two(const Node& node, const std::int64_t* by_segment) const;
    // Score of a split under monotone constraints; -1 if the children's values violate the column's direction.
    double bounded_score(const Node& node, std::size_t column, std::array<std::int64_t, 2> left,
                         std::array<std::int64_t, 2> all) const;
    void inherit_bounds(const Node& parent, const Split& split, Node& left, Node& right) const;
    void share_rows(const Node& node, int n_threads, std::uint32_t* out);
    // Sets split.left_sums, from the histograms or from the rows.
    void count_left(const Node& node, const NodeHistograms& histograms, Split& split) const;
    void count_left(const Node& node, Split& split) const;

    const BinnedData& data_;
    const AnswerWeighting& weighting_;
    Criterion criterion_;
    const std::vector<std::int8_t>& directions_;
    bool keep_classes_;  // several workers: nodes keep segments of classes without rows here
    std::vector<std::vector<std::uint32_t>> scratch_;  // per thread: histogram of a class whose rows two threads divide
    LargeArray<std::uint32_t> gathered_;  // growth weights of the searched nodes, in the order of their rows
};

}  // namespace radboost
