#include "fathom/kernel/linear_ard_full_layer.h"

#include "fathom/base/linalg.h"

namespace fathom {

struct LinearArdFullLayer::Sums {
  Sums(const LinearArdFullLayer& of, double* memory) : b(memory, of.b_.rows(), of.b_.cols()) {}
  // [D, D] of one function.
  Eigen::Map<Matrix> Q(Index function) {
    const Index D = b.cols();
    return {b.data() + b.size() + function * D * D, D, D};
  }
  Eigen::Map<Matrix> b;  // [functions, D]
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
    out->cov[n] = Symmetrized(Product({Product({b_}, {x.cov[n]})}, Transposed(b_)));
    for (Index i = 0; i < b_.rows(); ++i) {
      const Matrix& Q = functions_[i].Q();
      out->cov[n](i, i) += mu.dot(Q * mu) + Q.cwiseProduct(x.cov[n]).sum();
    }
  }
}

void LinearArdFullLayer::Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                                  FullMoments* d_x) const {
  CheckInput(x, b_.cols());
  Sums own(*this, sums);
  if (d_x != nullptr) {
    d_x->SetZero(x.rows(), x.cols());
    d_x->mean.noalias() = d_out.mean * b_;
  }
  own.b.noalias() += d_out.mean.transpose() * x.mean;
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const Matrix G = Symmetrized(d_out.cov[n]);
    const Matrix Gb = Product({G}, {b_});
    own.b += 2 * Product({Gb}, {x.cov[n]});
    Matrix weighed = Matrix::Zero(b_.cols(), b_.cols());  // sum_i G_ii Q_i
    for (Index i = 0; i < b_.rows(); ++i) {
      own.Q(i) += G(i, i) * (mu * mu.transpose() + x.cov[n]);
      weighed += G(i, i) * functions_[i].Q();
    }
    if (d_x == nullptr) continue;
    d_x->mean.row(n) += 2 * (weighed * mu).transpose();
    d_x->cov[n] = Symmetrized(Product(Transposed(b_), {Gb}) + weighed);
  }
}

Index LinearArdFullLayer::SumsSize() const { return b_.size() * (1 + b_.cols()); }

void LinearArdFullLayer::Finish(const double* sums,
                                std::vector<LatentFunctionGradient>* gradients) const {
  Sums own(*this, const_cast<double*>(sums));  // NOLINT: read only
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    LatentFunctionGradient& d_f = (*gradients)[i];
    const auto function = static_cast<Index>(i);
    functions_[i].Backward(own.b.row(function).transpose(), own.Q(function), nullptr, d_f.theta,
                           &d_f);
  }
}

}  // namespace fathom
