// What the score of a split is computed from: the weight of every class in the children, or sums of a few numbers of each
// row (channels): the gains of every answer, or gradients and weights.
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
    edge,     // the edge of the best answers left and right: what the hypothesis gains
    gini,     // sum over the classes of (weight of the class)^2 / weight, left plus right: weighted impurity
    variance  // sum over the outputs of (sum of gradients)^2 / weight, left plus right: explained squared gradient
};

// The rows of one class in a node: the indices [begin, end) among the node's rows.
struct Segment {
    std::uint32_t class_index;
    std::size_t begin, end;
};

// A node as a search sees it. With several workers `rows` and what refers to their places are this worker's own; `count`,
// `sums` and `mass` are of the rows of all workers.
struct Node {
    RowSet rows{nullptr, 0};  // ascending, so that those of a class stand together
    std::size_t count = 0;
    std::int64_t mass = 0;           // sample weight as an integer
    std::vector<std::int64_t> sums;  // by segment where classes are weighed, else by channel
    // Where classes are weighed: those of the root that occur in the node (with several workers all of the root's, some of
    // them empty, so that all workers have the same), and the growth weights of the rows in their order, which the node has
    // during a search only.
    std::vector<Segment> segments;
    const std::uint32_t* weights = nullptr;
    // With monotone constraints: what these leave to the values below the node.
    double lowest = -std::numeric_limits<double>::infinity(), highest = std::numeric_limits<double>::infinity();
};

struct Split {
    bool valid = false;
    bool asked = false;  // some column distinguishes the node's rows at all
    bool missing_left = false;
    std::uint32_t column = 0, bin = 0;
    // In a categorical column: the categories that the search placed, and those of them that go left. All others have no
    // weight in the node and follow the heavier child.
    CategorySet placed, left;
    double gain = 0;  // score above that of the unsplit node, as a fraction of the total weight
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

class ColumnCodes;

// The best cut so far, and the score that the next one must beat.
struct BestSplit {
    double score;
    Split split;

    // Takes the first of the best cuts after the entries 0 .. n - 1; `left` holds the scores with the missing values on
    // the left, or is null. Says whether there was a better one.
    bool take(std::size_t column, const double* right, const double* left, std::size_t n, const ColumnCodes* codes);
    // After a cut along an order of categories was taken: which categories that puts left.
    void place(const std::uint8_t* order, std::size_t n_entries, const ColumnCodes* codes);
};

// The histograms of one node over all columns. Classes are weighed in `class_weights`, channels are summed in `channels`;
// the other of the two stays empty.
struct NodeHistograms {
    std::vector<std::uint32_t> class_weights;  // class x slot
    std::vector<std::int64_t> channels;        // slot x channel
    std::vector<std::int64_t> masses;          // slot; with a leaf minimum
};

// One column of a node as numbers by code, which several workers can add up. The last entry is for missing values.
struct ColumnTable {
    std::size_t n_entries, width;
    const std::int64_t* sums;    // entry x width: by segment or channel, as the node's sums
    const std::int64_t* counts;  // rows by entry: growth weights may be zero where rows are
    const std::int64_t* masses;  // sample weights by entry; null unless a leaf minimum is set

    // In an array of size() numbers.
    ColumnTable(const std::int64_t* numbers, std::size_t n_entries, std::size_t width, bool with_masses)
        : n_entries(n_entries),
          width(width),
          sums(numbers),
          counts(numbers + n_entries * width),
          masses(with_masses ? counts + n_entries : nullptr) {}
    // Without sums.
    ColumnTable(const std::int64_t* counts, std::size_t n_entries)
        : n_entries(n_entries), width(0), sums(counts), counts(counts), masses(nullptr) {}
    static std::size_t size(std::size_t n_entries, std::size_t width, bool with_masses) {
        return n_entries * (width + 1 + (with_masses ? 1 : 0));
    }
    // What goes left, by segment or channel.
    void sum_left(const SideTable& sides, std::int64_t* out) const;
};

// A cut that was drawn: a threshold, or a subset of the categories that occur.
struct DrawnCut {
    std::uint8_t bin = 0;
    CategorySet left, placed;  // of categories
};

// The rows of a node on the left of a drawn cut, and those that miss the value.
struct DrawnSums {
    const std::int64_t *left, *missing;       // by segment or channel, as the node's sums
    std::int64_t left_count, missing_count;   // rows
    std::int64_t left_mass, missing_mass;     // sample weights

    // In an array of size() numbers.
    DrawnSums(const std::int64_t* numbers, std::size_t width)
        : left(numbers),
          missing(numbers + width),
          left_count(numbers[2 * width]),
          missing_count(numbers[2 * width + 1]),
          left_mass(numbers[2 * width + 2]),
          missing_mass(numbers[2 * width + 3]) {}
    static std::size_t size(std::size_t width) { return 2 * width + 4; }
};

class NodeStatistics {
public:
    virtual ~NodeStatistics() = default;

    // Segments and sums of this worker's rows of the root.
    virtual void describe(Node& root, int n_threads) const = 0;
    // The same for the two children of a split; `left` and `right` have their rows already.
    virtual void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const = 0;
    // Whether no split can improve on the node.
    virtual bool cannot_improve(const Node& node) const = 0;

    // How heavy a node is, from its sums: roughly, and the same on all workers.
    virtual std::int64_t weight(const Node& node) const = 0;

    // Histograms of all columns. With several workers each builds those of its own rows.
    virtual std::size_t histogram_bytes(bool with_masses) const = 0;
    virtual void build(const Node& node, const SplitSearch& search, NodeHistograms& out) = 0;
    // Subtracts the rows of `part` from `whole`; `known` are the part's own histograms, or null.
    virtual void subtract(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                          NodeHistograms& whole) const = 0;
    // Every threshold of these columns.
    virtual Split find(const Node& node, const NodeHistograms& histograms, ColumnSet columns,
                       const SplitSearch& search) const = 0;
    // The same straight from the rows, one column at a time: for few columns, few rows, or random thresholds.
    virtual Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) = 0;

    // Several workers: the columns of many nodes are measured, the tables summed over the workers, and the best splits chosen
    // from them, which are those that one worker with all rows would find.
    // Before the nodes' columns are measured.
    virtual void gather(Node* const* nodes, std::size_t n_nodes, int n_threads) = 0;
    virtual void measure(const Node& node, std::size_t column, const SplitSearch& search, std::int64_t* table) const = 0;
    // What a split must beat; `choose` looks at one column after the other, and `finish` gives the best its gain.
    virtual BestSplit start(const Node& node) const = 0;
    virtual void choose(const Node& node, std::size_t column, const ColumnTable& table, const SplitSearch& search,
                        BestSplit& best) const = 0;
    virtual Split finish(const Node& node, BestSplit&& best) const = 0;
    // The same for one cut of each column that was drawn: numbers as DrawnSums has them, of this worker's rows, and the choice
    // from their sums. The column's `codes` are loaded; `masses` are the rows' sample weights, or null where all are 1.
    virtual void measure_drawn(const Node& node, const ColumnCodes& codes, const DrawnCut& cut, const std::int64_t* masses,
                               std::int64_t* numbers) const = 0;
    virtual void choose_drawn(const Node& node, std::size_t column, const DrawnCut& cut, const DrawnSums& sums,
                              const SplitSearch& search, BestSplit& best) const = 0;
};

// Statistics that can also look for the best question asked at two nodes at once.
class PairStatistics : public NodeStatistics {
public:
    // Leaves out one column (none when it is n_columns).
    virtual Split find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                              const SplitSearch& search) = 0;
    // The same in steps, for several workers.
    virtual BestSplit start_shared(const Node& first, const Node& second) const = 0;
    virtual void choose_shared(const Node& first, const Node& second, std::size_t column, const ColumnTable* tables,
                               const SplitSearch& search, BestSplit& best) const = 0;
    virtual Split finish_shared(const Node& first, const Node& second, const BestSplit& best) const = 0;
};

// Makes one for each thread that grows on its own.
using StatisticsMaker = std::function<std::unique_ptr<NodeStatistics>()>;

// By the weights of the classes where these tell all (gini always; edges with two classes, or where the objective's gains
// follow from the row's class), otherwise by the gains of every answer. `directions` has -1, 0 or +1 for each column: what the
// second of two classes has more of may only fall or rise with it; empty: no constraints. Keeps references.
std::unique_ptr<PairStatistics> make_statistics(const BinnedData& data, const AnswerWeighting& weighting, Criterion criterion,
                                                const std::vector<std::int8_t>& directions);

// Of regression trees. Each child needs `minimum_mass`. `directions` as above, of values. Keeps references.
std::unique_ptr<NodeStatistics> make_variance_statistics(const BinnedData& data, const GradientWeighting& weighting,
                                                         std::int64_t minimum_mass,
                                                         const std::vector<std::int8_t>& directions);

}  // namespace radboost
