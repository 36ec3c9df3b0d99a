// The Python module. Its bindings pass arrays in and out and release the GIL in between: no arithmetic there.
#include "bindings/arrays.hpp"

NB_MODULE(_native, m) {
    // Models that other modules hold until Python ends are not leaks, and no business of the user's.
    nanobind::set_leak_warnings(false);
    radboost::bind_collective(m);
    radboost::bind_data(m);
    radboost::bind_rows(m);
    radboost::bind_trees(m);
    radboost::bind_given_weights(m);
    radboost::bind_softmax(m);
    radboost::bind_gradient(m);
    radboost::bind_sparse(m);
    radboost::bind_functions(m);
    radboost::bind_masks(m);
    radboost::bind_automata(m);
}
