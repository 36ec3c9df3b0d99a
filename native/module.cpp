// Defines the Python module radboost._native. Bindings only convert arrays and release the GIL around calls of the core.
#include "bindings/arrays.hpp"

NB_MODULE(_native, m) {
    // Objects that other modules hold until Python exits are not leaks; nanobind would print warnings about them.
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
