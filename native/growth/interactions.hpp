// Interaction constraints: the columns on which a node may split, given those on which its ancestors split (like
// interaction_constraints in LightGBM and XGBoost, and a maximum number of columns per path).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/common.hpp"

namespace radboost {

struct ColumnScope {
    std::vector<std::uint32_t> asked;    // columns on which the ancestors of a node split, ascending, unique
    std::vector<std::uint32_t> allowed;  // columns on which the node may split, ascending
};
using SharedScope = std::shared_ptr<const ColumnScope>;

// All columns of a path from the root must be in one common group, and there must be at most `most_columns` of them.
class Interactions {
public:
    Interactions() = default;
    // groups empty: no constraint by groups; most_columns = 0: no constraint by number.
    Interactions(std::vector<std::vector<std::uint32_t>> groups, std::size_t most_columns)
        : groups_(std::move(groups)), most_columns_(most_columns) {
        for (auto& group : groups_) std::sort(group.begin(), group.end());
    }

    bool any() const { return !groups_.empty() || most_columns_ > 0; }
    void check(std::size_t n_columns) const {
        for (const auto& group : groups_) {
            require(!group.empty(), "a group of columns must not be empty");
            require(group.back() < n_columns, "a group has a column that does not exist");
            require(std::adjacent_find(group.begin(), group.end()) == group.end(), "a group has a column twice");
        }
    }

    // Scope of the root; null if there are no constraints.
    SharedScope root(std::size_t n_columns) const {
        if (!any()) return nullptr;
        ColumnScope scope;
        scope.allowed.resize(n_columns);
        std::iota(scope.allowed.begin(), scope.allowed.end(), 0u);
        keep_together(scope);
        return std::make_shared<const ColumnScope>(std::move(scope));
    }

    // Scope of the children of a node with scope `above` that splits on `column`.
    SharedScope below(const SharedScope& above, std::uint32_t column) const {
        if (!above || std::binary_search(above->asked.begin(), above->asked.end(), column)) return above;
        ColumnScope scope = *above;
        scope.asked.insert(std::lower_bound(scope.asked.begin(), scope.asked.end(), column), column);
        keep_together(scope);
        return std::make_shared<const ColumnScope>(std::move(scope));
    }

private:
    // Removes from `allowed` the columns that may not be combined with all of `asked`.
    void keep_together(ColumnScope& scope) const {
        if (most_columns_ > 0 && scope.asked.size() >= most_columns_) scope.allowed = scope.asked;
        if (groups_.empty()) return;
        std::vector<std::uint32_t> united;
        for (const auto& group : groups_)
            if (std::includes(group.begin(), group.end(), scope.asked.begin(), scope.asked.end()))
                united.insert(united.end(), group.begin(), group.end());
        std::sort(united.begin(), united.end());
        united.erase(std::unique(united.begin(), united.end()), united.end());
        std::vector<std::uint32_t> both;
        std::set_intersection(scope.allowed.begin(), scope.allowed.end(), united.begin(), united.end(),
                              std::back_inserter(both));
        scope.allowed = std::move(both);
    }

    std::vector<std::vector<std::uint32_t>> groups_;
    std::size_t most_columns_ = 0;
};

}  // namespace radboost
