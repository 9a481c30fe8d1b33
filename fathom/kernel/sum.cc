#include "fathom/kernel/sum.h"

#include <algorithm>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/kernel/quadrature_projection.h"
#include "fathom/kernel/se_linear_full_layer.h"
#include "fathom/kernel/se_linear_projection.h"

namespace fathom {

Sum::Sum(std::vector<std::shared_ptr<const Kernel>> parts) : parts_(std::move(parts)) {
  FATHOM_CHECK(parts_.size() >= 2);
  std::stable_partition(parts_.begin(), parts_.end(),
                        [](const auto& part) { return part->Name() != "linear_ard"; });
}

template <typename Act>
void Sum::ForEachPart(Index input_dim, const Act& act) const {
  Index begin = 0;
  for (const auto& part : parts_) {
    const Index size = part->NumParameters(input_dim);
    act(*part, begin, size);
    begin += size;
  }
}

std::string Sum::Name() const {
  std::string name = parts_[0]->Name();
  for (std::size_t p = 1; p < parts_.size(); ++p) name.append("+").append(parts_[p]->Name());
  return name;
}

std::vector<Kernel::Block> Sum::Blocks(Index input_dim) const {
  std::vector<Block> blocks;
  for (const auto& part : parts_) {
    for (const Block& block : part->Blocks(input_dim))
      blocks.push_back({part->Name() + "." + block.name, block.size});
  }
  return blocks;
}

Vector Sum::InitialParameters(Index input_dim, double lengthscale) const {
  Vector theta(NumParameters(input_dim));
  ForEachPart(input_dim, [&](const Kernel& part, Index begin, Index size) {
    theta.segment(begin, size) = part.InitialParameters(input_dim, lengthscale);
    theta.segment(begin, part.Blocks(input_dim)[0].size) /= static_cast<double>(parts_.size());
  });
  return theta;
}

void Sum::Cross(const Vector& theta, const Rows& X, const Matrix& Z, Eigen::Ref<Matrix> K) const {
  FATHOM_CHECK(theta.size() == NumParameters(Z.cols()));
  Matrix own(X.rows(), Z.rows());
  K.setZero();
  ForEachPart(Z.cols(), [&](const Kernel& part, Index begin, Index size) {
    part.Cross(theta.segment(begin, size), X, Z, own);
    K += own;
  });
}

void Sum::CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z, const Rows& /*K*/,
                        const Rows& dK, CrossGradient gradient) const {
  Matrix own(X.rows(), Z.rows());
  ForEachPart(Z.cols(), [&](const Kernel& part, Index begin, Index size) {
    const Vector own_theta = theta.segment(begin, size);
    part.Cross(own_theta, X, Z, own);
    part.CrossBackward(own_theta, X, Z, own, dK,
                       {gradient.theta.segment(begin, size), gradient.X, gradient.Z});
  });
}

void Sum::CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                     Along* out) const {
  out->first.setZero(X.rows(), Z.rows());
  out->second.setZero(X.rows(), Z.rows());
  out->diagonal_second.setZero(X.rows());
  Along own;
  ForEachPart(Z.cols(), [&](const Kernel& part, Index begin, Index size) {
    part.CrossAlong(theta.segment(begin, size), X, Z, input, &own);
    out->first += own.first;
    out->second += own.second;
    out->diagonal_second += own.diagonal_second;
  });
}

void Sum::Diagonal(const Vector& theta, const Rows& X, Eigen::Ref<Vector> k) const {
  Vector own(X.rows());
  k.setZero();
  ForEachPart(X.cols(), [&](const Kernel& part, Index begin, Index size) {
    part.Diagonal(theta.segment(begin, size), X, own);
    k += own;
  });
}

void Sum::DiagonalBackward(const Vector& theta, const Rows& X, const Eigen::Ref<const Vector>& dk,
                           Eigen::Ref<Vector> d_theta, Eigen::Ref<Matrix>* dX) const {
  ForEachPart(X.cols(), [&](const Kernel& part, Index begin, Index size) {
    part.DiagonalBackward(theta.segment(begin, size), X, dk, d_theta.segment(begin, size), dX);
  });
}

Vector Sum::SlopeVariance(const Vector& theta, Index input_dim) const {
  Vector slopes = Vector::Zero(input_dim);
  ForEachPart(input_dim, [&](const Kernel& part, Index begin, Index size) {
    slopes += part.SlopeVariance(theta.segment(begin, size), input_dim);
  });
  return slopes;
}

bool Sum::IsSeLinear() const { return Name() == "se_ard+linear_ard"; }

Index Sum::MostUncertainInputs() const {
  return IsSeLinear() ? Kernel::MostUncertainInputs() : QuadratureProjection::kMostUncertainInputs;
}

std::unique_ptr<Projection> Sum::NewProjection() const {
  if (IsSeLinear()) return std::make_unique<SeLinearProjection>();
  return std::make_unique<QuadratureProjection>(*this);
}

std::unique_ptr<FullLayer> Sum::NewFullLayer() const {
  if (IsSeLinear()) return std::make_unique<SeLinearFullLayer>();
  return nullptr;
}

}  // namespace fathom
