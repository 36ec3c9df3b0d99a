"""C functions that make probabilities of scores, without a library: they have an exponential function of their own."""

from __future__ import annotations

from radboost.export.parts import ExportedOutput, formula_of, refuse_probabilities
from radboost.losses.link import Link

# The link "balance" works on a square of numbers on the stack.
MOST_BALANCED = 64

EXP = """
/* e^v, with a relative error of about 1e-16; v is cut at 709. */
static double NAME_exp(double v)
{
    double rest, sum = 1.0, scale = 1.0, power;
    int k, i;
    if (v > 709.0) v = 709.0;
    if (v < -745.0) return 0.0;
    k = (int)(v * 1.4426950408889634 + (v < 0.0 ? -0.5 : 0.5));
    rest = (v - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    for (i = 14; i > 0; --i) sum = 1.0 + rest * sum / i;
    power = k < 0 ? 0.5 : 2.0;
    for (i = k < 0 ? -k : k; i > 0; i >>= 1) {
        if (i & 1) scale *= power;
        if (i > 1) power *= power;
    }
    return sum * scale;
}
"""
LOGISTIC = """
static double NAME_logistic(double v)
{
    const double small = NAME_exp(v < 0.0 ? v : -v);
    return (v < 0.0 ? small : 1.0) / (1.0 + small);
}
"""
LOG = """
/* The logarithm of v, from 0 to 1, by that of (1 + z) / (1 - z). */
static double NAME_log(double v)
{
    double z, sum = 0.0;
    int halves = 0, i;
    if (v <= 0.0) return -1e300;
    for (; v < 0.70710678118654752; v *= 2.0) --halves;
    z = (v - 1.0) / (v + 1.0);
    for (i = 23; i > 0; i -= 2) sum = 1.0 / i + z * z * sum;
    return halves * 6.93147180559945286227e-01 + 2.0 * z * sum;
}
"""
NORMALIZE = """
    for (k = 0; k < K; ++k) total += p[k];
    for (k = 0; k < K; ++k) p[k] /= total;
"""
LARGEST = """
    for (k = 1; k < K; ++k)
        if (f[k] > largest) largest = f[k];
"""
BODIES = {
    "logistic": """
    p[0] = NAME_logistic(-SCALE * f[0]);
    p[1] = NAME_logistic(SCALE * f[0]);
""",
    "offset_logistic": """
    const double first = NAME_logistic(1.0 - f[0]), second = NAME_logistic(1.0 + f[0]);
    p[0] = first / (first + second);
    p[1] = second / (first + second);
""",
    "softmax": f"""
    double largest = f[0], total = 0.0;
    int k;{LARGEST}    for (k = 0; k < K; ++k) p[k] = NAME_exp(SCALE * (f[k] - largest));{NORMALIZE}""",
    "logistic_shares": f"""
    double largest = f[0], total = 0.0;
    int k;{LARGEST}    largest *= SCALE;
    for (k = 0; k < K; ++k) {{
        const double v = SCALE * f[k];
        /* the logistic function of v over that of the largest */
        p[k] = NAME_exp((v < 0.0 ? v : 0.0) - (largest < 0.0 ? largest : 0.0));
        p[k] *= (1.0 + NAME_exp(largest < 0.0 ? largest : -largest)) / (1.0 + NAME_exp(v < 0.0 ? v : -v));
    }}{NORMALIZE}""",
    "compsum": f"""
    double largest = f[0], total = 0.0, sum = 0.0;
    int k;{LARGEST}    for (k = 0; k < K; ++k) sum += p[k] = NAME_exp(f[k] - largest);
    for (k = 0; k < K; ++k) p[k] *= p[k] + 2.718281828459045 * (sum - p[k]);{NORMALIZE}""",
    # Grassmann, Taksar and Heyman (1985), as in radboost.objectives.sum.
    "balance": """
    /* The balance of a Markov chain; classes are eliminated from the lowest score to the highest. */
    double rates[K][K], shares[K], total = 0.0;
    int order[K], i, j, last;
    for (i = 0; i < K; ++i) {
        for (j = i; j > 0 && f[order[j - 1]] < f[i]; --j) order[j] = order[j - 1];
        order[j] = i;
    }
    for (i = 0; i < K; ++i)
        for (j = 0; j < K; ++j) rates[i][j] = NAME_logistic(1.0 + f[order[j]] - f[order[i]]);
    for (last = K - 1; last > 0; --last) {
        double away = 0.0;
        for (j = 0; j < last; ++j) away += rates[last][j];
        for (i = 0; i < last; ++i) {
            rates[i][last] /= away;
            for (j = 0; j < last; ++j) rates[i][j] += rates[i][last] * rates[last][j];
        }
    }
    shares[0] = 1.0;
    for (i = 1; i < K; ++i) {
        shares[i] = 0.0;
        for (j = 0; j < i; ++j) shares[i] += shares[j] * rates[j][i];
    }
    for (i = 0; i < K; ++i) total += shares[i];
    for (i = 0; i < K; ++i) p[order[i]] = shares[i] / total;
""",
}
NEEDS_LOGISTIC = ("logistic", "offset_logistic", "balance")
RULE = """
/* Probabilities of scores, before calibration. */
static void NAME_rule(const double *f, double *p)
{BODY}
"""
VOTES = f"""
/* Probabilities times (ground + score - lowest score)^power, divided by their sum. */
static void NAME_votes(const double *f, double *p)
{{
    double largest = f[0], lowest = f[0], total = 0.0;
    int k;{LARGEST}    for (k = 1; k < K; ++k)
        if (f[k] < lowest) lowest = f[k];
    for (k = 0; k < K; ++k)
        p[k] *= NAME_exp(POWER * NAME_log((GROUND + (f[k] - lowest)) / (GROUND + (largest - lowest))));{NORMALIZE}}}
"""
CALL_VOTES = "    NAME_votes(scores, probabilities);\n"
PROBABILITIES = f"""
/* The probability of each class. */
void NAME_probabilities(const double *x, double *probabilities)
{{
    double scores[N], divided[N];
    int k;
    NAME_scores(x, scores);
    for (k = 0; k < N; ++k) divided[k] = scores[k] / TEMPERATURE;
    NAME_rule(divided, probabilities);
{CALL_VOTES}    for (k = 0; k < K; ++k) probabilities[k] = (1.0 - DOUBT) * probabilities[k] + DOUBT / K;
}}
"""
CHEAPEST = """
/* The class with the least expected cost, as its index in the list of classes above. */
int NAME_predict(const double *x)
{
    static const double costs[K][K] = COSTS;
    double scores[N], p[K], least = 0.0;
    int c, k, best = 0;
    NAME_scores(x, scores);
    NAME_rule(scores, p);
    for (k = 0; k < K; ++k) {
        double cost = 0.0;
        for (c = 0; c < K; ++c) cost += p[c] * costs[c][k];
        if (k == 0 || cost < least) {
            least = cost;
            best = k;
        }
    }
    return best;
}
"""
SIGN = """
/* The predicted class, as its index in the list of classes above. */
int NAME_predict(const double *x)
{
    double score;
    NAME_scores(x, &score);
    return score > 0.0;
}
"""
LARGEST_SCORE = """
/* The predicted class, as its index in the list of classes above. */
int NAME_predict(const double *x)
{
    double scores[N];
    int k, best = 0;
    NAME_scores(x, scores);
    for (k = 1; k < N; ++k)
        if (scores[k] > scores[best]) best = k;
    return best;
}
"""
NUMBER = """
/* The prediction. */
double NAME_predict(const double *x)
{
    double score;
    NAME_scores(x, &score);
    return score;
}
"""
NUMBERS = """
/* A prediction for each target. */
void NAME_predict(const double *x, double *predictions)
{
    NAME_scores(x, predictions);
}
"""
EXPONENTIALS = """
/* A prediction for each target: e to the power of its score. */
void NAME_predict(const double *x, double *predictions)
{
    int k;
    NAME_scores(x, predictions);
    for (k = 0; k < N; ++k) predictions[k] = NAME_exp(predictions[k] < -708.0 ? -708.0 : predictions[k]);
}
"""
EXPONENTIAL = """
/* The prediction: e to the power of the score. */
double NAME_predict(const double *x)
{
    double score;
    NAME_scores(x, &score);
    return NAME_exp(score < -708.0 ? -708.0 : score);
}
"""


TASKS = """
/* For each task the index of its label in the list above. */
void NAME_predict(const double *x, int *labels)
{
    double scores[N];
    int k;
    NAME_scores(x, scores);
    for (k = 0; k < N; ++k) labels[k] = scores[k] > 0.0;
}
"""
TASK_PROBABILITIES = """
/* For each task the probability of its second label. */
void NAME_probabilities(const double *x, double *probabilities)
{
    int k;
    NAME_scores(x, probabilities);
    for (k = 0; k < N; ++k) probabilities[k] = NAME_logistic(probabilities[k]);
}
"""


def link_functions(link: Link) -> str:
    """`NAME_rule` and what it calls."""
    body = formula_of(link, BODIES)
    logistic = LOGISTIC if link.name in NEEDS_LOGISTIC else ""
    return EXP + logistic + RULE.replace("BODY", "{" + body + "}").replace("SCALE", link.scale.hex())


def check_stack(link: Link, output: ExportedOutput) -> None:
    if link.name == "balance" and output.n_classes > MOST_BALANCED:
        refuse_probabilities(
            f"objective='sum' with the logistic loss takes the square of {output.n_classes} classes in numbers on the "
            f"stack, and C code is made for at most {MOST_BALANCED} classes"
        )
