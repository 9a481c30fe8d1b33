#include "fathom/likelihood/observed.h"

#include <utility>

namespace fathom {

namespace {

class Observed : public Observation {
 public:
  Observed(std::shared_ptr<const Likelihood> likelihood, Vector parameters, Index outputs)
      : likelihood_(std::move(likelihood)), parameters_(std::move(parameters)), outputs_(outputs) {}

  Index targets() const override { return likelihood_->NumTargets(outputs_); }
  bool discrete() const override { return likelihood_->IsDiscrete(); }
  Moments Observe(Moments f) const override {
    likelihood_->Observe(parameters_, &f);
    return f;
  }
  double LogDensity(const double* y, const double* m, const double* v) const override {
    // The slopes are not needed, but cost less than a second way to the same number.
    Matrix slopes(2, outputs_);
    Vector d_parameters = Vector::Zero(parameters_.size());
    return likelihood_->LogZ({parameters_, /*alpha=*/1, outputs_, y, m, v},
                             {slopes.row(0).data(), slopes.row(1).data(), d_parameters.data()});
  }
  double Tail(Index target, double y, const double* m, const double* v, bool upper) const override {
    return likelihood_->Tail(parameters_, target, y, m, v, upper);
  }

 private:
  std::shared_ptr<const Likelihood> likelihood_;
  Vector parameters_;
  Index outputs_;
};

}  // namespace

std::shared_ptr<const Observation> MakeObservation(std::shared_ptr<const Likelihood> likelihood,
                                                   const Vector& parameters, Index outputs) {
  if (likelihood->ObservesGaussian()) return nullptr;
  return std::make_shared<Observed>(std::move(likelihood), parameters, outputs);
}

}  // namespace fathom
