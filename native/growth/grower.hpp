// Grower: grows a tree on the present weights or gradients, by LayerGrower or NodeGrower, and sums its leaves over all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/large_array.hpp"
#include "data/binning.hpp"
#include "growth/grown_tree.hpp"
#include "growth/growth_options.hpp"
#include "growth/growth_target.hpp"

namespace radboost {

class LayerGrower;
class NodeGrower;
struct RowDraw;
struct SharedRows;
struct TreeNode;

class Grower {
public:
    // Keeps a reference to `data`; its rows and those of the target correspond.
    Grower(const BinnedData& data, std::unique_ptr<GrowthTarget> target, const GrowthOptions& options);
    ~Grower();
    Grower(const Grower&) = delete;
    Grower& operator=(const Grower&) = delete;

    // Must be called after the rows of data and target were replaced (same columns and classes).
    void retarget();
    // Changes the limit for later trees; only with growth best_first.
    void set_max_leaves(std::size_t max_leaves);
    // Grows one tree; `round` is part of the key of random draws.
    void grow(std::uint64_t round, InterruptCheck check);

    const GrownTree& tree() const { return tree_; }
    double mass_scale() const { return mass_scale_; }
    int n_threads() const { return options_.n_threads; }
    const BinnedData& data() const { return data_; }

private:
    RowDraw row_draw(std::uint64_t round) const;
    std::size_t list_rows(std::uint64_t round);
    void grow_nodes(std::uint64_t round, InterruptCheck check);
    template <class Nodes>
    void collect(const Nodes& nodes);
    void label_rows();
    void number_nodes();
    void place_all_rows();
    void sum_leaves();
    bool read_leaf_sums(std::vector<std::int64_t>& by_label) const;
    void sum_masses(const std::vector<std::int64_t>& sums, std::vector<std::int64_t>& by_label) const;

    const BinnedData& data_;
    std::unique_ptr<GrowthTarget> target_;
    GrowthOptions options_;
    RowMasses masses_;
    double mass_scale_ = 1;              // integer mass of a sample weight of 1
    std::vector<std::uint64_t> hashes_;  // row hashes if rows are sampled; otherwise empty
    bool sampled_;
    std::unique_ptr<SharedRows> shared_;
    std::unique_ptr<LayerGrower> layers_;   // either this, if LayerGrower::fits,
    std::unique_ptr<NodeGrower> by_nodes_;  // or this
    std::vector<TreeNode> nodes_;           // nodes of the last tree, by label
    GrownTree tree_;
};

}  // namespace radboost
