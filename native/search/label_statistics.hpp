// Splits scored by the weight of every class in the children.
#pragma once

#include <vector>

#include "search/statistics.hpp"

namespace radboost {

class LabelStatistics : public NodeStatistics {
public:
    LabelStatistics(const BinnedData& data, const AnswerWeighting& state, Criterion criterion);

    void describe(Node& node, int n_threads) const override;
    void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const override;
    bool hopeless(const Node& node) const override;
    std::size_t histogram_bytes(bool with_masses) const override;
    void build(const Node& node, const SplitSearch& search, NodeHistograms& out) override;
    void take_out(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                  NodeHistograms& whole) const override;
    Split find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const override;
    Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) override;
    Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                      const SplitSearch& search) override;

private:
    friend class LabelTable;

    double unsplit_score(const Node& node) const;
    double to_beat(double unsplit) const;
    void share_rows(const Node& node, int n_threads, std::uint32_t* out);
    // Points the node to its weights, gathered from place `offset` of the buffer on.
    void gather_weights(Node& node, std::size_t offset, int n_threads);
    // Counts what goes left: read off the histograms, or row by row.
    void count_left(const Node& node, const NodeHistograms& histograms, Split& split) const;
    void count_left(const Node& node, Split& split) const;

    const BinnedData& data_;
    const AnswerWeighting& state_;
    Criterion criterion_;
    std::vector<std::vector<std::uint32_t>> scratch_;  // a class's histogram that two threads share
    LargeArray<std::uint32_t> gathered_;
};

// Sample weights by slot, for both statistics.
void build_masses(const BinnedData& data, const Node& node, const SplitSearch& search, std::vector<std::int64_t>& out);
void take_out_masses(const BinnedData& data, const Node& part, const NodeHistograms* known, const SplitSearch& search,
                     std::vector<std::int64_t>& whole);

}  // namespace radboost
