// Multi-class objectives: the loss of a row as a function of its class scores. Kuznetsov, Mohri and Syed (2014), Multi-Class
// Deep Boosting, equations (6) to (9). Notation as in class_kernels.hpp; ClassScores (rows/) evaluates them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "losses/class_kernels.hpp"
#include "losses/margin_losses.hpp"

namespace radboost {

// How the loss of a row depends on its wrong classes, that is, which partial derivatives by their scores differ.
enum class WrongAnswers {
    each,    // a derivative for every wrong class
    alike,   // one derivative per row, for all wrong classes; a function of the row's margin
    largest  // one derivative per row, for the wrong classes with the largest score; 0 for the others
};

// A block of rows of one class in a line search, scores + eta h; h predicts at most one class per row. Arrays are by row.
struct LineBlock {
    ClassBlock rows;
    const std::int32_t* margins;  // weighted sums of margins, for WrongAnswers::alike; otherwise null
    const double *loss, *pull;    // at eta = 0: loss, and sum of the derivatives by wrong classes (BlockTerms::slope)
    const float* rho;             // margin of h: h if it predicts the own class, -h if a wrong one, 0 if none
    bool vertices;                // all rho are -1, 0 or 1
    double *part, *other;         // written by `prepare_line` for `along`; their meaning depends on the objective
    double* work;                 // scratch of `along`
    double *value, *slope;        // output of `along`: loss and its derivative by eta
};

class ClassObjective {
public:
    ClassObjective(std::string name, WrongAnswers wrong_answers) : name(std::move(name)), wrong_answers(wrong_answers) {}
    virtual ~ClassObjective() = default;

    const std::string name;
    const WrongAnswers wrong_answers;

    // Throws if the objective is not defined with this loss. No loss: a user's own Phi, which Python evaluates.
    virtual void require_fits(std::optional<MarginLoss>) const {}
    // Fills out.slope and out.loss and, for WrongAnswers::each, out.terms and out.scale. `largest`: from `largest_wrong`.
    virtual void evaluate(const ClassBlock& rows, const std::int32_t* largest, const std::int32_t* margins, MarginLoss loss,
                          const BlockTerms& out) const = 0;
    // Fills part and other of `line`. answers[r]: the class that h predicts in row r, or n_classes if it abstains.
    virtual void prepare_line(const LineBlock& line, const std::uint16_t* answers, MarginLoss loss) const = 0;
    // Fills slope and, if want_loss, value of `line` at step eta.
    virtual void along(const LineBlock& line, MarginLoss loss, double eta, bool want_loss) const = 0;
};

// The objective "sum", "compsum", "maxsum" or "max"; throws for another name.
const ClassObjective& class_objective_named(const std::string& name);

}  // namespace radboost
