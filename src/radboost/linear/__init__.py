"""The linear problem of boosting with structural sparsity: columns, their prices, and solvers."""
