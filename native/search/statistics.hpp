// What the score of a split is computed from: the weight of every class in the children, or the gains of every answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "data/categories.hpp"
#include "search/histogram.hpp"
#include "rows/weighting.hpp"

namespace radboost {

enum class Criterion {
    edge,  // the edge of the best answers left and right: what the hypothesis gains
    gini   // sum over the classes of (weight of the class)^2 / weight, left plus right: weighted impurity
};

// The rows of one class in a node: the places [begin, end) among the node's rows.
struct Segment {
    std::uint32_t class_index;
    std::size_t begin, end;
};

// A node as a search sees it. Its rows ascend, so those of a class stand together.
struct Node {
    RowSet rows{nullptr, 0};
    std::vector<Segment> segments;   // of the classes that occur
    std::vector<std::int64_t> sums;  // by segment, or by answer: as the statistics has it
    std::int64_t mass = 0;           // sample weight as an integer
    const std::uint32_t* weights = nullptr;  // growth weights of the rows in their order, while a search has them
    // What monotone constraints leave to the values of a regression tree below the node.
    double lowest = -std::numeric_limits<double>::infinity(), highest = std::numeric_limits<double>::infinity();
};

struct Split {
    bool valid = false;
    bool asked = false;  // some column told the node's rows apart at all
    bool missing_left = false;
    std::uint32_t column = 0, bin = 0;
    // In a categorical column: the categories that the search placed, and those of them that go left. All others have no
    // weight in the node and follow the heavier child.
    CategorySet placed, left;
    double gain = 0;  // score above that of the unsplit node, as a share of the total weight
    std::vector<std::int64_t> left_sums;  // like the node's sums
};

// Where a split sends the codes of its column.
SideTable sides_of(const BinnedData& data, const Split& split);

// What is asked of a split. The best one must beat the unsplit node; ties go to the first in the order (column, bin,
// missing right before missing left). In a categorical column the categories stand in the order of their scores, and
// the cuts are those along it.
struct SplitSearch {
    const std::int64_t* masses;  // sample weights of the rows as integers; null unless a leaf minimum is set
    std::int64_t minimum_mass;   // each child needs this much sample weight; 0: no matter
    bool random_thresholds;      // one threshold per column, drawn between the ends of the node's values, or one subset
    std::uint64_t draw_key;      // names (seed, round, node)
    int n_threads;
};

// The histograms of one node. Which of the arrays are in use, the statistics knows.
struct NodeHistograms {
    std::vector<std::uint32_t> class_weights;  // class x slot
    std::vector<std::int64_t> gains;           // slot x answer
    std::vector<std::int64_t> masses;          // slot; with a leaf minimum
};

class NodeStatistics {
public:
    virtual ~NodeStatistics() = default;

    // Segments and sums of the node that holds the given rows.
    virtual void describe(Node& node, int n_threads) const = 0;
    // The same for the two children of a split; `left` and `right` have their rows already. The last layer's have none,
    // and get their sums alone.
    virtual void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const = 0;
    // Whether no split can improve on the node.
    virtual bool hopeless(const Node& node) const = 0;

    virtual std::size_t histogram_bytes(bool with_masses) const = 0;
    virtual void build(const Node& node, const SplitSearch& search, NodeHistograms& out) = 0;
    // Takes the rows of `part` out of `whole`; `known` are the part's own histograms, or null.
    virtual void take_out(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                          NodeHistograms& whole) const = 0;
    // All columns, every threshold.
    virtual Split find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const = 0;
    // The same straight from the rows, one column at a time: for few columns, few rows, or random thresholds.
    virtual Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) = 0;
    // The best question asked at two nodes at once, leaving out one column (none when it is n_columns).
    virtual Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                              const SplitSearch& search) = 0;
};

// Makes one for each thread that grows on its own.
using StatisticsMaker = std::function<std::unique_ptr<NodeStatistics>()>;

// By the weights of the classes where these tell all (gini always; edges with two classes, or where the objective's gains
// follow from the row's class), otherwise by the gains of every answer.
std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data, const AnswerWeighting& state,
                                                Criterion criterion);

}  // namespace radboost
