#include "predict/shapley_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace radboost {

Quadrature gauss_legendre(std::size_t n) {
    constexpr double kPi = 3.14159265358979323846;
    Quadrature rule{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const double size = static_cast<double>(n);
        double x = std::cos(kPi * (static_cast<double>(i) + 0.75) / (size + 0.5)), slope = 0.0;
        for (int turn = 0; turn < 100; ++turn) {  // Newton's method on the Legendre polynomial of degree n
            double before = 1.0, value = x;
            for (std::size_t k = 2; k <= n; ++k) {
                const double degree = static_cast<double>(k);
                const double next = ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
                before = value;
                value = next;
            }
            slope = size * (x * value - before) / (x * x - 1.0);
            const double step = value / slope;
            x -= step;
            if (std::abs(step) < 1e-16) break;
        }
        rule.points[i] = 0.5 * (1.0 - x);
        rule.weights[i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return rule;
}

const Quadrature& ShapleyChunk::rule(std::size_t n) {
    if (rules.size() <= n) rules.resize(n + 1);
    if (rules[n].points.empty()) rules[n] = gauss_legendre(n);
    return rules[n];
}

std::uint32_t ShapleyChunk::place(std::uint32_t column) {
    const auto [found, is_new] = place_of_.try_emplace(column, static_cast<std::uint32_t>(columns.size()));
    if (is_new) columns.push_back(column);
    return found->second;
}

std::uint32_t ShapleyChunk::pair(std::uint32_t first, std::uint32_t second) {
    const auto [low, high] = std::minmax(first, second);
    const std::uint64_t key = (static_cast<std::uint64_t>(low) << 32) | high;
    const auto [found, is_new] = pair_of_.try_emplace(key, static_cast<std::uint32_t>(pairs.size()));
    if (is_new) pairs.emplace_back(low, high);
    return found->second;
}

namespace {

class Compiler {
public:
    Compiler(const TreeView& tree, const double* cover, const std::vector<double>& values, ShapleyChunk& chunk)
        : tree_(tree), chunk_(chunk), single_(tree.n_nodes, 1), value_(values), mean_(values), share_(tree.n_nodes) {
        for (std::size_t node = tree.n_nodes; node-- > 0;) {  // children come after their parents
            if (tree.features[node] < 0) continue;
            const auto left = static_cast<std::size_t>(tree.left[node]);
            // A node without training weight counts as sending half to each side.
            const double below = std::max(cover[left], 0.0), whole = below + std::max(cover[left + 1], 0.0);
            share_[node] = whole > 0.0 ? below / whole : 0.5;
            mean_[node] = share_[node] * mean_[left] + (1.0 - share_[node]) * mean_[left + 1];
            single_[node] = single_[left] && single_[left + 1] && value_[left] == value_[left + 1];
            value_[node] = value_[left];
        }
    }

    double mean() const { return mean_[0]; }

    void compile() {
        if (single_[0]) return;
        enter(0);
        while (!way_.empty()) {
            Stage& stage = way_.back();
            const auto left = static_cast<std::size_t>(tree_.left[stage.node]);
            if (single_[left] && single_[left + 1]) {
                add(ShapleyStep::kBoth, stage.number);
                leave();
            } else if (stage.side < 0 && !single_[left]) {
                go(stage, 0, ShapleyStep::kLeft);
                enter(left);
            } else if (stage.side < 1 && !single_[left + 1]) {
                go(stage, 1, single_[left] ? ShapleyStep::kRightOnly : ShapleyStep::kRight);
                enter(left + 1);
            } else {
                add(single_[left] ? ShapleyStep::kUpRight : single_[left + 1] ? ShapleyStep::kUpLeft : ShapleyStep::kUp,
                    stage.number);
                leave();
            }
        }
        program_.points = (most_features_ + 1) / 2;
        program_.depth = longest_;
        fill_numbers();
        chunk_.n_nodes += program_.nodes.size();
        chunk_.longest = std::max(chunk_.longest, program_.depth);
        chunk_.most_points = std::max(chunk_.most_points, program_.points);
        chunk_.programs.push_back(std::move(program_));
    }

private:
    // A node of the path from the root to the node that is compiled.
    struct Stage {
        std::size_t node;
        std::uint32_t number;  // index in program_.nodes
        int side;              // on which the path goes on: -1 not yet, 0 left, 1 right
        bool latest;           // no later node of the path tests the same feature
    };

    void add(ShapleyStep::Kind kind, std::uint32_t number) { program_.steps.push_back({kind, number}); }

    void go(Stage& stage, int side, ShapleyStep::Kind kind) {
        stage.side = side;
        add(kind, stage.number);
    }

    void enter(std::size_t node) {
        const auto left = static_cast<std::size_t>(tree_.left[node]);
        ShapleyNode made{};
        made.threshold = tree_.thresholds[node];
        made.share_left = share_[node];
        made.left_value = value_[left];
        made.right_value = value_[left + 1];
        made.column = chunk_.place(static_cast<std::uint32_t>(tree_.features[node]));
        made.set = tree_.sets == nullptr ? -1 : tree_.sets[node];
        made.depth = static_cast<std::uint32_t>(way_.size());
        made.missing_left = tree_.missing_left[node];
        made.above = -1;
        made.pairs_begin = static_cast<std::uint32_t>(program_.pairs.size());
        std::size_t others = 0;
        for (std::size_t depth = 0; depth < way_.size(); ++depth) {
            if (!way_[depth].latest) continue;
            ShapleyNode& upper = program_.nodes[way_[depth].number];
            if (upper.column == made.column) {
                made.above = static_cast<std::int32_t>(depth);
                upper.remembered = 1;
                continue;
            }
            ++others;
            if (!chunk_.with_pairs) continue;
            upper.remembered = 1;
            program_.pairs.push_back({static_cast<std::uint32_t>(depth), chunk_.pair(upper.column, made.column)});
        }
        made.pairs_end = static_cast<std::uint32_t>(program_.pairs.size());
        const double w_above = made.above < 0 ? 1.0 : w_on_way(static_cast<std::size_t>(made.above));
        made.w_left = w_above * share_[node];
        made.w_right = w_above * (1.0 - share_[node]);
        if (made.above >= 0) way_[static_cast<std::size_t>(made.above)].latest = false;
        way_.push_back({node, static_cast<std::uint32_t>(program_.nodes.size()), -1, true});
        program_.nodes.push_back(made);
        most_features_ = std::max(most_features_, others + 1);
        longest_ = std::max(longest_, way_.size());
    }

    void leave() {
        const std::int32_t above = program_.nodes[way_.back().number].above;
        if (above >= 0) way_[static_cast<std::size_t>(above)].latest = true;
        way_.pop_back();
    }

    // w of the node's feature on the path, see ShapleyNode.
    double w_on_way(std::size_t depth) const {
        const ShapleyNode& node = program_.nodes[way_[depth].number];
        return way_[depth].side == 0 ? node.w_left : node.w_right;
    }

    void fill_numbers() {
        const Quadrature& rule = chunk_.rule(program_.points);
        std::vector<std::uint8_t> both(program_.nodes.size(), 0);
        for (const ShapleyStep& step : program_.steps) both[step.node] = step.kind == ShapleyStep::kBoth;
        std::vector<double>& numbers = program_.numbers;
        for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
            ShapleyNode& node = program_.nodes[i];
            node.numbers = static_cast<std::uint32_t>(numbers.size());
            const double w_above = node.w_left + node.w_right, gap = node.left_value - node.right_value;
            for (const double known : {1.0, 0.0})
                for (const double t : rule.points) {
                    const double a = node.above < 0 ? 1.0 : t + (1.0 - t) * w_above;
                    const double share = (known * t + (1.0 - t) * node.w_left) / a;
                    numbers.push_back(both[i] ? node.right_value + share * gap : share);
                }
            if (node.above >= 0)
                for (const double t : rule.points) {
                    const double a = t + (1.0 - t) * w_above;
                    numbers.push_back(1.0 / (a * a));
                }
            if (!chunk_.with_pairs) continue;
            for (const double w : {node.w_left, node.w_right})
                for (const double t : rule.points) numbers.push_back((1.0 - w) / (t + (1.0 - t) * w));
        }
    }

    const TreeView& tree_;
    ShapleyChunk& chunk_;
    std::vector<std::uint8_t> single_;  // 1 if all leaves below a node have equal values
    std::vector<double> value_, mean_, share_;  // by node: that value, mean prediction, fraction that goes left
    std::vector<Stage> way_;
    ShapleyProgram program_;
    std::size_t most_features_ = 0, longest_ = 0;
};

}  // namespace

double add_program(const TreeView& tree, const double* cover, const std::vector<double>& values, ShapleyChunk& chunk) {
    Compiler compiler(tree, cover, values, chunk);
    compiler.compile();
    return compiler.mean();
}

}  // namespace radboost
