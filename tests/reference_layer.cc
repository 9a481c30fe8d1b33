// Kinds "psi" and "layer": expectations of kernels, and the moments of one layer.
#include "fathom/base/linalg.h"
#include "fathom/kernel/se_ard_full_layer.h"
#include "tests/reference_json.h"

namespace fathom {
namespace {

void RequireSeArd(const Kernel& kernel, const std::string& what) {
  if (kernel.Name() != "se_ard") throw NotSupported(what + " with kernel " + kernel.Name());
}

// Kind "psi": the statistics themselves and the gradient of a weighted sum of them.

struct PsiCall {
  Vector m, v;
  Moments d_x;
  Vector d_theta;
  Matrix dZ;
};

// One row through the projection with weights (a, S), and the gradient of dm * m + dv * v.
struct Weights {
  const Matrix& Z;
  const Vector& a;
  const Matrix& S;
};
PsiCall CallProjection(const KernelParameters& kernel, const Weights& weights, const Moments& x,
                       double dm, double dv) {
  const auto& [Z, a, S] = weights;
  const Vector& theta = kernel.theta;
  const auto projection = kernel.kernel->NewProjection();
  const Vector no_mean;
  projection->Prepare({theta, Z, a, S, no_mean}, {.uncertain = true});
  AlignedBuffer tape(projection->TapeSize(x.rows()));
  AlignedBuffer sums(projection->SumsSize(), 0.0);
  PsiCall out;
  out.m.resize(x.rows());
  out.v.resize(x.rows());
  projection->Forward({x.mean, x.var}, tape.data(), out.m.data(), out.v.data());
  out.d_x.SetZero(x.rows(), x.cols());
  Eigen::Ref<Matrix> d_mean(out.d_x.mean);
  Eigen::Ref<Matrix> d_var(out.d_x.var);
  const Vector dms = Vector::Constant(x.rows(), dm);
  const Vector dvs = Vector::Constant(x.rows(), dv);
  projection->Backward({x.mean, x.var}, tape.data(), {dms.data(), dvs.data()}, sums.data(),
                       {&d_mean, &d_var});
  out.d_theta = Vector::Zero(theta.size());
  out.dZ = Matrix::Zero(Z.rows(), Z.cols());
  Vector da = Vector::Zero(a.size());
  Matrix dS = Matrix::Zero(S.rows(), S.cols());
  projection->Finish(sums.data(), {out.d_theta, out.dZ, da, dS});
  return out;
}

FullMoments ToFullMoments(const Json& mean, const Json& cov) {
  FullMoments x;
  x.mean = ToMatrix(mean);
  for (const Json& row : cov) x.cov.push_back(ToMatrix(row));
  return x;
}

// What the checks of psi statistics find: the weighted sum of them and its gradients.
struct PsiSum {
  double functional = 0;
  Vector d_theta;
  Matrix dZ;

  PsiSum(const KernelParameters& kernel, const Matrix& Z)
      : d_theta(Vector::Zero(kernel.theta.size())), dZ(Matrix::Zero(Z.rows(), Z.cols())) {}
};

void ComparePsiSum(const PsiSum& sum, const KernelParameters& kernel, const Json& test,
                   Comparison* compare) {
  const Json& gradients = PartOf(test, "gradients");
  compare->ExpectAt(PartOf(test, "expected"), "functional", "functional",
                    [&] { return sum.functional; });
  compare->ExpectAt(gradients, "Z", "d Z", [&] { return sum.dZ; });
  if (const Json* blocks = compare->Find(gradients, "kernel"))
    CompareBlocks("d ", *kernel.kernel, sum.dZ.cols(), sum.d_theta, *blocks, compare);
}

bool HasSum(const Json& test) {
  return PartOf(test, "expected").contains("functional") || !PartOf(test, "gradients").empty();
}

// The statistics themselves, of SE-ARD under full covariances.
void CompareFullPsi(const se_ard::Points& points, const FullMoments& x, const Json& expected,
                    Comparison* compare) {
  const Index M = points.Z.rows();
  const Json* psi0 = compare->Find(expected, "psi0");
  const Json* psi1 = compare->Find(expected, "psi1");
  const Json* psi2 = compare->Find(expected, "psi2");
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const se_ard::Input row{mu, x.cov[n]};
    if (psi0 != nullptr) compare->Expect("psi0", points.theta[0], psi0->at(n));
    for (Index i = 0; i < M; ++i) {
      const Vector unit_i = Vector::Unit(M, i);
      if (psi1 != nullptr) {
        compare->Expect("psi1", ExpectedSum(Psi1Bumps(points, unit_i), row, nullptr),
                        psi1->at(n).at(i));
      }
      for (Index j = 0; psi2 != nullptr && j < M; ++j) {
        const Matrix unit_ij = unit_i * Vector::Unit(M, j).transpose();
        const Json& value = psi2->at(n).at(i).at(j);
        compare->Expect("psi2", ExpectedSum(Psi2Bumps(points, unit_ij), row, nullptr), value);
        compare->Expect("cross psi2",
                        ExpectedSum(CrossPsi2Bumps(points, points, unit_ij), row, nullptr), value);
      }
    }
  }
}

void CheckFullPsi(const Json& test, Comparison* compare) {
  const Matrix Z = ToMatrix(test.at("Z"));
  const KernelParameters kernel = KernelOf(test.at("kernel"), Z.cols());
  RequireSeArd(*kernel.kernel, "full covariance");
  const Vector& theta = kernel.theta;
  const FullMoments x = ToFullMoments(test.at("mu"), test.at("cov"));
  const se_ard::Points points{theta, Z};
  CompareFullPsi(points, x, PartOf(test, "expected"), compare);
  if (!HasSum(test)) return;
  PsiSum sum(kernel, Z);
  FullMoments d_x;
  d_x.SetZero(x.rows(), x.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    const se_ard::Input row{mu, x.cov[n]};
    const double w0 = test.at("w0")[n].get<double>();
    const Vector w1 = ToVector(test.at("w1")[n]);
    const se_ard::Bumps linear = Psi1Bumps(points, w1);
    const se_ard::Bumps square = Psi2Bumps(points, ToMatrix(test.at("w2")[n]));
    sum.functional +=
        w0 * theta[0] + ExpectedSum(linear, row, nullptr) + ExpectedSum(square, row, nullptr);
    se_ard::Bumps d_linear = linear.ZeroLike();
    se_ard::Bumps d_square = square.ZeroLike();
    Vector d_mu = Vector::Zero(x.cols());
    const se_ard::InputGradient d_row{d_mu, d_x.cov[n]};
    ExpectedSumBackward(linear, row, {1}, se_ard::BumpsSums(&d_linear), d_row);
    ExpectedSumBackward(square, row, {1}, se_ard::BumpsSums(&d_square), d_row);
    d_x.mean.row(n) = d_mu.transpose();
    Vector d_w1 = Vector::Zero(Z.rows());
    Matrix d_w2 = Matrix::Zero(Z.rows(), Z.rows());
    Psi1BumpsBackward(points, w1, d_linear, {sum.d_theta, sum.dZ}, &d_w1);
    Psi2BumpsBackward(points, square, d_square, {sum.d_theta, sum.dZ}, &d_w2);
    sum.d_theta[0] += w0;
  }
  const Json& gradients = PartOf(test, "gradients");
  compare->ExpectAt(gradients, "mu", "d mu", [&] { return d_x.mean; });
  compare->ExpectAt(gradients, "cov", "d cov", [&] { return d_x.cov; });
  ComparePsiSum(sum, kernel, test, compare);
}

// The statistics themselves, from the moments of functions that single them out.
void ComparePsi(const KernelParameters& kernel, const Matrix& Z, const Moments& x,
                const Json& expected, Comparison* compare) {
  const Index M = Z.rows();
  const Vector zero_a = Vector::Zero(M);
  const Matrix zero_S = Matrix::Zero(M, M);
  Vector psi0 = CallProjection(kernel, {Z, zero_a, zero_S}, x, 0, 0).v;
  compare->ExpectAt(expected, "psi0", "psi0", [&] { return psi0; });
  compare->ExpectAt(expected, "psi1", "psi1", [&] {
    Matrix psi1(x.rows(), M);
    for (Index i = 0; i < M; ++i)
      psi1.col(i) = CallProjection(kernel, {Z, Vector(Vector::Unit(M, i)), zero_S}, x, 0, 0).m;
    return psi1;
  });
  compare->ExpectAt(expected, "psi2", "psi2", [&] {
    std::vector<Matrix> psi2(static_cast<std::size_t>(x.rows()), Matrix(M, M));
    for (Index i = 0; i < M; ++i) {
      for (Index j = 0; j < M; ++j) {
        Matrix S = zero_S;
        S(i, j) -= 0.5;
        S(j, i) -= 0.5;
        const Vector v = CallProjection(kernel, {Z, zero_a, S}, x, 0, 0).v;
        for (Index n = 0; n < x.rows(); ++n) psi2[n](i, j) = v[n] - psi0[n];
      }
    }
    return psi2;
  });
}

}  // namespace

void CheckPsi(const Json& test, Comparison* compare) {
  if (test.contains("cov")) {
    CheckFullPsi(test, compare);
    return;
  }
  const Matrix Z = ToMatrix(test.at("Z"));
  const KernelParameters kernel = KernelOf(test.at("kernel"), Z.cols());
  const Index M = Z.rows();
  const Moments x(ToMatrix(test.at("mu")), ToMatrix(test.at("var")));
  ComparePsi(kernel, Z, x, PartOf(test, "expected"), compare);
  if (!HasSum(test)) return;

  // sum_n w0 psi0 + w1 psi1 + w2 psi2: three calls per row, whose v is psi0, (unused) and
  // psi0 + <w2, psi2>.
  const Vector zero_a = Vector::Zero(M);
  const Matrix zero_S = Matrix::Zero(M, M);
  PsiSum sum(kernel, Z);
  Moments d_x;
  d_x.SetZero(x.rows(), x.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    const Moments row(x.mean.row(n), x.var.row(n));
    const double w0 = test.at("w0")[n].get<double>();
    const auto add = [&](const PsiCall& call, double value) {
      sum.functional += value;
      d_x.mean.row(n) += call.d_x.mean.row(0);
      d_x.var.row(n) += call.d_x.var.row(0);
      sum.d_theta += call.d_theta;
      sum.dZ += call.dZ;
    };
    const PsiCall constant = CallProjection(kernel, {Z, zero_a, zero_S}, row, 0, w0 - 1);
    add(constant, (w0 - 1) * constant.v[0]);
    const Vector w1 = ToVector(test.at("w1")[n]);
    const PsiCall linear = CallProjection(kernel, {Z, w1, zero_S}, row, 1, 0);
    add(linear, linear.m[0]);
    const Matrix w2 = -Symmetrized(ToMatrix(test.at("w2")[n]));
    const PsiCall square = CallProjection(kernel, {Z, zero_a, w2}, row, 0, 1);
    add(square, square.v[0]);
  }
  const Json& gradients = PartOf(test, "gradients");
  compare->ExpectAt(gradients, "mu", "d mu", [&] { return d_x.mean; });
  compare->ExpectAt(gradients, "var", "d var", [&] { return d_x.var; });
  ComparePsiSum(sum, kernel, test, compare);
}

namespace {

// Kind "layer": one layer under Gaussian inputs.

// A latent function of a layer, owned.
struct LayerFunction {
  KernelParameters kernel;
  Matrix Z;
  Vector a;
  Matrix S;
  Vector no_mean;
};

LayerFunction LayerFunctionOf(const Json& gp, const Json& q) {
  LayerFunction f;
  f.Z = ToMatrix(gp.at("Z"));
  f.kernel = KernelOf(gp.at("kernel"), f.Z.cols());
  Matrix K_inverse;
  f.kernel.kernel->Gram(f.kernel.theta, f.Z, &K_inverse);
  if (!CholeskyInPlace(&K_inverse)) throw std::runtime_error("K is not positive definite");
  InvertLowerInPlace(&K_inverse);
  K_inverse = Matrix(K_inverse.transpose() * K_inverse);
  f.a = K_inverse * ToVector(q.at("mean"));
  f.S = K_inverse - K_inverse * ToMatrix(q.at("cov")) * K_inverse;
  return f;
}

}  // namespace

// The files give all covariances between a layer's outputs, so the layer is the full one even where
// the inputs are independent; there the diagonal projection must agree as well.
void CheckLayer(const Json& test, Comparison* compare) {
  const Json& gps = test.at("layer").at("gps");
  const Json& expected = PartOf(test, "expected");
  const bool diagonal = !test.contains("cov");
  FullMoments x;
  if (diagonal) {
    x = FullMoments::FromDiagonal({ToMatrix(test.at("mu")), ToMatrix(test.at("var"))});
  } else {
    x = ToFullMoments(test.at("mu"), test.at("cov"));
  }
  std::vector<LayerFunction> owned;
  for (std::size_t d = 0; d < gps.size(); ++d)
    owned.push_back(LayerFunctionOf(gps[d], test.at("q")[d]));
  std::vector<LayerFunction> d_owned = owned;  // their gradients are in no file
  std::vector<LatentFunction> functions;
  std::vector<LatentFunctionGradient> d_functions;
  for (std::size_t d = 0; d < gps.size(); ++d) {
    const LayerFunction& f = owned[d];
    functions.push_back({f.kernel.theta, f.Z, f.a, f.S, f.no_mean});
    d_functions.push_back({d_owned[d].kernel.theta, d_owned[d].Z, d_owned[d].a, d_owned[d].S});
    if (!diagonal) continue;
    const PsiCall call = CallProjection(f.kernel, {f.Z, f.a, f.S}, x.Diagonal(), 0, 0);
    const Json* mean = compare->Find(expected, "mean");
    const Json* cov = compare->Find(expected, "cov");
    for (Index n = 0; n < x.rows(); ++n) {
      if (mean != nullptr) compare->Expect("diagonal mean", call.m[n], mean->at(n).at(d));
      if (cov != nullptr) compare->Expect("diagonal variance", call.v[n], cov->at(n).at(d).at(d));
    }
  }

  for (const LayerFunction& f : owned) RequireSeArd(*f.kernel.kernel, "covariances of outputs");
  const Kernel& kernel = *owned[0].kernel.kernel;
  const FullMoments out = PropagateFull(kernel, functions, x);
  compare->ExpectAt(expected, "mean", "mean", [&] { return out.mean; });
  compare->ExpectAt(expected, "cov", "covariance", [&] { return out.cov; });
  if (!HasSum(test)) return;
  const FullMoments weights = ToFullMoments(test.at("wm"), test.at("wc"));
  compare->ExpectAt(expected, "functional", "functional", [&] {
    double functional = weights.mean.cwiseProduct(out.mean).sum();
    for (Index n = 0; n < x.rows(); ++n)
      functional += weights.cov[n].cwiseProduct(out.cov[n]).sum();
    return functional;
  });
  FullMoments d_x;
  PropagateFullBackward(kernel, functions, x, weights, &d_functions, &d_x);
  const Json& gradients = PartOf(test, "gradients");
  compare->ExpectAt(gradients, "mu", "d mu", [&] { return d_x.mean; });
  compare->ExpectAt(gradients, "var", "d var", [&] { return d_x.Diagonal().var; });
  compare->ExpectAt(gradients, "cov", "d cov", [&] { return d_x.cov; });
}

}  // namespace fathom
