// Interface between tree growth and split criteria: nodes, splits, histograms, and NodeStatistics, which builds histograms
// and finds the best split. Statistics are weights by class (LabelStatistics) or sums of channels (ChannelStatistics).
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
#include "rows/gradient_scores.hpp"
#include "rows/weighting.hpp"

namespace radboost {

enum class Criterion {
    edge,     // sum over the children of the gain of the best class: the edge of the split as a hypothesis
    gini,     // sum over the children of sum over the classes (weight of the class)^2 / weight of the child
    variance  // sum over the children of sum over the outputs (sum of gradients)^2 / weight of the child
};

// The rows of one class in a node: Node::rows[begin ... end - 1].
struct Segment {
    std::uint32_t class_index;
    std::size_t begin, end;
};

// A node as the search needs it. With several workers count, sums and mass are over the rows of all, the rest of this one.
struct Node {
    RowSet rows{nullptr, 0};  // ascending, so that rows of a class are contiguous
    std::size_t count = 0;
    std::int64_t mass = 0;           // total sample weight, as an integer
    std::vector<std::int64_t> sums;  // growth weight by segment (LabelStatistics), or sums by channel
    // Only LabelStatistics. Segments of the classes that occur in the node (several workers: of all classes of the root, so
    // that all workers have equal lists), and, during a search, the growth weights of the rows in their order.
    std::vector<Segment> segments;
    const std::uint32_t* weights = nullptr;
    // Bounds of the leaf values below the node by monotone constraints.
    double lowest = -std::numeric_limits<double>::infinity(), highest = std::numeric_limits<double>::infinity();
};

struct Split {
    bool valid = false;
    bool asked = false;  // some searched column is not constant in the node
    bool missing_left = false;
    std::uint32_t column = 0, bin = 0;  // codes <= bin go left, unless the column is categorical
    // In a categorical column: categories with weight in the node, and those that go left. Others follow the heavier child.
    CategorySet placed, left;
    double gain = 0;  // score above that of the unsplit node, per unit of total weight
    std::vector<std::int64_t> left_sums;  // Node::sums of the left child
};

// Child of each code of the split's column.
SideTable sides_of(const BinnedData& data, const Split& split);

// Options of a search. Ties go to the first split in the order (column, bin, missing values right before left).
struct SplitSearch {
    const std::int64_t* masses;  // sample weights by row, as integers; null if leaves have no minimum weight
    std::int64_t minimum_mass;   // minimum sample weight of a child; 0: none
    bool random_thresholds;      // one random threshold (or subset of categories) per column instead of all
    std::uint64_t draw_key;      // hash of (seed, round, node)
    int n_threads;
};

class ColumnCodes;

// The best split so far and its score, which the next one must exceed.
struct BestSplit {
    double score;
    Split split;

    // Updates with the best of the cuts after entries 0 ... n - 1 of a column. Scores with missing values right and left;
    // `left` is null if none are missing. codes: null if entries are codes. Returns true if a cut was better.
    bool take(std::size_t column, const double* right, const double* left, std::size_t n, const ColumnCodes* codes);
    // After `take` for categories sorted in `order`: replaces the position of the cut by the set of categories on the left.
    void place(const std::uint8_t* order, std::size_t n_entries, const ColumnCodes* codes);
};

// Histograms of one node over all columns; slots are laid out by BinnedData::slot_offsets.
struct NodeHistograms {
    std::vector<std::uint32_t> class_weights;  // shape (n_classes, n_slots); only LabelStatistics
    std::vector<std::int64_t> channels;        // shape (n_slots, n_channels); only ChannelStatistics
    std::vector<std::int64_t> masses;          // shape (n_slots,): sample weights; only with a minimum weight of leaves
};

// View of one column's sums in a node by code, which several workers can add up. The last entry is for missing values.
struct ColumnTable {
    std::size_t n_entries, width;
    const std::int64_t* sums;    // shape (n_entries, width), width = size of Node::sums
    const std::int64_t* counts;  // rows by entry (rows may have a growth weight of 0)
    const std::int64_t* masses;  // sample weights by entry; null if leaves have no minimum weight

    // View of an array of size() numbers.
    ColumnTable(const std::int64_t* numbers, std::size_t n_entries, std::size_t width, bool with_masses)
        : n_entries(n_entries),
          width(width),
          sums(numbers),
          counts(numbers + n_entries * width),
          masses(with_masses ? counts + n_entries : nullptr) {}
    // Counts only.
    ColumnTable(const std::int64_t* counts, std::size_t n_entries)
        : n_entries(n_entries), width(0), sums(counts), counts(counts), masses(nullptr) {}
    static std::size_t size(std::size_t n_entries, std::size_t width, bool with_masses) {
        return n_entries * (width + 1 + (with_masses ? 1 : 0));
    }
    // out[k] += sums[entry, k] over the entries that go left.
    void sum_left(const SideTable& sides, std::int64_t* out) const;
};

// A random cut: a threshold, or a subset `left` of the categories `placed` that occur.
struct DrawnCut {
    std::uint8_t bin = 0;
    CategorySet left, placed;
};

// View of the sums over a node's rows on the left of a random cut, and over those whose value is missing.
struct DrawnSums {
    const std::int64_t *left, *missing;       // like Node::sums
    std::int64_t left_count, missing_count;   // rows
    std::int64_t left_mass, missing_mass;     // sample weights

    // View of an array of size() numbers.
    DrawnSums(const std::int64_t* numbers, std::size_t width)
        : left(numbers),
          missing(numbers + width),
          left_count(numbers[2 * width]),
          missing_count(numbers[2 * width + 1]),
          left_mass(numbers[2 * width + 2]),
          missing_mass(numbers[2 * width + 3]) {}
    static std::size_t size(std::size_t width) { return 2 * width + 4; }
};

// Statistics of nodes and search for their splits, by one criterion.
class NodeStatistics {
public:
    virtual ~NodeStatistics() = default;

    // Sets the root's segments and sums, over this worker's rows.
    virtual void describe(Node& root, int n_threads) const = 0;
    // The same for the two children of a split, whose rows must be set.
    virtual void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const = 0;
    // True if no split can improve on the node.
    virtual bool cannot_improve(const Node& node) const = 0;

    // Approximate weight of a node, computed from its sums and so equal on all workers.
    virtual std::int64_t weight(const Node& node) const = 0;

    // Bytes of a node's histograms.
    virtual std::size_t histogram_bytes(bool with_masses) const = 0;
    // Builds the histograms of all columns, over this worker's rows.
    virtual void build(const Node& node, const SplitSearch& search, NodeHistograms& out) = 0;
    // Subtracts the rows of `part` from `whole`; `known`: the histograms of `part`, or null.
    virtual void subtract(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                          NodeHistograms& whole) const = 0;
    // Best split over all thresholds of these columns.
    virtual Split find(const Node& node, const NodeHistograms& histograms, ColumnSet columns,
                       const SplitSearch& search) const = 0;
    // The same without histograms, from the rows: for few columns, few rows, or random thresholds.
    virtual Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) = 0;

    // The same with several workers, in steps: `measure` columns of many nodes, sum the ColumnTables over the workers,
    // `choose` column by column, `finish`. The split is the one that a single worker with all rows would find.
    // Prepares nodes for `measure` (fills Node::weights).
    virtual void gather(Node* const* nodes, std::size_t n_nodes, int n_threads) = 0;
    virtual void measure(const Node& node, std::size_t column, const SplitSearch& search, std::int64_t* table) const = 0;
    // The score that a split must exceed; `finish` sets the gain of the best split.
    virtual BestSplit start(const Node& node) const = 0;
    virtual void choose(const Node& node, std::size_t column, const ColumnTable& table, const SplitSearch& search,
                        BestSplit& best) const = 0;
    virtual Split finish(const Node& node, BestSplit&& best) const = 0;
    // The same for one random cut per column: measure_drawn writes the numbers of DrawnSums for this worker's rows,
    // choose_drawn takes their sums. `codes` must be loaded; masses: sample weights by row, or null if all are 1.
    virtual void measure_drawn(const Node& node, const ColumnCodes& codes, const DrawnCut& cut, const std::int64_t* masses,
                               std::int64_t* numbers) const = 0;
    virtual void choose_drawn(const Node& node, std::size_t column, const DrawnCut& cut, const DrawnSums& sums,
                              const SplitSearch& search, BestSplit& best) const = 0;
};

// Statistics that can also search for the best split shared by two nodes (for stump pairs).
class PairStatistics : public NodeStatistics {
public:
    // Skips the column `excluded` (n_columns: none).
    virtual Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                              const SplitSearch& search) = 0;
    // The same in steps, for several workers.
    virtual BestSplit start_shared(const Node& first, const Node& second) const = 0;
    virtual void choose_shared(const Node& first, const Node& second, std::size_t column, const ColumnTable* tables,
                               const SplitSearch& search, BestSplit& best) const = 0;
    virtual Split finish_shared(const Node& first, const Node& second, const BestSplit& best) const = 0;
};

// Makes statistics for each thread that grows a subtree.
using StatisticsMaker = std::function<std::unique_ptr<NodeStatistics>()>;

// LabelStatistics for gini, and for edges if gains follow from the row's class; otherwise EdgeStatistics. Keeps references.
// directions: monotone constraints of the score of class 1, -1 (decreasing), 0 or +1 (increasing) per column; empty: none.
std::unique_ptr<PairStatistics> make_statistics(const BinnedData& data, const AnswerWeighting& weighting, Criterion criterion,
                                                const std::vector<std::int8_t>& directions);

// For regression trees. minimum_mass: minimum weight of a child. directions: as above, for the value. Keeps references.
std::unique_ptr<NodeStatistics> make_variance_statistics(const BinnedData& data, const GradientWeighting& weighting,
                                                         std::int64_t minimum_mass,
                                                         const std::vector<std::int8_t>& directions);

}  // namespace radboost
