// RowGroups: the group (data source, in multiple-source boosting) of each row, for sums per group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/common.hpp"

namespace radboost {

class RowGroups {
public:
    RowGroups(std::vector<std::uint16_t> of_row, std::size_t n_groups) : of_row_(std::move(of_row)), n_groups_(n_groups) {
        require(n_groups >= 1, "at least one group is needed");
        for (const std::uint16_t group : of_row_) require(group < n_groups_, "a row has a group that does not exist");
    }

    std::size_t n_rows() const { return of_row_.size(); }
    std::size_t n_groups() const { return n_groups_; }
    std::size_t operator[](std::size_t row) const { return of_row_[row]; }

private:
    std::vector<std::uint16_t> of_row_;
    std::size_t n_groups_;
};

}  // namespace radboost
