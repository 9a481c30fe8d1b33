#include "fathom/kernel/se_linear_full_layer.h"

#include "fathom/base/linalg.h"

namespace fathom {

// Those of the SE-ARD part come first; `end` is where the last array ends.
struct SeLinearFullLayer::Sums {
  Sums(const SeLinearFullLayer& of, double* memory) : se(memory), end(memory + of.se_.SumsSize()) {
    for (const Function& f : of.functions_) {
      const Index D = f.Z.cols();
      Q.emplace_back(end, D, D);
      end += D * D;
      cross.emplace_back();
      for (const se_ard::Bumps& bumps : f.cross) {
        cross.back().emplace_back(bumps, end);
        end += se_ard::BumpsSums::Size(bumps);
      }
    }
  }

  double* se;
  std::vector<Eigen::Map<Matrix>> Q;                  // [functions] of [D, D]
  std::vector<std::vector<se_ard::BumpsSums>> cross;  // [functions][D]
  double* end;
};

void SeLinearFullLayer::Prepare(const std::vector<LatentFunction>& functions) {
  CheckFunctions(functions);
  functions_.resize(functions.size());
  std::vector<LatentFunction> se;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const LatentFunction& f = functions[i];
    Function& own = functions_[i];
    const Index D = f.Z.cols();
    own.se_theta = f.theta.head(1 + D);
    own.Z = f.Z;
    own.linear.Prepare(f, f.theta.tail(D));
    own.cross.clear();
    for (Index q = 0; q < D; ++q)
      own.cross.push_back(Psi1Bumps(own.points(), own.linear.SA().col(q)));
    se.push_back({own.se_theta, f.Z, f.a, f.S, own.linear.slope()});
  }
  se_.Prepare(se);
}

void SeLinearFullLayer::Forward(const FullMoments& x, FullMoments* out) const {
  se_.Forward(x, out);
  Vector slope;
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const Matrix& Sigma = x.cov[n];
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const Matrix& Q = functions_[i].linear.Q();
      double& v = out->cov[n](static_cast<Index>(i), static_cast<Index>(i));
      v += mu.dot(Q * mu) + Q.cwiseProduct(Sigma).sum();
      for (Index q = 0; q < x.cols(); ++q) {
        const double b = ExpectedSum(functions_[i].cross[q], {mu, Sigma}, &slope);
        v -= 2 * (mu[q] * b + Sigma.row(q).dot(slope));
      }
    }
  }
}

void SeLinearFullLayer::Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                                 FullMoments* d_x) const {
  Sums own(*this, sums);
  se_.Backward(x, d_out, own.se, d_x);
  const Index D = x.cols();
  Vector slope;
  Vector d_mu(D);
  Matrix d_Sigma(D, D);
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const Matrix& Sigma = x.cov[n];
    d_mu.setZero();
    d_Sigma.setZero();
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const Matrix& Q = functions_[i].linear.Q();
      const double g = d_out.cov[n](static_cast<Index>(i), static_cast<Index>(i));
      own.Q[i] += g * (mu * mu.transpose() + Sigma);
      d_mu += 2 * g * Q * mu;
      d_Sigma += g * Q;
      for (Index q = 0; q < D; ++q) {
        const se_ard::Bumps& cross = functions_[i].cross[q];
        d_mu[q] -= 2 * g * ExpectedSum(cross, {mu, Sigma}, &slope);
        d_Sigma.row(q) -= 2 * g * slope.transpose();
        const Vector d_slope = -2 * g * Sigma.row(q).transpose();
        ExpectedSumBackward(cross, {mu, Sigma}, {-2 * g * mu[q], &d_slope}, own.cross[i][q],
                            {d_mu, d_Sigma});
      }
    }
    if (d_x == nullptr) continue;
    d_x->mean.row(n) += d_mu.transpose();
    d_x->cov[n] += Symmetrized(d_Sigma);
  }
}

Index SeLinearFullLayer::SumsSize() const {
  const Sums sums(*this, nullptr);
  return sums.end - sums.se;
}

void SeLinearFullLayer::Finish(const double* sums,
                               std::vector<LatentFunctionGradient>* gradients) const {
  const Sums own(*this, const_cast<double*>(sums));  // NOLINT: read only
  std::vector<Vector> se_theta;
  for (const Function& f : functions_) se_theta.emplace_back(Vector::Zero(f.se_theta.size()));
  std::vector<LatentFunctionGradient> se;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    LatentFunctionGradient& d_f = (*gradients)[i];
    se.push_back({se_theta[i], d_f.Z, d_f.a, d_f.S});
  }
  se_.Finish(own.se, &se);
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& f = functions_[i];
    LatentFunctionGradient& d_f = (*gradients)[i];
    const Index D = f.Z.cols();
    Matrix dSA(f.Z.rows(), D);
    for (Index q = 0; q < D; ++q) {
      Vector d_weights = Vector::Zero(f.Z.rows());
      Psi1BumpsBackward(f.points(), f.linear.SA().col(q), own.cross[i][q].Value(),
                        {se_theta[i], d_f.Z}, &d_weights);
      dSA.col(q) = d_weights;
    }
    d_f.theta.head(1 + D) += se_theta[i];
    f.linear.Backward(se_.MeanGradient(own.se, static_cast<Index>(i)), own.Q[i], &dSA,
                      d_f.theta.tail(D), &d_f);
  }
}

}  // namespace fathom
