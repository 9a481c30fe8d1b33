#include "fathom/kernel/se_ard_full_layer.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

using se_ard::Bumps;

namespace {

bool IsCertain(const Matrix& Sigma) { return (Sigma.array() == 0).all(); }

}  // namespace

// One array after the other; `end` is where the last one ends.
struct SeArdFullLayer::Sums {
  Sums(const SeArdFullLayer& of, double* memory)
      : psi0(memory, static_cast<Index>(of.functions_.size())),
        w(memory + psi0.size(), psi0.size(), of.functions_[0].Z.cols()),
        end(w.data() + w.size()) {
    Take(of.psi1_, &psi1);
    Take(of.certain_, &certain);
    Take(of.pairs_, &pairs);
  }

  Eigen::Map<Vector> psi0;                 // [D]
  Eigen::Map<Matrix> w;                    // [D, Din]
  std::vector<se_ard::BumpsSums> psi1;     // [D]
  std::vector<se_ard::BumpsSums> certain;  // [D]
  std::vector<se_ard::BumpsSums> pairs;    // [D(D+1)/2]
  double* end;

 private:
  void Take(const std::vector<Bumps>& shapes, std::vector<se_ard::BumpsSums>* out) {
    for (const Bumps& shape : shapes) {
      out->emplace_back(shape, end);
      end += se_ard::BumpsSums::Size(shape);
    }
  }
};

void SeArdFullLayer::Prepare(const std::vector<LatentFunction>& functions) {
  CheckFunctions(functions);
  const Index D = functions[0].Z.cols();
  linear_ = false;
  functions_.clear();
  for (const LatentFunction& f : functions) {
    const bool has_mean = f.w.size() > 0;
    linear_ = linear_ || has_mean;
    functions_.push_back({f.theta, f.Z, f.a, f.S, has_mean ? f.w : Vector(Vector::Zero(D))});
  }
  psi1_.clear();
  certain_.clear();
  pairs_.clear();
  for (const Function& f : functions_) {
    psi1_.push_back(Psi1Bumps(f.points(), f.a));
    certain_.push_back(Psi2Bumps(f.points(), -f.S));
    for (const Function& g : functions_) {
      if (&g == &f) break;
      pairs_.push_back(CrossPsi2Bumps(f.points(), g.points(), f.a * g.a.transpose()));
    }
    pairs_.push_back(Psi2Bumps(f.points(), f.a * f.a.transpose() - f.S));
  }
}

SeArdFullLayer::RowMean SeArdFullLayer::MeanOfRow(const Vector& mu, const Matrix& Sigma) const {
  const auto outputs = static_cast<Index>(functions_.size());
  RowMean mean{Vector(outputs), Matrix(outputs, mu.size())};
  Vector slope;
  for (Index i = 0; i < outputs; ++i) {
    mean.m[i] = ExpectedSum(psi1_[i], {mu, Sigma}, &slope);
    mean.s.row(i) = slope.transpose();
  }
  return mean;
}

void SeArdFullLayer::Forward(const FullMoments& x, FullMoments* out) const {
  CheckInput(x, functions_[0].Z.cols());
  const auto outputs = static_cast<Index>(functions_.size());
  out->SetZero(x.rows(), outputs);
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const Matrix& Sigma = x.cov[n];
    Matrix& cov = out->cov[n];
    const RowMean mean = MeanOfRow(mu, Sigma);
    const bool certain = IsCertain(Sigma);
    std::size_t pair = 0;
    for (Index i = 0; i < outputs; ++i) {
      const Function& f = functions_[i];
      out->mean(n, i) = mean.m[i] + f.w.dot(mu);
      for (Index j = 0; j <= i; ++j, ++pair) {
        if (certain) continue;
        cov(i, j) = ExpectedSum(pairs_[pair], {mu, Sigma}, nullptr) - mean.m[i] * mean.m[j];
        if (linear_) {
          const Vector& w = functions_[j].w;
          cov(i, j) += f.w.dot(Sigma * (w + mean.s.row(j).transpose())) +
                       w.dot(Sigma * mean.s.row(i).transpose());
        }
        cov(j, i) = cov(i, j);
      }
      if (certain) cov(i, i) = ExpectedSum(certain_[i], {mu, Sigma}, nullptr);
      cov(i, i) += f.theta[0];
    }
  }
}

void SeArdFullLayer::Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                              FullMoments* d_x) const {
  CheckInput(x, functions_[0].Z.cols());
  const auto outputs = static_cast<Index>(functions_.size());
  const Index D = x.cols();
  Sums own(*this, sums);
  if (d_x != nullptr) d_x->SetZero(x.rows(), D);
  Vector d_mu(D);
  Matrix d_Sigma(D, D);
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const Matrix& Sigma = x.cov[n];
    const RowMean mean = MeanOfRow(mu, Sigma);
    const bool certain = IsCertain(Sigma);
    Vector d_m = d_out.mean.row(n).transpose();
    Matrix d_s = Matrix::Zero(outputs, D);
    d_mu.setZero();
    d_Sigma.setZero();
    std::size_t pair = 0;
    for (Index i = 0; i < outputs; ++i) {
      const Function& f = functions_[i];
      d_mu += d_out.mean(n, i) * f.w;
      own.w.row(i) += d_out.mean(n, i) * mu.transpose();
      for (Index j = 0; j <= i; ++j, ++pair) {
        const double g = d_out.cov[n](i, j) + (j < i ? d_out.cov[n](j, i) : 0);
        const Vector& w = functions_[j].w;
        const Vector s_i = mean.s.row(i).transpose();
        const Vector s_j = mean.s.row(j).transpose();
        if (certain) {
          d_Sigma += g * (f.w + s_i) * (w + s_j).transpose();
          continue;
        }
        ExpectedSumBackward(pairs_[pair], {mu, Sigma}, {g}, own.pairs[pair], {d_mu, d_Sigma});
        d_m[i] -= g * mean.m[j];
        d_m[j] -= g * mean.m[i];
        if (!linear_) continue;
        d_Sigma += g * (f.w * (w + s_j).transpose() + w * s_i.transpose());
        d_s.row(i) += g * (Sigma * w).transpose();
        d_s.row(j) += g * (Sigma * f.w).transpose();
        own.w.row(i) += g * (Sigma * (w + s_j)).transpose();
        own.w.row(j) += g * (Sigma * (f.w + s_i)).transpose();
      }
      const double g = d_out.cov[n](i, i);
      own.psi0[i] += g;
      if (certain) {
        ExpectedSumBackward(certain_[i], {mu, Sigma}, {g}, own.certain[i], {d_mu, d_Sigma});
      }
    }
    for (Index i = 0; i < outputs; ++i) {
      const Vector d_slope = d_s.row(i).transpose();
      ExpectedSumBackward(psi1_[i], {mu, Sigma}, {d_m[i], linear_ ? &d_slope : nullptr},
                          own.psi1[i], {d_mu, d_Sigma});
    }
    if (d_x == nullptr) continue;
    d_x->mean.row(n) = d_mu.transpose();
    d_x->cov[n] = Symmetrized(d_Sigma);
  }
}

Index SeArdFullLayer::SumsSize() const {
  const Sums sums(*this, nullptr);
  return sums.end - sums.psi0.data();
}

Vector SeArdFullLayer::MeanGradient(const double* sums, Index function) const {
  return Sums(*this, const_cast<double*>(sums)).w.row(function).transpose();  // NOLINT: read only
}

void SeArdFullLayer::Finish(const double* sums,
                            std::vector<LatentFunctionGradient>* gradients) const {
  FATHOM_CHECK(gradients->size() == functions_.size());
  const Sums own(*this, const_cast<double*>(sums));  // NOLINT: read only
  std::size_t pair = 0;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& f = functions_[i];
    LatentFunctionGradient& d_f = (*gradients)[i];
    const se_ard::PointsGradient d_points{d_f.theta, d_f.Z};
    d_f.theta[0] += own.psi0[static_cast<Index>(i)];
    Psi1BumpsBackward(f.points(), f.a, own.psi1[i].Value(), d_points, &d_f.a);
    for (std::size_t j = 0; j < i; ++j, ++pair) {
      const Function& g = functions_[j];
      LatentFunctionGradient& d_g = (*gradients)[j];
      Matrix dW = Matrix::Zero(f.a.size(), g.a.size());
      CrossPsi2BumpsBackward(f.points(), g.points(), pairs_[pair], own.pairs[pair].Value(),
                             {d_points, {d_g.theta, d_g.Z}, dW});
      d_f.a += dW * g.a;
      d_g.a += dW.transpose() * f.a;
    }
    Matrix dB = Matrix::Zero(f.a.size(), f.a.size());
    Psi2BumpsBackward(f.points(), pairs_[pair], own.pairs[pair].Value(), d_points, &dB);
    ++pair;
    d_f.a += 2 * dB * f.a;
    Psi2BumpsBackward(f.points(), certain_[i], own.certain[i].Value(), d_points, &dB);
    d_f.S -= dB;
  }
}

}  // namespace fathom
