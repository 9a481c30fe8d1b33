#include "fathom/kernel/linear_ard_full_layer.h"

#include "fathom/base/linalg.h"

namespace fathom {

struct LinearArdFullLayer::OwnSums : FullLayer::Sums {
  Matrix b;               // [functions, D]
  std::vector<Matrix> Q;  // [functions] of [D, D]

  void Add(const Sums& other) override {
    const auto& own = static_cast<const OwnSums&>(other);
    b += own.b;
    for (std::size_t i = 0; i < Q.size(); ++i) Q[i] += own.Q[i];
  }
};

void LinearArdFullLayer::Prepare(const std::vector<LatentFunction>& functions) {
  CheckFunctions(functions);
  functions_.resize(functions.size());
  b_.resize(static_cast<Index>(functions.size()), functions[0].Z.cols());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    functions_[i].Prepare(functions[i], functions[i].theta);
    b_.row(static_cast<Index>(i)) = functions_[i].slope().transpose();
  }
}

void LinearArdFullLayer::Forward(const FullMoments& x, FullMoments* out) const {
  CheckInput(x, b_.cols());
  out->SetZero(x.rows(), b_.rows());
  out->mean.noalias() = x.mean * b_.transpose();
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    out->cov[n] = Symmetrized(b_ * x.cov[n] * b_.transpose());
    for (Index i = 0; i < b_.rows(); ++i) {
      const Matrix& Q = functions_[i].Q();
      out->cov[n](i, i) += mu.dot(Q * mu) + Q.cwiseProduct(x.cov[n]).sum();
    }
  }
}

void LinearArdFullLayer::Backward(const FullMoments& x, const FullMoments& d_out, Sums* sums,
                                  FullMoments* d_x) const {
  CheckInput(x, b_.cols());
  auto* own = static_cast<OwnSums*>(sums);
  if (d_x != nullptr) {
    d_x->SetZero(x.rows(), x.cols());
    d_x->mean.noalias() = d_out.mean * b_;
  }
  own->b.noalias() += d_out.mean.transpose() * x.mean;
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const Matrix G = Symmetrized(d_out.cov[n]);
    own->b.noalias() += 2 * G * b_ * x.cov[n];
    Matrix weighed = Matrix::Zero(b_.cols(), b_.cols());  // sum_i G_ii Q_i
    for (Index i = 0; i < b_.rows(); ++i) {
      own->Q[i] += G(i, i) * (mu * mu.transpose() + x.cov[n]);
      weighed += G(i, i) * functions_[i].Q();
    }
    if (d_x == nullptr) continue;
    d_x->mean.row(n) += 2 * (weighed * mu).transpose();
    d_x->cov[n] = Symmetrized(b_.transpose() * G * b_ + weighed);
  }
}

std::unique_ptr<FullLayer::Sums> LinearArdFullLayer::NewSums() const {
  auto sums = std::make_unique<OwnSums>();
  sums->b.setZero(b_.rows(), b_.cols());
  sums->Q.assign(functions_.size(), Matrix::Zero(b_.cols(), b_.cols()));
  return sums;
}

void LinearArdFullLayer::Finish(const Sums& sums,
                                std::vector<LatentFunctionGradient>* gradients) const {
  const auto& own = static_cast<const OwnSums&>(sums);
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    LatentFunctionGradient& d_f = (*gradients)[i];
    functions_[i].Backward(own.b.row(static_cast<Index>(i)).transpose(), own.Q[i], nullptr,
                           d_f.theta, &d_f);
  }
}

}  // namespace fathom
