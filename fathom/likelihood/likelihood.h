// What an observation model must offer. A new likelihood is one pair of files beside this one, a
// line in MakeLikelihood and a line in the list that likelihood_test.cc checks; one that is not
// part of Fathom derives from Likelihood (or GenericLikelihood) and calls RegisterLikelihood.
#ifndef FATHOM_LIKELIHOOD_LIKELIHOOD_H_
#define FATHOM_LIKELIHOOD_LIKELIHOOD_H_

#include <memory>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

// One row of which log Z is asked: its targets, of which NaN says nothing, and the moments of f.
struct LogZRow {
  const Vector& parameters;
  double alpha;
  Index outputs;
  const double* y;      // [targets]
  const double *m, *v;  // [outputs]
};
// Where its derivatives go: those of m and v [outputs] are written, those of the parameters added.
struct LogZSlopes {
  double *m, *v;
  double* parameters;
};
// The same where f ~ N(m, Cov) jointly. The derivative with respect to Cov is symmetric.
struct LogZFullRow {
  const Vector& parameters;
  double alpha;
  const double* y;
  const Vector& m;
  const Matrix& Cov;
};
struct LogZFullSlopes {
  Vector& m;
  Matrix& Cov;
  double* parameters;
};

// Stateless and shared, like Kernel; its parameters are a vector of positive numbers that belongs
// to the model.
class Likelihood {
 public:
  virtual ~Likelihood() = default;

  virtual std::string Name() const = 0;
  virtual Index NumParameters(Index outputs) const = 0;
  // What the parameters are called; there are equally many of each, in this order.
  virtual std::vector<std::string> ParameterNames() const { return {}; }
  // `noise`: the variance of an observation to start with, where there is such a thing.
  virtual Vector InitialParameters(Index outputs, double noise) const = 0;
  // Moves the initial parameters to where the targets [N, targets] are.
  virtual void StartFrom(const Matrix& /*y*/, Vector* /*parameters*/) const {}
  // Columns of y: a class label is one target, however many functions stand behind it.
  virtual Index NumTargets(Index outputs) const { return outputs; }
  // Functions behind so many targets, whose values are classes or, with 0 of them, numbers.
  virtual Index NumOutputs(Index targets, Index /*classes*/) const { return targets; }
  // Whether the targets may be shifted and scaled, as numbers with an additive noise may; counts
  // and classes may not.
  virtual bool TakesScaledTargets() const { return true; }
  // Whether y = f + N(0, parameters), output by output, so that the noise can be multiplied.
  virtual bool AddsGaussianNoise() const { return false; }
  // What a target must be, if y is none: "a whole number from 0 on"; empty if it is one.
  virtual std::string TargetRule(Index /*outputs*/, double /*y*/) const { return {}; }
  // Throws Error that names the first cell of y, or the number of outputs, that makes no sense.
  void CheckTargets(Index outputs, const Matrix& y) const;

  // log E[p(y|f)^alpha] for one row, f_d ~ N(m_d, v_d) independent;                      [log-z]
  // for alpha = 0 the limit of this over alpha, E[log p(y|f)]. Where one of several y is NaN, that
  // of the others: the row teaches them, and the slopes of its own m and v are 0.
  virtual double LogZ(const LogZRow& row, const LogZSlopes& slopes) const = 0;

  // The same with f ~ N(m, Cov) jointly. Here by the marginals alone; a likelihood that sees
  // several outputs at once can do better.
  virtual double LogZFull(const LogZFullRow& row, const LogZFullSlopes& slopes) const;

  // Turns the moments of f [N, outputs] into those of y [N, targets], in place; where y is one of
  // several classes, into those of the indicator of each class.
  virtual void Observe(const Vector& parameters, Moments* moments) const = 0;
  // Whether these moments, as a Gaussian, are all there is to know of y, or all that is asked of it
  // (of classes, whose probabilities say the rest). If not, the density of y is LogZ with alpha =
  // 1, and Tail gives P(y_t <= y), or P(y_t > y) if `upper`, with f ~ N(m, v).
  virtual bool ObservesGaussian() const { return true; }
  virtual bool IsDiscrete() const { return false; }  // y is a whole number from 0 on
  virtual double Tail(const Vector& parameters, Index target, double y, const double* m,
                      const double* v, bool upper) const;

  // How many classes y has; 0 where y is not a class.
  virtual Index NumClasses(Index /*outputs*/) const { return 0; }
  // What y is for that class, counted from 0.
  virtual double ClassTarget(Index label) const { return static_cast<double>(label); }
  // P(y = class) of each row [N, NumClasses], given the moments of f. Throws Error where y is not a
  // class.
  virtual Matrix ClassProbabilities(const Vector& parameters, const Moments& f) const;
};

// The likelihood of that name: one of LikelihoodNames(), or a registered one. Throws Error with the
// known names otherwise.
std::shared_ptr<const Likelihood> MakeLikelihood(const std::string& name);
std::vector<std::string> LikelihoodNames();

// Lets MakeLikelihood, and with it recipes and model files, know a likelihood of your own by its
// Name(). A model that was trained with it loads only where it is registered again. Throws Error if
// the name belongs to a likelihood of Fathom.
void RegisterLikelihood(std::shared_ptr<const Likelihood> likelihood);

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_LIKELIHOOD_H_
