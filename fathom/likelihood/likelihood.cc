#include "fathom/likelihood/likelihood.h"

#include <map>
#include <mutex>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/likelihood/gaussian.h"
#include "fathom/likelihood/heteroscedastic.h"
#include "fathom/likelihood/poisson.h"
#include "fathom/likelihood/probit.h"
#include "fathom/likelihood/robust_max.h"
#include "fathom/likelihood/softmax.h"
#include "fathom/likelihood/student_t.h"

namespace fathom {

namespace {

using LikelihoodMap = std::map<std::string, std::shared_ptr<const Likelihood>>;

// Likelihoods are stateless, so that one of each serves all models.
template <typename... Kinds>
LikelihoodMap MakeEach() {
  LikelihoodMap all;
  (all.emplace(Kinds().Name(), std::make_shared<Kinds>()), ...);
  return all;
}

const LikelihoodMap& Ours() {
  static const LikelihoodMap kinds =
      MakeEach<Gaussian, StudentT, Heteroscedastic, Poisson, Probit, Softmax, RobustMax>();
  return kinds;
}

struct Registered {
  std::mutex mutex;
  LikelihoodMap likelihoods;
};

Registered& Theirs() {
  static Registered registered;
  return registered;
}

}  // namespace

void Likelihood::CheckTargets(Index outputs, const Matrix& y) const {
  const Index classes = NumClasses(outputs);
  if (classes == 1) {
    ThrowError("the likelihood '", Name(), "' needs an output per class, at least 2, has ",
               outputs);
  }
  FATHOM_CHECK(y.cols() == NumTargets(outputs));
  for (Index n = 0; n < y.rows(); ++n) {
    for (Index t = 0; t < y.cols(); ++t) {
      const std::string rule = TargetRule(outputs, y(n, t));
      if (rule.empty()) continue;
      ThrowError("target ", t, " of row ", n, " must be ", rule, " for the likelihood '", Name(),
                 "', is ", y(n, t));
    }
  }
}

double Likelihood::LogZFull(const LogZFullRow& row, const LogZFullSlopes& slopes) const {
  const Index outputs = row.m.size();
  const Vector v = row.Cov.diagonal().cwiseMax(0);
  Vector d_v(outputs);
  slopes.m.resize(outputs);
  const double log_z = LogZ({row.parameters, row.alpha, outputs, row.y, row.m.data(), v.data()},
                            {slopes.m.data(), d_v.data(), slopes.parameters});
  slopes.Cov = d_v.asDiagonal();
  return log_z;
}

double Likelihood::Tail(const Vector& /*parameters*/, Index /*target*/, double /*y*/,
                        const double* /*m*/, const double* /*v*/, bool /*upper*/) const {
  ThrowError("the likelihood '", Name(), "' has no tail probabilities of its own");
}

Matrix Likelihood::ClassProbabilities(const Vector& /*parameters*/, const Moments& /*f*/) const {
  ThrowError("the likelihood '", Name(), "' has no classes; probit, softmax and robust_max have");
}

std::vector<std::string> LikelihoodNames() {
  std::vector<std::string> names;
  for (const auto& [name, likelihood] : Ours()) names.push_back(name);
  return names;
}

std::shared_ptr<const Likelihood> MakeLikelihood(const std::string& name) {
  const auto ours = Ours().find(name);
  if (ours != Ours().end()) return ours->second;
  Registered& theirs = Theirs();
  const std::lock_guard lock(theirs.mutex);
  const auto found = theirs.likelihoods.find(name);
  if (found != theirs.likelihoods.end()) return found->second;
  std::string known;
  for (const LikelihoodMap* kinds : {&Ours(), &std::as_const(theirs.likelihoods)}) {
    for (const auto& [kind, likelihood] : *kinds) known += (known.empty() ? "" : ", ") + kind;
  }
  ThrowError("likelihood '", name, "' is not known; the likelihoods are: ", known);
}

void RegisterLikelihood(std::shared_ptr<const Likelihood> likelihood) {
  const std::string name = likelihood->Name();
  if (Ours().contains(name))
    ThrowError("a likelihood of fathom is called '", name, "'; give yours another name");
  Registered& theirs = Theirs();
  const std::lock_guard lock(theirs.mutex);
  theirs.likelihoods[name] = std::move(likelihood);
}

}  // namespace fathom
