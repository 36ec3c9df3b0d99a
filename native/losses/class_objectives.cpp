// The four multi-class objectives. To add one, derive it from ClassObjective and add it to the table at the end. Equation
// numbers are those of Kuznetsov, Mohri and Syed (2014), Multi-Class Deep Boosting.
#include "losses/class_objectives.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

namespace radboost {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kNever = -std::numeric_limits<double>::infinity();

// work = part - eta rho: the arguments u at step eta, given those at 0.
void arguments_along(const LineBlock& line, double eta) {
    for (std::size_t r = 0; r < line.rows.rows; ++r) line.work[r] = line.part[r] - eta * static_cast<double>(line.rho[r]);
}

double cut(double u, MarginLoss loss) {
    return loss == MarginLoss::exponential ? std::min(u, kLargestArgument) : u;
}

bool is_wrong(const ClassBlock& rows, std::uint16_t answer) { return answer != rows.own && answer < rows.classes; }

// u of the predicted class `answer` in row r; not meaningful if it is the own class or n_classes (abstention).
double argument_at(const ClassBlock& rows, std::size_t r, std::uint16_t answer, MarginLoss loss) {
    const std::int32_t* scores = rows.scores + r * rows.classes;
    return class_argument(answer < rows.classes ? scores[answer] - scores[rows.own] : 0, loss);
}

// line.part = portion of sum_c exp(u(c)) that changes with eta, given its logarithm in line.part: all of the sum if h
// predicts the own class, one term (at most the sum) if a wrong class, 0 if none. The sum of row r is all[r] * unit_of_all.
void part_of_sums(const LineBlock& line, const std::uint16_t* answers, double unit_of_all, const double* all) {
    const ClassBlock& rows = line.rows;
    evaluate_loss(MarginLoss::exponential, line.part, rows.rows, line.part, line.slope);
    for (std::size_t r = 0; r < rows.rows; ++r) {
        const double whole = all[r] * unit_of_all;
        line.part[r] = is_wrong(rows, answers[r]) ? std::min(line.part[r], whole) : answers[r] == rows.own ? whole : 0.0;
    }
}

// "sum": the sum of Phi(u(y)) over the wrong classes y, equation (7).
class Sum final : public ClassObjective {
public:
    Sum() : ClassObjective("sum", WrongAnswers::each) {}

    void evaluate(const ClassBlock& rows, const std::int32_t*, const std::int32_t*, MarginLoss loss,
                  const BlockTerms& out) const override {
        class_arguments(rows, loss, out.terms);
        evaluate_loss(loss, out.terms, rows.rows * rows.classes, out.values, out.terms);
        sum_terms(rows, out);
    }

    void prepare_line(const LineBlock& line, const std::uint16_t* answers, MarginLoss loss) const override {
        const std::size_t count = line.rows.rows;
        for (std::size_t r = 0; r < count; ++r) line.part[r] = argument_at(line.rows, r, answers[r], loss);
        if (loss == MarginLoss::exponential) {
            part_of_sums(line, answers, 1.0, line.loss);
            return;
        }
        evaluate_loss(loss, line.part, count, line.value, line.slope);
        for (std::size_t r = 0; r < count; ++r)  // the loss that does not change with eta
            line.other[r] = line.rho[r] < 0 ? line.loss[r] - line.value[r] : line.loss[r];
    }

    void along(const LineBlock& line, MarginLoss loss, double eta, bool) const override {
        const std::size_t count = line.rows.rows;
        if (loss == MarginLoss::exponential) {
            line_factors(line.rho, count, eta, line.vertices, line.work);
            line_exponential(line.part, line.loss, line.rho, line.work, count, line.value, line.slope);
            return;
        }
        arguments_along(line, eta);
        evaluate_loss(loss, line.work, count, line.value, line.slope);
        for (std::size_t r = 0; r < count; ++r) {
            line.slope[r] = -static_cast<double>(line.rho[r]) * line.slope[r];
            line.value[r] = line.rho[r] < 0 ? line.other[r] + line.value[r] : line.other[r];
        }
        along_right_rows(line, loss, eta);
    }

private:
    // Rows in which h predicts the own class: all u(y) change with eta. Gathered into a block of their own.
    static void along_right_rows(const LineBlock& line, MarginLoss loss, double eta) {
        const std::size_t classes = line.rows.classes;
        std::vector<std::size_t> right;
        std::vector<std::int32_t> scores;
        for (std::size_t r = 0; r < line.rows.rows; ++r) {
            if (line.rho[r] <= 0) continue;
            right.push_back(r);
            scores.insert(scores.end(), line.rows.scores + r * classes, line.rows.scores + (r + 1) * classes);
        }
        const ClassBlock rows{scores.data(), right.size(), classes, line.rows.own};
        std::vector<double> terms(scores.size()), values(scores.size()), sums(3 * right.size());
        double *scale = sums.data(), *slope = scale + right.size(), *value = slope + right.size();
        class_arguments(rows, loss, terms.data());
        for (std::size_t k = 0; k < right.size(); ++k)
            for (std::size_t c = 0; c < classes; ++c)
                terms[k * classes + c] -= eta * static_cast<double>(line.rho[right[k]]);
        evaluate_loss(loss, terms.data(), terms.size(), values.data(), terms.data());
        sum_terms(rows, {terms.data(), values.data(), scale, slope, value});
        for (std::size_t k = 0; k < right.size(); ++k) {
            line.value[right[k]] = value[k];
            line.slope[right[k]] = -static_cast<double>(line.rho[right[k]]) * slope[k];
        }
    }
};

// "compsum": log2(1 + sum of exp(u(y)) over the wrong classes y), equation (9).
class CompSum final : public ClassObjective {
public:
    CompSum() : ClassObjective("compsum", WrongAnswers::each) {}

    void require_fits(std::optional<MarginLoss> loss) const override {
        require(loss == MarginLoss::logistic, "compsum needs the logistic loss");
    }

    void evaluate(const ClassBlock& rows, const std::int32_t* largest, const std::int32_t*, MarginLoss,
                  const BlockTerms& out) const override {
        compsum_terms(rows, largest, out);
    }

    void prepare_line(const LineBlock& line, const std::uint16_t* answers, MarginLoss loss) const override {
        for (std::size_t r = 0; r < line.rows.rows; ++r)
            line.part[r] = argument_at(line.rows, r, answers[r], loss) - line.loss[r] * kLn2;
        part_of_sums(line, answers, kLn2, line.pull);
    }

    void along(const LineBlock& line, MarginLoss, double eta, bool want_loss) const override {
        const std::size_t count = line.rows.rows;
        line_factors(line.rho, count, eta, line.vertices, line.work);
        line_compsum(line.part, line.rho, line.work, count, line.slope);
        if (want_loss) line_compsum_loss(line.part, line.loss, line.work, count, line.value);
    }
};

// "maxsum": Phi(1 - s), where s is the weighted sum of the margins of the hypotheses, equation (8).
class MaxSum final : public ClassObjective {
public:
    MaxSum() : ClassObjective("maxsum", WrongAnswers::alike) {}

    void evaluate(const ClassBlock& rows, const std::int32_t*, const std::int32_t* margins, MarginLoss loss,
                  const BlockTerms& out) const override {
        double* u = out.terms;
        for (std::size_t r = 0; r < rows.rows; ++r) u[r] = class_argument(-margins[r], loss);
        evaluate_loss(loss, u, rows.rows, out.loss, out.slope);
    }

    void prepare_line(const LineBlock& line, const std::uint16_t*, MarginLoss loss) const override {
        for (std::size_t r = 0; r < line.rows.rows; ++r) line.part[r] = class_argument(-line.margins[r], loss);
    }

    void along(const LineBlock& line, MarginLoss loss, double eta, bool) const override {
        const std::size_t count = line.rows.rows;
        arguments_along(line, eta);
        for (std::size_t r = 0; r < count; ++r) line.work[r] = cut(line.work[r], loss);
        evaluate_loss(loss, line.work, count, line.value, line.slope);
        for (std::size_t r = 0; r < count; ++r) line.slope[r] = -static_cast<double>(line.rho[r]) * line.slope[r];
    }
};

// "max": the largest Phi(u(y)) over the wrong classes y, equation (6).
class Max final : public ClassObjective {
public:
    Max() : ClassObjective("max", WrongAnswers::largest) {}

    void evaluate(const ClassBlock& rows, const std::int32_t* largest, const std::int32_t*, MarginLoss loss,
                  const BlockTerms& out) const override {
        double* u = out.terms;
        for (std::size_t r = 0; r < rows.rows; ++r)
            u[r] = class_argument(largest[r] - rows.scores[r * rows.classes + rows.own], loss);
        evaluate_loss(loss, u, rows.rows, out.loss, out.slope);
    }

    // `part`: largest u among the classes whose u changes with eta; `other`: largest u among the rest.
    void prepare_line(const LineBlock& line, const std::uint16_t* answers, MarginLoss loss) const override {
        const ClassBlock& rows = line.rows;
        for (std::size_t r = 0; r < rows.rows; ++r) {
            const std::int32_t* scores = rows.scores + r * rows.classes;
            double largest = kNever;
            for (std::size_t c = 0; c < rows.classes; ++c)
                if (c != rows.own && c != answers[r]) largest = std::max(largest, static_cast<double>(scores[c]));
            const double u = cut(1.0 + (largest - scores[rows.own]) / kScoreGrid, loss);
            const bool wrong = is_wrong(rows, answers[r]);
            line.part[r] = wrong ? argument_at(rows, r, answers[r], loss) : u;
            line.other[r] = wrong ? u : kNever;
        }
    }

    void along(const LineBlock& line, MarginLoss loss, double eta, bool) const override {
        const std::size_t count = line.rows.rows;
        arguments_along(line, eta);
        for (std::size_t r = 0; r < count; ++r) line.work[r] = std::max(cut(line.work[r], loss), line.other[r]);
        evaluate_loss(loss, line.work, count, line.value, line.slope);
        for (std::size_t r = 0; r < count; ++r) {
            const bool moves = line.part[r] - eta * static_cast<double>(line.rho[r]) >= line.other[r];
            line.slope[r] = moves ? -static_cast<double>(line.rho[r]) * line.slope[r] : 0.0;
        }
    }
};

}  // namespace

const ClassObjective& class_objective_named(const std::string& name) {
    static const Sum sum;
    static const CompSum compsum;
    static const MaxSum maxsum;
    static const Max max;
    static const ClassObjective* const kObjectives[] = {&sum, &compsum, &maxsum, &max};

    std::string known;
    for (const ClassObjective* objective : kObjectives) {
        if (objective->name == name) return *objective;
        known += (known.empty() ? "" : ", ") + objective->name;
    }
    throw std::invalid_argument("the objectives are " + known);
}

}  // namespace radboost
