// Splits scored by the gains of every answer: the edge criterion of objectives whose gains differ from row to row.
#pragma once

#include "search/statistics.hpp"

namespace radboost {

class GainStatistics : public NodeStatistics {
public:
    GainStatistics(const BinnedData& data, const AnswerWeighting& state) : data_(data), state_(state) {}

    void describe(Node& node, int n_threads) const override;
    void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const override;
    bool hopeless(const Node&) const override { return false; }
    std::size_t histogram_bytes(bool with_masses) const override;
    void build(const Node& node, const SplitSearch& search, NodeHistograms& out) override;
    void take_out(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                  NodeHistograms& whole) const override;
    Split find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const override;
    Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) override;
    Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                      const SplitSearch& search) override;

private:
    friend class GainTable;

    // Counts what goes left, row by row.
    void count_left(const Node& node, Split& split) const;
    // sums += sign * copies * g of a row.
    void add_row(std::size_t row, std::int64_t sign, std::int64_t* sums) const;
    double score(const std::int64_t* sums) const;
    double share(double score) const { return score * state_.edge_unit(); }

    const BinnedData& data_;
    const AnswerWeighting& state_;
};

}  // namespace radboost
