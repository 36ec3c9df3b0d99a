// A matrix that is read block by block, so that only one block of rows is in memory at a time (out-of-core binning).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/common.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

template <class T>
class RowBlocks {
public:
    // first_rows: first row of each block, then the number of rows; shape (n_blocks + 1,).
    RowBlocks(std::vector<std::size_t> first_rows, std::size_t n_columns)
        : n_columns(n_columns), first_rows_(std::move(first_rows)) {
        require(!first_rows_.empty() && first_rows_[0] == 0, "the first block begins at row 0");
        for (std::size_t b = 0; b + 1 < first_rows_.size(); ++b)
            require(first_rows_[b] <= first_rows_[b + 1], "blocks follow each other");
    }
    virtual ~RowBlocks() = default;

    const std::size_t n_columns;
    std::size_t n_blocks() const { return first_rows_.size() - 1; }
    std::size_t n_rows() const { return first_rows_.back(); }
    std::size_t first_row(std::size_t block) const { return first_rows_[block]; }
    std::size_t n_rows(std::size_t block) const { return first_rows_[block + 1] - first_rows_[block]; }
    // Calls `use` with the rows of a block, which must be the same at every visit. The view is invalid afterwards.
    virtual void visit(std::size_t block, const std::function<void(const MatrixView<T>&)>& use) const = 0;

private:
    const std::vector<std::size_t> first_rows_;
};

// A matrix that is in memory.
template <class T>
class OneBlock final : public RowBlocks<T> {
public:
    explicit OneBlock(const MatrixView<T>& X) : RowBlocks<T>({0, X.n_rows}, X.n_columns), X_(X) {}
    void visit(std::size_t, const std::function<void(const MatrixView<T>&)>& use) const override { use(X_); }

private:
    const MatrixView<T>& X_;
};

}  // namespace radboost
