// Part of NodeGrower: partitions the rows of nodes between their children, and computes the children's histograms.
#include <algorithm>
#include <utility>

#include "core/hashing.hpp"
#include "core/pool.hpp"
#include "growth/node_grower.hpp"
#include "search/histogram_words.hpp"

namespace radboost {
namespace {

// Nodes of at most this many rows are searched without histograms, which would cost more to clear and scan.
constexpr std::size_t kFewRows = 128;
constexpr std::size_t kNumbersOfNode = 3;  // size of a Division in an all-reduce

}  // namespace

// Assigns categories without growth weight in the node, which are not in Split::placed, to the heavier child.
void NodeGrower::place_other_categories(const Frontier& frontier) {
    constexpr std::size_t kCodes = 256;
    const auto add_others = [&](WorkNode& node) {
        for (std::size_t code = 0; code < data_.n_bins(node.split.column); ++code)
            if (!node.split.placed.has(code)) node.split.left.add(code);
    };
    Frontier unplaced;
    for (const std::size_t index : frontier) {
        WorkNode& node = nodes_[index];
        const Split& split = node.split;
        const std::size_t n_categories = data_.is_categorical[split.column] ? data_.n_bins(split.column) : 0;
        std::size_t n_placed = 0;
        for (std::size_t code = 0; code < n_categories; ++code) n_placed += split.placed.has(code);
        if (n_placed == n_categories) continue;
        if (!node.division)
            unplaced.push_back(index);
        else if (2 * node.division->left_mass >= node.mass)  // the other categories have no rows
            add_others(node);
    }
    if (unplaced.empty()) return;
    std::vector<std::int64_t> masses(unplaced.size() * kCodes, 0);  // shape (n_unplaced, kCodes)
    for (std::size_t k = 0; k < unplaced.size(); ++k) {
        const WorkNode& node = nodes_[unplaced[k]];
        const std::uint8_t* codes = data_.column(node.split.column);
        for (std::size_t i = 0; i < node.n_rows(); ++i) {
            const std::size_t row = node.node.rows[i];
            masses[k * kCodes + codes[row]] += masses_.of(row);
        }
    }
    collective_.sum(masses.data(), masses.size());
    for (std::size_t k = 0; k < unplaced.size(); ++k) {
        const Split& split = nodes_[unplaced[k]].split;
        const std::size_t n_categories = data_.n_bins(split.column);
        const SideTable sides = sides_of(data_, split);
        std::int64_t left = 0, right = 0;
        for (std::size_t code = 0; code < kCodes; ++code) {
            const bool placed = code >= n_categories || split.placed.has(code);
            if (placed) (sides[code] ? left : right) += masses[k * kCodes + code];
        }
        if (left >= right) add_others(nodes_[unplaced[k]]);
    }
}

// Divides each node of the frontier into two children, appended to nodes_ in the same order, ready to be searched.
void NodeGrower::divide(const Frontier& frontier, bool last_layer) {
    place_other_categories(frontier);
    const bool in_place = last_layer && masses_.of_row.empty();
    const std::size_t first_child = nodes_.size();
    for (const std::size_t index : frontier) nodes_[index].left = shared_.n_labels.fetch_add(2);
    divisions_.resize(frontier.size());
    for_each_node(frontier.size(), [&](std::size_t k, int n_threads) {
        divisions_[k] = send_rows(nodes_[frontier[k]], in_place, n_threads);
    });
    for (std::size_t k = 0; k < frontier.size(); ++k) add_children(frontier[k], divisions_[k], last_layer, in_place);
    if (alone_) {
        for (std::size_t k = 0; k < frontier.size(); ++k) {
            const std::size_t left = first_child + 2 * k;
            count_children(frontier[k], left, divisions_[k]);
            if (!last_layer) give_children_histograms(nodes_[frontier[k]], nodes_[left], nodes_[left + 1]);
            give_back(nodes_[frontier[k]]);
        }
        return;
    }
    for (std::size_t begin = 0; begin < frontier.size();)
        begin = add_up_children(frontier, begin, first_child, last_layer);
}

// Partitions the node's rows. in_place: only sets leaf_of_row to the labels of the children, and does not move rows.
NodeGrower::Division NodeGrower::send_rows(const WorkNode& parent, bool in_place, int n_threads) const {
    const Question question{parent.split.column, parent.split.bin, parent.split.missing_left, parent.split.left};
    Partition partition;
    std::int64_t left_mass;
    if (in_place) {
        partition = assign_children(data_, question, parent.node.rows, static_cast<std::int32_t>(parent.left),
                                    static_cast<std::int32_t>(parent.left + 1), shared_.leaf_of_row, n_threads);
        left_mass = static_cast<std::int64_t>(partition.left_count);
    } else {
        std::uint32_t* rows = shared_.rows.data() + parent.begin;
        partition = partition_rows(data_, question, parent.node.rows, rows, shared_.scratch.data() + parent.begin,
                                   n_threads);
        left_mass = masses_.sum({rows, partition.left_count});
    }
    return {static_cast<std::int64_t>(partition.left_count), static_cast<std::int64_t>(partition.missing_count), left_mass};
}

// Appends the children, without the numbers that must be summed over the workers.
void NodeGrower::add_children(std::size_t index, const Division& division, bool last_layer, bool in_place) {
    const WorkNode& parent = nodes_[index];
    const auto left_rows = static_cast<std::size_t>(division.left_count);
    WorkNode children[2];
    for (std::size_t side = 0; side < 2; ++side) {
        WorkNode& child = children[side];
        child.label = parent.left + side;
        child.depth = parent.depth + 1;
        child.key = mix(parent.key, side + 1);
        child.scope = options_.interactions.below(parent.scope, parent.split.column);
        child.begin = parent.begin + (side == 0 ? 0 : left_rows);
        if (in_place) continue;
        child.node.rows = {shared_.rows.data() + child.begin, side == 0 ? left_rows : parent.n_rows() - left_rows};
    }
    if (!last_layer) statistics_->describe_children(parent.node, parent.split, children[0].node, children[1].node);
    nodes_.push_back(std::move(children[0]));
    nodes_.push_back(std::move(children[1]));
}

// Sets count and mass of the children, given the division of the rows of all workers.
void NodeGrower::count_children(std::size_t index, std::size_t left, const Division& division) {
    WorkNode& parent = nodes_[index];
    const auto left_count = static_cast<std::size_t>(division.left_count);
    // If no value is missing in the node, missing values at prediction follow the heavier child.
    parent.missing_left = division.missing_count > 0 ? parent.split.missing_left : 2 * division.left_mass >= parent.mass;
    for (std::size_t side = 0; side < 2; ++side) {
        WorkNode& child = nodes_[left + side];
        child.mass = child.node.mass = side == 0 ? division.left_mass : parent.mass - division.left_mass;
        child.node.count = side == 0 ? left_count : parent.node.count - left_count;
    }
}

// Several workers: computes what the children of frontier[begin ... end - 1] need, by at most one all-reduce. Returns `end`.
std::size_t NodeGrower::add_up_children(const Frontier& frontier, std::size_t begin, std::size_t first_child,
                                        bool last_layer) {
    bool meet = false;
    std::size_t end = begin;
    for (; end < frontier.size() && (end == begin || sent_.size() * n_words_ < kMostNumbers); ++end) {
        const std::size_t left_child = first_child + 2 * end;
        const WorkNode& parent = nodes_[frontier[end]];
        const bool searched = !last_layer && may_search(left_child);
        if (parent.division)
            count_children(frontier[end], left_child, *parent.division);
        else
            pending_.push_back({frontier[end], left_child, divisions_[end]});
        meet = meet || (searched && !parent.division);
        if (searched && share_histograms_) choose_sent(frontier[end], left_child);
    }
    if (meet || !sent_.empty()) add_up();
    for (std::size_t k = begin; k < end; ++k) give_back(nodes_[frontier[k]]);
    return end;
}

// Sums the pending divisions and histograms over the workers, in one all-reduce, and distributes the results.
void NodeGrower::add_up() {
    numbers_.clear();
    for (const OwnDivision& division : pending_)
        numbers_.insert(numbers_.end(), {division.own.left_count, division.own.missing_count, division.own.left_mass});
    const std::size_t counts = numbers_.size();
    numbers_.resize(counts + sent_.size() * n_words_);
    for_each_node(sent_.size(), [&](std::size_t k, int n_threads) {
        build_own(sent_[k], n_threads);
        write_words(data_, *nodes_[sent_[k].child].own, numbers_.data() + counts + k * n_words_);
    });
    sum_numbers();
    const std::int64_t* sums = numbers_.data();
    for (const OwnDivision& division : pending_) {
        count_children(division.parent, division.left_child, {sums[0], sums[1], sums[2]});
        sums += kNumbersOfNode;
    }
    pending_.clear();
    for_each_node(sent_.size(), [&](std::size_t k, int) {
        take_sums(sent_[k], numbers_.data() + counts + k * n_words_);
    });
    for (const SentChild& sent : sent_)
        for (const std::size_t index : {sent.child, sent.sibling}) {
            WorkNode& node = nodes_[index];
            if (options_.deepest(node.depth + 1)) give_back(node.own);
            if (statistics_->cannot_improve(node.node)) give_back(node);
        }
    sent_.clear();
}

// True if a child of this pair, not in the last layer, may be searched.
bool NodeGrower::may_search(std::size_t left_child) const {
    return options_.growth == Growth::stump_pair || !statistics_->cannot_improve(nodes_[left_child].node) ||
           !statistics_->cannot_improve(nodes_[left_child + 1].node);
}

// Chooses the child whose histograms are summed over the workers: the lighter one, since all workers know the weights. Each
// worker builds those of the child with fewer of its own rows, and subtracts them from the parent's for the other.
void NodeGrower::choose_sent(std::size_t parent, std::size_t left) {
    WorkNode &first = nodes_[left], &second = nodes_[left + 1];
    if (!nodes_[parent].histograms || !nodes_[parent].own || n_lent_ + 2 > most_lent_) return;
    if (statistics_->cannot_improve(first.node) && statistics_->cannot_improve(second.node)) return;
    const bool first_sent = statistics_->weight(first.node) <= statistics_->weight(second.node);
    (first.n_rows() <= second.n_rows() ? first : second).own = lend();
    (first_sent ? first : second).histograms = lend();
    sent_.push_back({parent, first_sent ? left : left + 1, first_sent ? left + 1 : left});
}

void NodeGrower::build_own(const SentChild& sent, int n_threads) {
    WorkNode &child = nodes_[sent.child], &sibling = nodes_[sent.sibling];
    WorkNode &few = child.own ? child : sibling, &many = child.own ? sibling : child;
    build(few, *few.own, n_threads);
    const bool last = options_.deepest(child.depth + 1);
    if (last && &few == &child) return;
    many.own = std::move(nodes_[sent.parent].own);
    statistics_->subtract(few.node, few.own.get(), search_of(many), *many.own);
}

// Reads the summed histograms of the sent child; its sibling's are the parent's minus these.
void NodeGrower::take_sums(const SentChild& sent, const std::int64_t* words) {
    WorkNode &child = nodes_[sent.child], &sibling = nodes_[sent.sibling];
    read_words(data_, words, *child.own, *child.histograms);
    sibling.histograms = std::move(nodes_[sent.parent].histograms);
    statistics_->subtract(child.node, child.histograms.get(), search_of(sibling), *sibling.histograms);
}

// All-reduce of numbers_; the identity with one worker.
void NodeGrower::sum_numbers() {
    for (std::size_t first = 0; !alone_ && first < numbers_.size(); first += kMostNumbers)
        collective_.sum(numbers_.data() + first, std::min(kMostNumbers, numbers_.size() - first));
}

// One worker: true if the node is to be searched by histograms.
bool NodeGrower::wants_histogram(const WorkNode& node) const {
    return alone_ && full_search() && node.n_rows() > kFewRows && !options_.deepest(node.depth) &&
           !statistics_->cannot_improve(node.node);
}

// Takes histograms from the pool of spare ones, to reuse their memory; give_back returns them.
std::unique_ptr<NodeHistograms> NodeGrower::lend() {
    ++n_lent_;
    if (spare_.empty()) return std::make_unique<NodeHistograms>();
    auto histograms = std::move(spare_.back());
    spare_.pop_back();
    return histograms;
}

void NodeGrower::give_back(std::unique_ptr<NodeHistograms>& histograms) {
    if (!histograms) return;
    --n_lent_;
    spare_.push_back(std::move(histograms));
}

void NodeGrower::give_back(WorkNode& node) {
    give_back(node.histograms);
    give_back(node.own);
}

void NodeGrower::build(const WorkNode& node, NodeHistograms& out, int n_threads) {
    SplitSearch search = search_of(node);
    search.n_threads = n_threads;
    statistics_->build(node.node, search, out);
}

// One worker: builds the smaller child's histograms and subtracts them from the parent's, which become the larger child's.
void NodeGrower::give_children_histograms(WorkNode& parent, WorkNode& left, WorkNode& right) {
    WorkNode& smaller = left.n_rows() <= right.n_rows() ? left : right;
    WorkNode& larger = &smaller == &left ? right : left;
    const auto give = [&](WorkNode& node) {
        node.histograms = lend();
        build(node, *node.histograms, n_threads_);
    };
    if (wants_histogram(smaller)) give(smaller);
    if (!wants_histogram(larger)) return;
    if (!parent.histograms) return give(larger);
    larger.histograms = std::move(parent.histograms);
    statistics_->subtract(smaller.node, smaller.histograms.get(), search_of(larger), *larger.histograms);
}

}  // namespace radboost
