#include "growth/given_weights.hpp"

#include <algorithm>
#include <utility>

namespace radboost {

// A copy of the rows of one problem, sorted by class, and a grower that refers to it.
struct WeightedTrees::Workspace {
    BinnedData data;
    GivenWeighting weighting;
    std::unique_ptr<Grower> grower;   // null before the first problem: a grower needs rows
    std::vector<std::size_t> places;  // next output position of each class
    std::vector<std::uint32_t> rows, weights;
    std::vector<std::uint16_t> classes;
    std::vector<double> counts;

    Workspace(const BinnedData& all, std::size_t n_classes, const Collective& collective)
        : data(all.without_rows()), weighting(n_classes, collective) {}

    void gather(const BinnedData& all, const GivenRows& problem) {
        sort_by_class(problem, weighting.n_classes());
        data.take_rows(all, rows.data(), problem.size);
        weighting.take({rows.data(), classes.data(), weights.data(), problem.counts ? counts.data() : nullptr, problem.size});
    }

private:
    // Stable counting sort.
    void sort_by_class(const GivenRows& problem, std::size_t n_classes) {
        places.assign(n_classes + 1, 0);
        for (std::size_t i = 0; i < problem.size; ++i) ++places[problem.classes[i] + std::size_t{1}];
        for (std::size_t c = 0; c < n_classes; ++c) places[c + 1] += places[c];
        rows.resize(problem.size);
        weights.resize(problem.size);
        classes.resize(problem.size);
        counts.reserve(problem.size + 1);  // data() must not be null, even without rows
        if (problem.counts) counts.resize(problem.size);
        for (std::size_t i = 0; i < problem.size; ++i) {
            const std::size_t place = places[problem.classes[i]]++;
            rows[place] = problem.rows[i];
            weights[place] = problem.weights[i];
            classes[place] = problem.classes[i];
            if (problem.counts) counts[place] = problem.counts[i];
        }
    }
};

WeightedTrees::WeightedTrees(const BinnedData& data, std::size_t n_classes, const GrowthOptions& options,
                             const Collective& collective)
    : data_(data), n_classes_(n_classes), options_(options), collective_(collective) {
    require(n_classes >= 2 && n_classes <= 65534, "the number of classes must lie between 2 and 65534");
    require(options.growth != Growth::stump_pair, "stump pairs are not grown on given weights");
    data.lay_out_rows(options.n_threads);
}

WeightedTrees::~WeightedTrees() = default;

std::unique_ptr<WeightedTrees::Workspace> WeightedTrees::borrow() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return std::make_unique<Workspace>(data_, n_classes_, collective_);
    std::unique_ptr<Workspace> workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
}

void WeightedTrees::give_back(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(workspace));
}

AnsweringTree WeightedTrees::grow(const GivenRows& problem, std::uint64_t round, InterruptCheck check) {
    for (std::size_t i = 0; i < problem.size; ++i) {
        require(problem.rows[i] < data_.n_rows, "row index out of range");
        require(problem.classes[i] < n_classes_, "a row has a class that does not exist");
    }
    std::unique_ptr<Workspace> workspace = borrow();
    workspace->gather(data_, problem);
    if (workspace->grower)
        workspace->grower->retarget();
    else
        workspace->grower = std::make_unique<Grower>(workspace->data,
                                                     class_target(workspace->weighting, options_.criterion), options_);
    Grower& grower = *workspace->grower;
    grower.grow(round, check);
    const double gain_unit = kGrowthScale / static_cast<double>(workspace->weighting.total_growth());
    AnsweringTree tree(grower.tree(), data_, n_classes_, grower.mass_scale(), gain_unit);
    give_back(std::move(workspace));
    return tree;
}

}  // namespace radboost
