// What a row costs with several classes, by the scores of all classes: Multi-Class Deep Boosting, equations (6) to (9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "losses/class_kernels.hpp"
#include "losses/margin_losses.hpp"

namespace radboost {

// Which answers raise the cost of a row, and at what rate.
enum class WrongAnswers {
    each,    // every wrong class at a rate of its own
    alike,   // every wrong class at the one rate of the row, which its margin alone determines
    largest  // the wrong classes with the largest score, at the rate of the row
};

// Rows of one class on the line scores + eta h, where h gives one class of each row something, or none.
struct LineBlock {
    ClassBlock rows;
    const std::int32_t* margins;  // where the answers count alike; null elsewhere
    const double *loss, *pull;    // of each row at eta = 0: its cost, and the sum of its rates
    const float* rho;             // h(own class) - h(answer)
    bool vertices;                // all rho are -1, 0 or 1
    double *part, *other;         // what `prepare_line` leaves for `along`, one number for each row
    double* work;                 // of `along`, room for one number for each row
    double *value, *slope;        // what `along` finds: the cost of each row and its derivative in eta
};

class ClassObjective {
public:
    ClassObjective(std::string name, WrongAnswers wrong_answers) : name(std::move(name)), wrong_answers(wrong_answers) {}
    virtual ~ClassObjective() = default;

    const std::string name;
    const WrongAnswers wrong_answers;

    // Without a loss, Phi and Phi' are evaluated elsewhere: at u(y) of each class, or at the one argument of each row.
    // Throws where it does not go with the loss.
    virtual void require_fits(std::optional<MarginLoss>) const {}
    // Where each wrong answer has its rate: terms, scale, slope and loss of `out`. Elsewhere slope and loss; `largest` are
    // the scores of `largest_wrong`.
    virtual void evaluate(const ClassBlock& rows, const std::int32_t* largest, const std::int32_t* margins, MarginLoss loss,
                          const BlockTerms& out) const = 0;
    // `answers`: the class that h gives something in each row, `classes` where there is none.
    virtual void prepare_line(const LineBlock& line, const std::uint16_t* answers, MarginLoss loss) const = 0;
    // Without `want_loss` the values may be left as they are.
    virtual void along(const LineBlock& line, MarginLoss loss, double eta, bool want_loss) const = 0;
};

// Throws for a name that is not in the table of the objectives.
const ClassObjective& class_objective_named(const std::string& name);

}  // namespace radboost
