// The last resort: a likelihood of which only log p(y|f) is known, for one function per target.
//   log Z = log sum_k w_k exp(alpha log p(y | m + sqrt(v) z_k)),                  [generic-log-z]
// with nodes z_k of Gauss and Hermite, or standard normal draws that are the same in every call
// (common random numbers, in pairs z and -z), so that log Z is a smooth function whose gradient is
// exact. It is biased for a finite number of nodes; docs/how-to/cpp.md says by how much.
//
//   const auto laplace = std::make_shared<GenericLikelihood>(GenericOptions{
//       .name = "laplace",
//       .log_density = [](double y, double f) { return -std::abs(y - f) / 0.3 - std::log(0.6); }});
//   RegisterLikelihood(laplace);  // from here on recipes and model files may name it
#ifndef FATHOM_LIKELIHOOD_GENERIC_H_
#define FATHOM_LIKELIHOOD_GENERIC_H_

#include <cstdint>
#include <functional>

#include "fathom/base/export.h"
#include "fathom/likelihood/likelihood.h"

namespace fathom FATHOM_PUBLIC {

struct GenericOptions {
  std::string name;
  // log p(y|f), normalised over y. Called by several threads at once.
  std::function<double(double y, double f)> log_density;
  // d log p / df; if it is empty, by central differences, to about 1e-9.
  std::function<double(double y, double f)> slope = {};

  enum class Values { kReal, kPositive, kCounts };
  Values values = Values::kReal;  // that y can have
  bool scaled_targets = false;    // whether y may be shifted and scaled to variance 1 beforehand

  enum class Nodes { kGaussHermite, kMonteCarlo };
  Nodes nodes = Nodes::kGaussHermite;
  Index num_nodes = 20;
  std::uint64_t seed = 1;  // of Monte Carlo
};

class GenericLikelihood : public Likelihood {
 public:
  // Throws Error for options that make no sense.
  explicit GenericLikelihood(GenericOptions options);

  std::string Name() const override { return options_.name; }
  Index NumParameters(Index /*outputs*/) const override { return 0; }
  Vector InitialParameters(Index /*outputs*/, double /*noise*/) const override { return {}; }
  bool TakesScaledTargets() const override { return options_.scaled_targets; }
  std::string TargetRule(Index outputs, double y) const override;
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  // By integrals (or sums) of the density over y, which must have one mode: 0.1 to 1 ms each.
  void Observe(const Vector& parameters, Moments* moments) const override;
  bool ObservesGaussian() const override { return false; }
  bool IsDiscrete() const override { return options_.values == GenericOptions::Values::kCounts; }
  double Tail(const Vector& parameters, Index target, double y, const double* m, const double* v,
              bool upper) const override;

 private:
  // log sum_k w_k exp(alpha l_k), or sum_k w_k l_k for alpha = 0, and d of it / d l_k.
  double Mix(double alpha, double y, double m, double sd, Vector* share) const;
  double LogDensity(double y, double m, double v) const;

  GenericOptions options_;
  Vector nodes_, weights_;
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_GENERIC_H_
