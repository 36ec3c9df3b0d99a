// Binds stateless functions of core/, losses/, members/ and predict/.
#include "bindings/arrays.hpp"

#include <cmath>

#include "core/exact_math.hpp"
#include "members/kernels.hpp"
#include "core/processor.hpp"
#include "losses/margin_losses.hpp"
#include "members/slopes.hpp"
#include "predict/linear_rows.hpp"

namespace radboost {

void bind_functions(nb::module_& m) {
    m.def("instruction_set", &instruction_set);
    m.def("exp", &exact_exp);
    m.def("log", [](double x) {
        require(x >= 0x1p-1022 && std::isfinite(x), "log needs a positive number");
        return exact_log(x);
    });
    m.def("slope", &slope, nb::arg("growing"), nb::arg("shrinking"), nb::arg("weight"), nb::arg("threshold"),
          nb::arg("signed"));
    m.def("descents",
          [](Vector<double> growing, Vector<double> shrinking, Vector<double> weights, Vector<double> prices,
             double scale, bool is_signed, bool only_shrinking, double tolerance) {
              const std::size_t n_slots = growing.size();
              require(shrinking.size() == n_slots && weights.size() >= n_slots && prices.size() >= n_slots,
                      "every slot needs a weight and a price");
              return descents(growing.data(), shrinking.data(), weights.data(), prices.data(), n_slots,
                              {scale, is_signed, only_shrinking, tolerance});
          },
          nb::arg("growing"), nb::arg("shrinking"), nb::arg("weights"), nb::arg("prices"), nb::arg("scale"),
          nb::kw_only(), nb::arg("signed"), nb::arg("only_shrinking"), nb::arg("tolerance"));
    m.def("evaluate_loss", [](const std::string& loss, Vector<double> u) {
        std::vector<double> value(u.size()), derivative(u.size());
        evaluate_loss(margin_loss_named(loss), u.data(), u.size(), value.data(), derivative.data());
        return std::make_pair(as_array(std::move(value)), as_array(std::move(derivative)));
    });
    m.def("linear_rows", [](CMatrix<double> X, CMatrix<double> weights, int n_threads) {
        require(weights.shape(0) == X.shape(1), "every column needs its weights");
        std::vector<double> out(X.shape(0) * weights.shape(1));
        {
            nb::gil_scoped_release release;
            linear_rows(X.data(), X.shape(0), X.shape(1), weights.data(), weights.shape(1), n_threads, out.data());
        }
        return as_array(std::move(out));
    });
    m.def("kernel_values", [](const std::string& name, double gamma, CMatrix<double> centres, CMatrix<double> X,
                              int n_threads) {
        require(name == "rbf" || name == "laplacian" || name == "cosine", "unknown kernel");
        require(centres.shape(1) == X.shape(1), "centres and rows have different numbers of columns");
        const Kernel kernel = name == "rbf" ? Kernel::rbf : name == "laplacian" ? Kernel::laplacian : Kernel::cosine;
        std::vector<float> out(centres.shape(0) * X.shape(0));
        {
            nb::gil_scoped_release release;
            kernel_values(kernel, gamma, centres.data(), centres.shape(0), X.data(), X.shape(0), X.shape(1), n_threads,
                          out.data());
        }
        return as_array(std::move(out));
    });
}

}  // namespace radboost
