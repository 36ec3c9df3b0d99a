// Scores rows by paths from the root, 64 rows at a time (walk), or by tree programs, 256 rows at a time (add_program).
#include "predict/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlockRows = 64;       // rows routed through a tree together
constexpr std::size_t kRowsPerTask = 1024;
constexpr std::size_t kRowsPerCheck = 1048576;
constexpr std::size_t kRowsForPrograms = 128;  // with fewer, a tile is mostly empty

}  // namespace

Forest::Forest(std::vector<std::int64_t> tree_offsets, std::vector<std::int32_t> features,
               std::vector<double> thresholds, std::vector<std::int32_t> left, std::vector<std::uint8_t> missing_left,
               std::vector<double> values, std::size_t n_features, std::size_t n_outputs,
               const std::vector<std::int64_t>& category_nodes, std::vector<CategorySet> category_sets,
               std::vector<double> vectors)
    : offsets_(std::move(tree_offsets)),
      features_(std::move(features)),
      left_(std::move(left)),
      thresholds_(std::move(thresholds)),
      values_(std::move(values)),
      missing_left_(std::move(missing_left)),
      category_sets_(std::move(category_sets)),
      n_features_(n_features),
      n_outputs_(n_outputs),
      vectors_(std::move(vectors)) {
    const auto n_nodes = static_cast<std::int64_t>(features_.size());
    require(left_.size() == features_.size() && thresholds_.size() == features_.size() &&
                values_.size() == features_.size() && missing_left_.size() == features_.size(),
            "the arrays of the nodes have different lengths");
    require(n_features < (std::size_t{1} << 30), "too many features");
    require(n_outputs >= 1 && n_outputs < (std::size_t{1} << 31), "the number of outputs must be 1 to 2^31 - 1");
    require(vectors_.empty() || (n_outputs > 1 && vectors_.size() % n_outputs == 0),
            "vectors need a number for each of several outputs");
    for (const double number : vectors_) require(std::isfinite(number), "a number of a leaf's vector is not finite");
    require(!offsets_.empty() && offsets_.front() == 0 && offsets_.back() == n_nodes,
            "the offsets of the trees do not span the nodes");
    for (std::size_t tree = 0; tree + 1 < offsets_.size(); ++tree)
        require(offsets_[tree] < offsets_[tree + 1], "a tree has no nodes");
    for (std::size_t tree = 0; tree + 1 < offsets_.size(); ++tree) {
        const auto begin = static_cast<std::size_t>(offsets_[tree]);
        const auto size = static_cast<std::size_t>(offsets_[tree + 1] - offsets_[tree]);
        std::vector<int> depth(size, 0);
        int deepest = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t node = begin + i;
            check_value(node);
            deepest = std::max(deepest, depth[i]);
            if (features_[node] == -1) continue;
            require(features_[node] >= 0 && static_cast<std::size_t>(features_[node]) < n_features,
                    "a node asks for a feature that does not exist");
            require(!std::isnan(thresholds_[node]), "a threshold is not a number");
            const auto child = static_cast<std::size_t>(left_[node]);
            require(left_[node] > 0 && child > i && child + 1 < size, "a child does not follow its parent");
            depth[child] = depth[child + 1] = std::max(depth[child], depth[i] + 1);
        }
        depths_.push_back(deepest);
    }
    place_sets(category_nodes);
    double_nodes_ = packed_nodes<double>();
    float_nodes_ = packed_nodes<float>();
    if (n_outputs_ > 1) {
        votes_.resize(values_.size(), -1);
        for (std::size_t node = 0; node < values_.size(); ++node)
            if (features_[node] < 0) votes_[node] = static_cast<std::int32_t>(values_[node]);
    }
}

void Forest::place_sets(const std::vector<std::int64_t>& category_nodes) {
    require(category_nodes.size() == category_sets_.size(), "every split by categories needs one set of them");
    by_categories_.assign(n_trees(), 0);
    if (category_nodes.empty()) return;
    set_of_node_.assign(features_.size(), -1);
    std::int64_t last = -1;
    std::size_t tree = 0;
    for (std::size_t i = 0; i < category_nodes.size(); ++i) {
        const std::int64_t node = category_nodes[i];
        require(node > last && node < offsets_.back(), "the nodes that split by categories are not in order");
        require(features_[static_cast<std::size_t>(node)] >= 0, "a leaf has a set of categories");
        set_of_node_[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(i);
        while (offsets_[tree + 1] <= node) ++tree;
        by_categories_[tree] = 1;
        last = node;
    }
}

void Forest::check_value(std::size_t node) const {
    const double value = values_[node];
    require(std::isfinite(value), "the value of a leaf is not finite");
    if (n_outputs_ == 1 || features_[node] != -1) return;
    if (!vectors_.empty())
        require(value >= 0.0 && value < static_cast<double>(vectors_.size() / n_outputs_) && value == std::floor(value),
                "a leaf has a vector that does not exist");
    else
        require(value >= -1.0 && value < static_cast<double>(n_outputs_) && value == std::floor(value),
                "a leaf votes for a class that does not exist");
}

template <class T>
std::vector<Forest::Node<T>> Forest::packed_nodes() const {
    std::vector<Node<T>> nodes(features_.size());
    for (std::size_t tree = 0; tree + 1 < offsets_.size(); ++tree)
        for (std::int64_t i = offsets_[tree]; i < offsets_[tree + 1]; ++i) {
            const auto node = static_cast<std::size_t>(i);
            if (features_[node] < 0)
                nodes[node] = {std::numeric_limits<T>::infinity(), static_cast<std::int32_t>(i - offsets_[tree]), 0};
            else
                nodes[node] = {rounded_down<T>(thresholds_[node]), left_[node],
                               2 * static_cast<std::uint32_t>(features_[node]) + (missing_left_[node] ? 0u : 1u)};
        }
    return nodes;
}

template <>
const std::vector<Forest::Node<double>>& Forest::nodes<double>() const {
    return double_nodes_;
}

template <>
const std::vector<Forest::Node<float>>& Forest::nodes<float>() const {
    return float_nodes_;
}

namespace {

// at[i] = leaf (index within the tree) that row first + i reaches, i < count <= kBlockRows.
template <bool kMissing, bool kRowsContiguous, class Node, class T>
void walk_rows(const Node* nodes, int depth, const MatrixView<T>& X, std::size_t first, std::size_t count,
               std::int32_t* at) {
    std::fill(at, at + count, 0);
    const T* rows = &X.at(first, 0);
    const std::ptrdiff_t column_stride = kRowsContiguous ? 1 : X.column_stride;
    for (int level = 0; level < depth; ++level)
        for (std::size_t i = 0; i < count; ++i) {
            const Node& node = nodes[at[i]];
            const T x = rows[static_cast<std::ptrdiff_t>(i) * X.row_stride +
                             static_cast<std::ptrdiff_t>(node.feature_and_side >> 1) * column_stride];
            bool right = x > node.threshold;
            if (kMissing) right |= (x != x) & ((node.feature_and_side & 1) != 0);
            at[i] = node.left + (right ? 1 : 0);
        }
}

// The same for a tree with splits by categories.
template <class Node, class T>
void walk_categories(const Node* nodes, const std::int32_t* set_of_node, const CategorySet* sets, int depth,
                     const MatrixView<T>& X, std::size_t first, std::size_t count, std::int32_t* at) {
    std::fill(at, at + count, 0);
    for (int level = 0; level < depth; ++level)
        for (std::size_t i = 0; i < count; ++i) {
            const Node& node = nodes[at[i]];
            const T x = X.at(first + i, node.feature_and_side >> 1);
            const std::int32_t set = set_of_node[at[i]];
            const bool missing_right = (node.feature_and_side & 1) != 0;
            bool right = x > node.threshold || (x != x && missing_right);
            if (set >= 0) {
                const bool known = x >= 0 && x < static_cast<T>(kMostCategories);
                right = known ? !sets[set].has(static_cast<std::size_t>(x)) : missing_right;
            }
            at[i] = node.left + (right ? 1 : 0);
        }
}

template <class T>
bool any_missing(const MatrixView<T>& X, std::size_t first, std::size_t count) {
    bool missing = false;
    for (std::size_t i = first; i < first + count; ++i)
        for (std::size_t c = 0; c < X.n_columns; ++c) missing |= X.at(i, c) != X.at(i, c);
    return missing;
}

}  // namespace

template <class T>
void Forest::walk(std::size_t tree, const MatrixView<T>& X, std::size_t first, std::size_t count, bool missing,
                  std::int32_t* at) const {
    const std::int64_t begin = offsets_[tree];
    const Node<T>* all = nodes<T>().data() + begin;
    const int depth = depths_[tree];
    if (by_categories_[tree])
        walk_categories(all, set_of_node_.data() + begin, category_sets_.data(), depth, X, first, count, at);
    else if (X.column_stride == 1 && missing)
        walk_rows<true, true>(all, depth, X, first, count, at);
    else if (X.column_stride == 1)
        walk_rows<false, true>(all, depth, X, first, count, at);
    else if (missing)
        walk_rows<true, false>(all, depth, X, first, count, at);
    else
        walk_rows<false, false>(all, depth, X, first, count, at);
}

template <class Index>
void Forest::add_vectors(std::size_t count, double weight, double* out, Index&& index) const {
    for (std::size_t i = 0; i < count; ++i) {
        const double* numbers = vectors_.data() + static_cast<std::size_t>(index(i)) * n_outputs_;
        for (std::size_t k = 0; k < n_outputs_; ++k) out[i * n_outputs_ + k] += weight * numbers[k];
    }
}

inline void Forest::add_answers(std::size_t begin, const std::int32_t* at, std::size_t count, double weight,
                                double* out) const {
    if (n_outputs_ == 1) {
        const double* values = values_.data() + begin;
        for (std::size_t i = 0; i < count; ++i) out[i] += weight * values[at[i]];
        return;
    }
    const std::int32_t* votes = votes_.data() + begin;
    if (!vectors_.empty()) return add_vectors(count, weight, out, [&](std::size_t i) { return votes[at[i]]; });
    for (std::size_t i = 0; i < count; ++i) {
        // Abstention adds 0 to output 0, which is cheaper than an unpredictable branch.
        const std::int32_t vote = votes[at[i]];
        out[i * n_outputs_ + static_cast<std::size_t>(std::max(vote, 0))] += vote < 0 ? 0.0 : weight;
    }
}

template <class T>
void Forest::score_by_walks(const MatrixView<T>& X, const double* weights, std::size_t first, std::size_t last,
                            double* out) const {
    std::int32_t at[kBlockRows];
    for (; first < last; first += kBlockRows) {
        const std::size_t count = std::min(kBlockRows, last - first);
        const bool missing = any_missing(X, first, count);
        double* const sums = out + first * n_outputs_;
        std::fill(sums, sums + count * n_outputs_, 0.0);
        for (std::size_t tree = 0; tree < n_trees(); ++tree) {
            walk(tree, X, first, count, missing, at);
            add_answers(static_cast<std::size_t>(offsets_[tree]), at, count, weights[tree], sums);
        }
    }
}

const ForestPrograms* Forest::programs(std::size_t n_rows) const {
    if (n_rows < kRowsForPrograms) return nullptr;
    std::call_once(programs_made_, [this] {
        programs_ = std::make_unique<ForestPrograms>(offsets_, features_, thresholds_, left_, missing_left_, values_,
                                                     depths_, by_categories_);
    });
    return programs_->worth_while() ? programs_.get() : nullptr;
}

namespace {

RADBOOST_CLONES void add_either(const std::uint8_t* numbers, std::size_t count, double first, double second, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] += numbers[i] != 0 ? second : first;
}

template <class T>
void code_rows(const ForestPrograms& programs, const std::vector<CutIndex<T>>& indices, const MatrixView<T>& X,
               std::size_t first, std::size_t count, CodedRows& rows) {
    T x[kProgramRows];
    std::int32_t codes[kProgramRows];
    std::uint8_t bytes[kProgramRows] = {};
    for (std::size_t c = 0; c < indices.size(); ++c) {
        X.copy_column(programs.columns()[c], first, count, x);
        find_codes(indices[c], x, count, codes);
        rows.missing[c] = write_codes(x, codes, count, 255, bytes);
        for (std::size_t i = 0; i < kProgramRows; ++i) rows.codes[c][i] = static_cast<std::int8_t>(bytes[i] - 128);
    }
}

}  // namespace

void Forest::add_program(const TreeProgram& program, const std::uint8_t* numbers, std::size_t count, double weight,
                         double* out) const {
    double answers[256];
    for (std::size_t i = 0; i < program.leaf_values.size(); ++i)
        answers[i] = n_outputs_ == 1 ? weight * program.leaf_values[i] : program.leaf_values[i];
    if (n_outputs_ == 1 && program.leaf_values.size() <= 2) {
        add_either(numbers, count, answers[0], answers[program.leaf_values.size() - 1], out);
    } else if (n_outputs_ == 1) {
        for (std::size_t i = 0; i < count; ++i) out[i] += answers[numbers[i]];
    } else if (!vectors_.empty()) {
        add_vectors(count, weight, out, [&](std::size_t i) { return static_cast<std::int32_t>(answers[numbers[i]]); });
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            const auto vote = static_cast<std::int32_t>(answers[numbers[i]]);
            out[i * n_outputs_ + static_cast<std::size_t>(std::max(vote, 0))] += vote < 0 ? 0.0 : weight;
        }
    }
}

template <class T>
void Forest::score_by_programs(const ForestPrograms& programs, const std::vector<CutIndex<T>>& indices,
                               const MatrixView<T>& X, const double* weights, std::size_t first, std::size_t last,
                               double* out) const {
    CodedRows rows{decltype(CodedRows::codes)(indices.size()), std::vector<std::uint8_t>(indices.size())};
    ProgramSlots slots(programs.n_leaf_values());
    std::int32_t at[kProgramRows];
    for (; first < last; first += kProgramRows) {
        const std::size_t count = std::min(kProgramRows, last - first);
        code_rows(programs, indices, X, first, count, rows);
        const bool missing = !programs.covers_all() && any_missing(X, first, count);
        double* const sums = out + first * n_outputs_;
        std::fill(sums, sums + count * n_outputs_, 0.0);
        for (std::size_t tree = 0; tree < n_trees(); ++tree) {
            if (const TreeProgram* program = programs.program(tree)) {
                add_program(*program, run_program(*program, rows, slots), count, weights[tree], sums);
            } else {
                walk(tree, X, first, count, missing, at);
                add_answers(static_cast<std::size_t>(offsets_[tree]), at, count, weights[tree], sums);
            }
        }
    }
}

template <class T>
void Forest::scores(const MatrixView<T>& X, const double* weights, int n_threads, double* out,
                    InterruptCheck check) const {
    require(X.n_columns == n_features_, "the rows have another number of features than the trees");
    const ForestPrograms* const chosen = programs(X.n_rows);
    std::vector<CutIndex<T>> indices;
    for (std::size_t c = 0; chosen && c < chosen->columns().size(); ++c)
        indices.emplace_back(chosen->cuts()[c].data(), chosen->cuts()[c].size(), X.n_rows);
    for (std::size_t slice = 0; slice < X.n_rows; slice += kRowsPerCheck) {
        check();
        const std::size_t slice_end = std::min(X.n_rows, slice + kRowsPerCheck);
        const std::size_t tasks = (slice_end - slice + kRowsPerTask - 1) / kRowsPerTask;
        parallel_for(n_threads, tasks, [&](std::size_t task) {
            const std::size_t first = slice + task * kRowsPerTask, last = std::min(slice_end, first + kRowsPerTask);
            if (chosen != nullptr)
                score_by_programs(*chosen, indices, X, weights, first, last, out);
            else
                score_by_walks(X, weights, first, last, out);
        });
    }
}

template <class T>
void Forest::tree_values(const MatrixView<T>& X, int n_threads, double* out) const {
    require(X.n_columns == n_features_, "the rows have another number of features than the trees");
    const std::size_t tasks = (X.n_rows + kRowsPerTask - 1) / kRowsPerTask;
    parallel_for(n_threads, tasks, [&](std::size_t task) {
        const std::size_t end = std::min(X.n_rows, (task + 1) * kRowsPerTask);
        std::int32_t at[kBlockRows];
        for (std::size_t first = task * kRowsPerTask; first < end; first += kBlockRows) {
            const std::size_t count = std::min(kBlockRows, end - first);
            for (std::size_t tree = 0; tree < n_trees(); ++tree) {
                walk(tree, X, first, count, true, at);
                for (std::size_t i = 0; i < count; ++i)
                    out[tree * X.n_rows + first + i] = values_[static_cast<std::size_t>(offsets_[tree] + at[i])];
            }
        }
    });
}

template <class T>
void Forest::leaves(const MatrixView<T>& X, int n_threads, std::int32_t* out, InterruptCheck check) const {
    require(X.n_columns == n_features_, "the rows have another number of features than the trees");
    for (std::size_t slice = 0; slice < X.n_rows; slice += kRowsPerCheck) {
        check();
        const std::size_t slice_end = std::min(X.n_rows, slice + kRowsPerCheck);
        const std::size_t tasks = (slice_end - slice + kBlockRows - 1) / kBlockRows;
        parallel_for(n_threads, tasks, [&](std::size_t task) {
            const std::size_t first = slice + task * kBlockRows, count = std::min(kBlockRows, slice_end - first);
            std::int32_t at[kBlockRows];
            const bool missing = any_missing(X, first, count);
            for (std::size_t tree = 0; tree < n_trees(); ++tree) {
                walk(tree, X, first, count, missing, at);
                for (std::size_t i = 0; i < count; ++i) out[(first + i) * n_trees() + tree] = at[i];
            }
        });
    }
}

TreeView Forest::tree(std::size_t tree) const {
    const std::size_t begin = first_node(tree);
    return {features_.data() + begin,
            left_.data() + begin,
            by_categories_[tree] ? set_of_node_.data() + begin : nullptr,
            thresholds_.data() + begin,
            missing_left_.data() + begin,
            first_node(tree + 1) - begin};
}

double Forest::answer(std::size_t leaf, std::size_t output) const {
    if (n_outputs_ == 1) return values_[leaf];
    const std::int32_t vote = votes_[leaf];
    if (!vectors_.empty()) return vectors_[static_cast<std::size_t>(vote) * n_outputs_ + output];
    return vote >= 0 && static_cast<std::size_t>(vote) == output ? 1.0 : 0.0;
}

template void Forest::leaves<float>(const MatrixView<float>&, int, std::int32_t*, InterruptCheck) const;
template void Forest::leaves<double>(const MatrixView<double>&, int, std::int32_t*, InterruptCheck) const;
template void Forest::scores<float>(const MatrixView<float>&, const double*, int, double*, InterruptCheck) const;
template void Forest::scores<double>(const MatrixView<double>&, const double*, int, double*, InterruptCheck) const;
template void Forest::tree_values<float>(const MatrixView<float>&, int, double*) const;
template void Forest::tree_values<double>(const MatrixView<double>&, int, double*) const;

}  // namespace radboost
