#include "predict/contributions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/pool.hpp"
#include "predict/shapley_rows.hpp"

namespace radboost {
namespace {

constexpr std::size_t kNodesPerChunk = 4096;         // their numbers stay in the second-level cache
constexpr std::size_t kWorkPerCheck = std::size_t{1} << 24;  // nodes times rows
constexpr std::size_t kBlocksPerTask = 2;
constexpr std::size_t kMostRoom = std::size_t{1} << 24;      // depth times points: 20 GB for a thread

// Copies the columns of `count` <= kShapleyRows rows to the tile; the last row fills the rest.
template <class T>
void read_rows(const ShapleyChunk& chunk, const MatrixView<T>& X, std::size_t first, std::size_t count, ShapleyTile& tile) {
    for (std::size_t c = 0; c < chunk.columns.size(); ++c)
        for (std::size_t i = 0; i < kShapleyRows; ++i)
            tile.x(c)[i] = static_cast<double>(X.at(first + std::min(i, count - 1), chunk.columns[c]));
}

// Adds the sums of row i of the tile to a row of the result: shape (size,), with pairs (size, size).
void add_sums(const ShapleyChunk& chunk, const ShapleyTile& tile, std::size_t i, std::size_t size, double* out) {
    if (!chunk.with_pairs) {
        for (std::size_t c = 0; c < chunk.columns.size(); ++c) out[chunk.columns[c]] += tile.sums(c)[i];
        return;
    }
    for (std::size_t c = 0; c < chunk.columns.size(); ++c) out[chunk.columns[c] * (size + 1)] += tile.sums(c)[i];
    for (std::size_t p = 0; p < chunk.pairs.size(); ++p) {
        const std::size_t a = chunk.columns[chunk.pairs[p].first], b = chunk.columns[chunk.pairs[p].second];
        const double half = 0.5 * tile.pair_sums(p)[i];
        out[a * size + b] += half;
        out[b * size + a] += half;
        out[a * (size + 1)] -= half;
        out[b * (size + 1)] -= half;
    }
}

// Adds the contributions of a chunk of trees to one output, for all rows; `stride` is the distance between rows of `out`.
template <class T>
void run_chunk(const Forest& forest, const ShapleyChunk& chunk, const MatrixView<T>& X, int n_threads, std::size_t stride,
               double* out, InterruptCheck check) {
    const std::size_t size = forest.n_features() + 1, per_task = kBlocksPerTask * kShapleyRows;
    const std::size_t per_check = std::max<std::size_t>(1, kWorkPerCheck / chunk.n_nodes / per_task) * per_task;
    for (std::size_t slice = 0; slice < X.n_rows; slice += per_check) {
        check();
        const std::size_t slice_end = std::min(X.n_rows, slice + per_check);
        parallel_for(n_threads, (slice_end - slice + per_task - 1) / per_task, [&](std::size_t task) {
            ShapleyTile tile(chunk);
            const std::size_t end = std::min(slice_end, slice + (task + 1) * per_task);
            for (std::size_t first = slice + task * per_task; first < end; first += kShapleyRows) {
                const std::size_t count = std::min(kShapleyRows, end - first);
                read_rows(chunk, X, first, count, tile);
                tile.run(chunk, forest.category_sets());
                for (std::size_t i = 0; i < count; ++i) add_sums(chunk, tile, i, size, out + (first + i) * stride);
            }
        });
    }
}

}  // namespace

template <class T>
void contributions(const Forest& forest, const MatrixView<T>& X, const double* weights, const double* cover, bool pairs,
                   int n_threads, double* out, InterruptCheck check) {
    require(X.n_columns == forest.n_features(), "the rows have another number of features than the trees");
    for (std::size_t node = 0; node < forest.n_nodes(); ++node) require(std::isfinite(cover[node]), "a cover is not finite");
    const std::size_t size = forest.n_features() + 1, block = pairs ? size * size : size;
    for (std::size_t output = 0; output < forest.n_outputs(); ++output) {
        double mean = 0.0;
        std::vector<double> values;
        for (std::size_t tree = 0; tree < forest.n_trees();) {
            ShapleyChunk chunk(pairs);
            for (; tree < forest.n_trees() && chunk.n_nodes < kNodesPerChunk; ++tree) {
                const TreeView view = forest.tree(tree);
                const std::size_t begin = forest.first_node(tree);
                values.assign(view.n_nodes, 0.0);
                for (std::size_t i = 0; i < view.n_nodes; ++i)
                    if (view.features[i] < 0) values[i] = weights[tree] * forest.answer(begin + i, output);
                mean += add_program(view, cover + begin, values, chunk);
            }
            require(chunk.longest * chunk.most_points < kMostRoom, "a tree is too deep to be explained");
            if (!chunk.programs.empty())
                run_chunk(forest, chunk, X, n_threads, forest.n_outputs() * block, out + output * block, check);
        }
        for (std::size_t i = 0; i < X.n_rows; ++i) out[(i * forest.n_outputs() + output + 1) * block - 1] = mean;
    }
}

template void contributions<float>(const Forest&, const MatrixView<float>&, const double*, const double*, bool, int,
                                   double*, InterruptCheck);
template void contributions<double>(const Forest&, const MatrixView<double>&, const double*, const double*, bool, int,
                                    double*, InterruptCheck);

}  // namespace radboost
