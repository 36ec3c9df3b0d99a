#include "predict/shapley_rows.hpp"

#include <algorithm>
#include <iterator>

#include "core/common.hpp"

namespace radboost {
namespace {

constexpr std::size_t W = kShapleyRows;
// Loops over the rows of a tile. If the compiler unrolled them completely it would not vectorize them.
#define EACH_ROW _Pragma("GCC unroll 1") for (std::size_t i = 0; i < W; ++i)
constexpr std::size_t kBlocks = 5;  // arrays of K x W numbers per depth

// Runs one program; kPoints is K if known at compile time, otherwise 0. For each depth of the path, by quadrature point and
// row: chance = probability of reaching the node, times the weight of the point; share = fraction of the left side; kept =
// prediction of the left subtree; answer = prediction of the subtree; quotient = factors for pairs. By row: goes_left = the
// row goes left here; fulfils = it follows the path at all nodes so far that test this feature. Flags: 64 bits, like doubles.
template <std::size_t kPoints>
struct Run {
    const ShapleyProgram& program;
    const double* rule_points;
    const CategorySet* sets;
    const ShapleyRoom& at;

    RADBOOST_INLINE std::size_t points() const { return kPoints > 0 ? kPoints : program.points; }
    RADBOOST_INLINE double* chance(std::size_t depth) const { return at.numbers + depth * kBlocks * points() * W; }
    RADBOOST_INLINE double* share(std::size_t depth) const { return chance(depth) + points() * W; }
    RADBOOST_INLINE double* kept(std::size_t depth) const { return chance(depth) + 2 * points() * W; }
    RADBOOST_INLINE double* answer(std::size_t depth) const { return chance(depth) + 3 * points() * W; }
    RADBOOST_INLINE double* quotient(std::size_t depth) const { return chance(depth) + 4 * points() * W; }
    RADBOOST_INLINE std::int64_t* goes_left(std::size_t depth) const { return at.flags + 2 * depth * W; }
    RADBOOST_INLINE std::int64_t* fulfils(std::size_t depth) const { return at.flags + (2 * depth + 1) * W; }

    RADBOOST_INLINE void ask(const ShapleyNode& node, std::int64_t* __restrict left) const {
        const double* const values = at.x + node.column * W;
        if (node.set >= 0) {
            const CategorySet& set = sets[node.set];
            EACH_ROW {
                const bool known = values[i] >= 0.0 && values[i] < static_cast<double>(kMostCategories);
                left[i] = known ? set.has(static_cast<std::size_t>(values[i])) : node.missing_left != 0;
            }
        } else if (node.missing_left != 0) {
            EACH_ROW left[i] = values[i] > node.threshold ? 0 : 1;
        } else {
            EACH_ROW left[i] = values[i] <= node.threshold ? 1 : 0;
        }
    }

    // Sets fulfils and, with pairs, quotient = (p - w) / (t p + (1 - t) w), where p is 1 if the row fulfils, otherwise 0.
    template <bool kPairs>
    RADBOOST_INLINE void remember(const ShapleyNode& node, bool to_left) const {
        const std::int64_t* __restrict left = goes_left(node.depth);
        std::int64_t* __restrict known = fulfils(node.depth);
        EACH_ROW known[i] = to_left ? left[i] : 1 - left[i];
        if (node.above >= 0) {
            const std::int64_t* __restrict before = fulfils(static_cast<std::size_t>(node.above));
            EACH_ROW known[i] &= before[i];
        }
        if (!kPairs) return;
        const double* numbers = program.numbers.data() + node.numbers + (node.above >= 0 ? 3 : 2) * points();
        if (!to_left) numbers += points();
        double* __restrict out = quotient(node.depth);
        for (std::size_t k = 0; k < points(); ++k) {
            const double yes = numbers[k], no = -1.0 / (1.0 - rule_points[k]);
            EACH_ROW out[k * W + i] = known[i] != 0 ? yes : no;
        }
    }

    // Enters a subtree: computes share, and chance of the next depth.
    template <bool kPairs>
    RADBOOST_INLINE void down(const ShapleyNode& node, bool to_left) const {
        std::int64_t* __restrict left = goes_left(node.depth);
        ask(node, left);
        const double* const numbers = program.numbers.data() + node.numbers;
        const double* __restrict here = chance(node.depth);
        double* __restrict next = chance(node.depth + 1);
        double* __restrict shares = share(node.depth);
        const std::int64_t* __restrict before = node.above < 0 ? nullptr : fulfils(static_cast<std::size_t>(node.above));
        for (std::size_t k = 0; k < points(); ++k) {
            const double yes = numbers[k], no = numbers[points() + k], without = node.share_left;
            if (before == nullptr)
                EACH_ROW {
                    const double part = left[i] != 0 ? yes : no, along = here[k * W + i] * part;
                    shares[k * W + i] = part;
                    next[k * W + i] = to_left ? along : here[k * W + i] - along;
                }
            else
                EACH_ROW {
                    const double part = before[i] == 0 ? without : left[i] != 0 ? yes : no;
                    const double along = here[k * W + i] * part;
                    shares[k * W + i] = part;
                    next[k * W + i] = to_left ? along : here[k * W + i] - along;
                }
        }
        if (node.remembered != 0) remember<kPairs>(node, to_left);
    }

    // From the left to the right subtree.
    template <bool kPairs>
    RADBOOST_INLINE void turn(const ShapleyNode& node) const {
        const double* __restrict here = chance(node.depth);
        double* __restrict next = chance(node.depth + 1);
        double* __restrict saved = kept(node.depth);
        const double* __restrict found = answer(node.depth + 1);
        for (std::size_t j = 0; j < points() * W; ++j) {
            next[j] = here[j] - next[j];
            saved[j] = found[j];
        }
        if (node.remembered != 0) remember<kPairs>(node, false);
    }

    // After both subtrees: computes the prediction of this node, and adds the contribution of its feature. The subtrees'
    // predictions are functions of the index in an array of K x W numbers.
    template <bool kPairs, class Left, class Right>
    RADBOOST_INLINE void up(const ShapleyNode& node, Left&& left_answer, Right&& right_answer) const {
        const double* __restrict here = chance(node.depth);
        const double* __restrict shares = share(node.depth);
        const double* const inverse = program.numbers.data() + node.numbers + 2 * points();
        double* __restrict out = answer(node.depth);
        double* __restrict terms = at.terms;
        alignas(64) double total[W] = {};
        for (std::size_t k = 0; k < points(); ++k) {
            const double factor = node.above < 0 ? 1.0 : inverse[k];
            EACH_ROW {
                const std::size_t j = k * W + i;
                const double right = right_answer(j), gap = left_answer(j) - right;
                out[j] = right + shares[j] * gap;
                const double term = here[j] * gap * factor;
                total[i] += term;
                if (kPairs) terms[j] = term;
            }
        }
        contribute<kPairs>(node, total);
    }

    // Adds the contribution of the node to its column's sums (total: by row) and to those of its pairs.
    template <bool kPairs>
    RADBOOST_INLINE void contribute(const ShapleyNode& node, const double* __restrict total) const {
        const std::int64_t* __restrict left = goes_left(node.depth);
        double* __restrict own = at.sums + node.column * W;
        alignas(64) double signs[W];
        EACH_ROW signs[i] = left[i] != 0 ? node.w_right : -node.w_left;
        if (node.above >= 0) {
            const std::int64_t* __restrict before = fulfils(static_cast<std::size_t>(node.above));
            EACH_ROW signs[i] = before[i] != 0 ? signs[i] : 0.0;
        }
        EACH_ROW own[i] += signs[i] * total[i];
        if (!kPairs) return;
        const double* __restrict terms = at.terms;
        for (std::uint32_t place = node.pairs_begin; place < node.pairs_end; ++place) {
            const ShapleyPair& pair = program.pairs[place];
            const double* __restrict quotients = quotient(pair.depth);
            alignas(64) double both[W] = {};
            for (std::size_t k = 0; k < points(); ++k)
                EACH_ROW both[i] += terms[k * W + i] * quotients[k * W + i];
            double* __restrict out = at.pair_sums + static_cast<std::size_t>(pair.pair) * W;
            EACH_ROW out[i] += signs[i] * both[i];
        }
    }

    // A node whose two subtrees have equal leaves each, so that their difference does not depend on the quadrature point.
    template <bool kPairs>
    RADBOOST_INLINE void both(const ShapleyNode& node) const {
        std::int64_t* __restrict left = goes_left(node.depth);
        ask(node, left);
        const double* const numbers = program.numbers.data() + node.numbers;
        const double* __restrict here = chance(node.depth);
        const std::int64_t* __restrict before = node.above < 0 ? nullptr : fulfils(static_cast<std::size_t>(node.above));
        double* __restrict out = answer(node.depth);
        double* __restrict terms = at.terms;
        alignas(64) double total[W] = {};
        const double gap = node.left_value - node.right_value, without = node.right_value + node.share_left * gap;
        for (std::size_t k = 0; k < points(); ++k) {
            const double yes = numbers[k], no = numbers[points() + k];
            if (before == nullptr) {
                EACH_ROW out[k * W + i] = left[i] != 0 ? yes : no;
                EACH_ROW total[i] += here[k * W + i];
                if (kPairs)
                    EACH_ROW terms[k * W + i] = here[k * W + i] * gap;
            } else {
                const double factor = numbers[2 * points() + k];
                EACH_ROW out[k * W + i] = before[i] == 0 ? without : left[i] != 0 ? yes : no;
                EACH_ROW total[i] += here[k * W + i] * factor;
                if (kPairs)
                    EACH_ROW terms[k * W + i] = here[k * W + i] * factor * gap;
            }
        }
        EACH_ROW total[i] *= gap;
        contribute<kPairs>(node, total);
    }

    template <bool kPairs>
    RADBOOST_INLINE void all(const double* point_weights) const {
        double* const first = chance(0);
        for (std::size_t k = 0; k < points(); ++k)
            EACH_ROW first[k * W + i] = point_weights[k];
        for (const ShapleyStep& step : program.steps) {
            const ShapleyNode& node = program.nodes[step.node];
            const double* const found = answer(node.depth + 1);
            const double* const saved = kept(node.depth);
            switch (step.kind) {
                case ShapleyStep::kBoth: both<kPairs>(node); break;
                case ShapleyStep::kLeft: down<kPairs>(node, true); break;
                case ShapleyStep::kRight: turn<kPairs>(node); break;
                case ShapleyStep::kRightOnly: down<kPairs>(node, false); break;
                case ShapleyStep::kUp:
                    up<kPairs>(node, [&](std::size_t j) { return saved[j]; }, [&](std::size_t j) { return found[j]; });
                    break;
                case ShapleyStep::kUpLeft:
                    up<kPairs>(node, [&](std::size_t j) { return found[j]; }, [&](std::size_t) { return node.right_value; });
                    break;
                case ShapleyStep::kUpRight:
                    up<kPairs>(node, [&](std::size_t) { return node.left_value; }, [&](std::size_t j) { return found[j]; });
                    break;
            }
        }
    }
};

template <std::size_t kPoints>
RADBOOST_INLINE void run_points(const ShapleyProgram& program, const Quadrature& rule, const CategorySet* sets,
                                const ShapleyRoom& room, bool pairs) {
    const Run<kPoints> run{program, rule.points.data(), sets, room};
    if (pairs)
        run.template all<true>(rule.weights.data());
    else
        run.template all<false>(rule.weights.data());
}

// Instances for the usual numbers of quadrature points; 0: any other.
#define RADBOOST_SHAPLEY(points)                                                                                       \
    RADBOOST_CLONES void run_##points(const ShapleyProgram& program, const Quadrature& rule, const CategorySet* sets,    \
                                      const ShapleyRoom& room, bool pairs) {                                             \
        run_points<points>(program, rule, sets, room, pairs);                                                            \
    }
RADBOOST_SHAPLEY(0)
RADBOOST_SHAPLEY(1)
RADBOOST_SHAPLEY(2)
RADBOOST_SHAPLEY(3)
RADBOOST_SHAPLEY(4)
RADBOOST_SHAPLEY(5)
RADBOOST_SHAPLEY(6)
#undef RADBOOST_SHAPLEY
#undef EACH_ROW

}  // namespace

ShapleyTile::ShapleyTile(const ShapleyChunk& chunk)
    : x_(chunk.columns.size()), sums_(chunk.columns.size()), pair_sums_(chunk.pairs.size()),
      numbers_((chunk.longest + 1) * kBlocks * chunk.most_points), terms_(chunk.most_points),
      flags_(2 * (chunk.longest + 1)) {}

void ShapleyTile::run(const ShapleyChunk& chunk, const CategorySet* sets) {
    std::fill(sums_.begin(), sums_.end(), RowNumbers{});
    std::fill(pair_sums_.begin(), pair_sums_.end(), RowNumbers{});
    const auto start = [](std::vector<RowNumbers>& rows) { return reinterpret_cast<double*>(rows.data()); };
    const ShapleyRoom room{start(x_),       start(sums_),  start(pair_sums_),
                           start(numbers_), start(terms_), reinterpret_cast<std::int64_t*>(flags_.data())};
    constexpr decltype(&run_0) kRuns[] = {run_0, run_1, run_2, run_3, run_4, run_5, run_6};
    for (const ShapleyProgram& program : chunk.programs) {
        const std::size_t known = program.points < std::size(kRuns) ? program.points : 0;
        kRuns[known](program, chunk.rules[program.points], sets, room, chunk.with_pairs);
    }
}

}  // namespace radboost
