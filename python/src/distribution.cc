#include "python/src/distribution.h"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include "fathom/fitted/prediction_arrays.h"
#include "python/src/model.h"

namespace fathom::python {

namespace py = pybind11;

namespace {

using Unlocked = py::call_guard<py::gil_scoped_release>;

void BindRowByRow(py::module_* module) {
  py::class_<Distribution>(*module, "Distribution", "The predictive distribution of some rows.")
      .def_property_readonly("rows", [](const Distribution& y) { return y.prediction().rows(); })
      .def_property_readonly("outputs",
                             [](const Distribution& y) { return y.prediction().outputs(); })
      .def_property_readonly("discrete",
                             [](const Distribution& y) { return y.prediction().discrete(); })
      .def(
          "mean", [](const Distribution& y) { return y.prediction().Mean(); }, Unlocked())
      .def(
          "std",
          [](const Distribution& y) { return Matrix(y.prediction().Variance().cwiseSqrt()); },
          Unlocked())
      .def(
          "quantiles",
          [](const Distribution& y, const std::vector<double>& probabilities) {
            return Quantiles(y.prediction(), probabilities, y.pool());
          },
          py::arg("probabilities"), Unlocked())
      .def(
          "cdf",
          [](const Distribution& y, const Matrix& at) {
            return Cdfs(y.prediction(), at, y.pool());
          },
          py::arg("at"), Unlocked())
      .def(
          "log_density",
          [](const Distribution& y, const Matrix& at) {
            return LogDensities(y.prediction(), at, y.pool());
          },
          py::arg("at"), Unlocked())
      .def(
          "crps",
          [](const Distribution& y, const Matrix& at) {
            return CrpsOf(y.prediction(), at, y.pool());
          },
          py::arg("at"), Unlocked())
      .def(
          "draws",
          [](const Distribution& y, Index samples, std::uint64_t seed) {
            return Draws(y.prediction(), samples, seed, y.pool());
          },
          py::arg("samples"), py::arg("seed"), Unlocked());
}

void BindTogether(py::module_* module) {
  py::class_<JointDistribution>(*module, "JointDistribution",
                                "The predictive distribution of some rows together.")
      .def_property_readonly("outputs",
                             [](const JointDistribution& y) { return y.prediction().targets(); })
      .def(
          "mean", [](const JointDistribution& y) { return y.prediction().Mean(); }, Unlocked())
      .def(
          "covariances",
          [](const JointDistribution& y) { return y.prediction().Covariances(y.pool()); },
          Unlocked())
      .def(
          "draws",
          [](const JointDistribution& y, Index samples, std::uint64_t seed) {
            return y.prediction().Draws(samples, seed, y.pool());
          },
          py::arg("samples"), py::arg("seed"), Unlocked());
}

}  // namespace

void BindDistribution(py::module_* module) {
  BindRowByRow(module);
  BindTogether(module);
}

}  // namespace fathom::python
