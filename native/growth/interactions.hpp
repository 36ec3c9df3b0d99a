// Interaction constraints: which columns a node may ask about, given those that the nodes above it ask about.
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
    std::vector<std::uint32_t> asked;    // the columns of the path to a node, ascending, each once
    std::vector<std::uint32_t> allowed;  // those that the node may ask about, ascending
};
using SharedScope = std::shared_ptr<const ColumnScope>;

// The columns of a path must occur together in one of the groups, and be at most so many.
class Interactions {
public:
    Interactions() = default;
    // Without groups all columns may stand together; with `most_columns` = 0 there may be any number of them.
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

    // Of the root; null where there are no constraints.
    SharedScope root(std::size_t n_columns) const {
        if (!any()) return nullptr;
        ColumnScope scope;
        scope.allowed.resize(n_columns);
        std::iota(scope.allowed.begin(), scope.allowed.end(), 0u);
        keep_together(scope);
        return std::make_shared<const ColumnScope>(std::move(scope));
    }

    // Below a node that asks about `column`.
    SharedScope below(const SharedScope& above, std::uint32_t column) const {
        if (!above || std::binary_search(above->asked.begin(), above->asked.end(), column)) return above;
        ColumnScope scope = *above;
        scope.asked.insert(std::lower_bound(scope.asked.begin(), scope.asked.end(), column), column);
        keep_together(scope);
        return std::make_shared<const ColumnScope>(std::move(scope));
    }

private:
    // Keeps the allowed columns that may stand with all that were asked about.
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
