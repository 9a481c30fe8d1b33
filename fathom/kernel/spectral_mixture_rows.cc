#include "fathom/kernel/spectral_mixture_rows.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "fathom/base/error.h"

namespace fathom::spectral_mixture {

namespace {

constexpr double kTwoPi = 2 * 3.14159265358979323846;

using RowArray = Eigen::Array<double, 1, Eigen::Dynamic>;
using Rows = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MapRow = Eigen::Map<RowArray>;
using ConstMapRow = Eigen::Map<const RowArray>;
using Complex = std::complex<double>;

// Products of all rows of T but one, without dividing: T may hold zeros. others has T's shape.
void ProductsOfOthers(const Rows& T, Rows* others) {
  const Index D = T.rows();
  others->resize(D, T.cols());
  others->row(0).setOnes();
  for (Index d = 1; d < D; ++d) others->row(d) = others->row(d - 1) * T.row(d - 1);
  RowArray after = T.row(D - 1);
  for (Index d = D - 2; d >= 0; --d) {
    others->row(d) *= after;
    after *= T.row(d);
  }
}

}  // namespace

Components::Components(const Vector& theta, const Matrix& Z)
    : D(Z.cols()), M(Z.rows()), z(Z.transpose()) {
  Q = theta.size() / (1 + 2 * D);
  FATHOM_CHECK(Q >= 1 && theta.size() == Q * (1 + 2 * D));
  weights = theta.head(Q);
  W = kTwoPi * Eigen::Map<const Matrix>(theta.data() + Q, Q, D);
  A = kTwoPi * kTwoPi * Eigen::Map<const Matrix>(theta.data() + Q + Q * D, Q, D);
  cosz.resize(Q * D, M);
  sinz.resize(Q * D, M);
  for (Index q = 0; q < Q; ++q) {
    for (Index d = 0; d < D; ++d) {
      for (Index i = 0; i < M; ++i) {
        cosz(q * D + d, i) = std::cos(W(q, d) * z(d, i));
        sinz(q * D + d, i) = std::sin(W(q, d) * z(d, i));
      }
    }
  }
}

void Slopes::Finish(const Components& c, Eigen::Ref<Vector> d_theta, Eigen::Ref<Matrix> dZ) const {
  const Index size = c.Q * c.D;
  d_theta.head(c.Q) += Eigen::Map<const Vector>(weights, c.Q);
  d_theta.segment(c.Q, size) += kTwoPi * Eigen::Map<const Vector>(W, size);
  d_theta.tail(size) += kTwoPi * kTwoPi * Eigen::Map<const Vector>(A, size);
  dZ += Eigen::Map<const Matrix>(z, c.D, c.M).transpose();
}

namespace {

// Computes the damping of component q, its weight included, and the cosines T [D, M]; the sines
// too, where wanted.
void PlainComponent(const Components& c, Index q, const double* x, RowArray* damping, Rows* T,
                    Rows* sines) {
  RowArray exponent = RowArray::Zero(c.M);
  T->resize(c.D, c.M);
  if (sines != nullptr) sines->resize(c.D, c.M);
  for (Index d = 0; d < c.D; ++d) {
    const double cosx = std::cos(c.W(q, d) * x[d]);
    const double sinx = std::sin(c.W(q, d) * x[d]);
    const auto cosz = c.cosz.row(q * c.D + d).array();
    const auto sinz = c.sinz.row(q * c.D + d).array();
    exponent -= 0.5 * c.A(q, d) * (x[d] - c.z.row(d).array()).square();
    T->row(d) = cosx * cosz + sinx * sinz;
    if (sines != nullptr) sines->row(d) = sinx * cosz - cosx * sinz;
  }
  *damping = c.weights[q] * exponent.exp();
}

}  // namespace

void Plain(const Components& c, const double* x, double* k) {
  thread_local RowArray damping;
  thread_local Rows T;
  MapRow sum(k, c.M);
  sum.setZero();
  for (Index q = 0; q < c.Q; ++q) {
    PlainComponent(c, q, x, &damping, &T, nullptr);
    for (Index d = 0; d < c.D; ++d) damping *= T.row(d);
    sum += damping;
  }
}

void PlainBackward(const Components& c, const double* x, const double* d_k, const Slopes& slopes,
                   double* d_x) {
  thread_local RowArray damping, share, phase;
  thread_local Rows T, sines, others;
  for (Index q = 0; q < c.Q; ++q) {
    PlainComponent(c, q, x, &damping, &T, &sines);
    ProductsOfOthers(T, &others);
    damping *= ConstMapRow(d_k, c.M);
    share = damping * others.row(0) * T.row(0);
    slopes.weights[q] += share.sum() / c.weights[q];
    for (Index d = 0; d < c.D; ++d) {
      const double A = c.A(q, d);
      const double W = c.W(q, d);
      const RowArray delta = x[d] - c.z.row(d).array();
      phase = -damping * others.row(d) * sines.row(d);
      const RowArray pull = -A * share * delta + W * phase;
      slopes.A[q * c.D + d] -= 0.5 * (share * delta.square()).sum();
      slopes.W[q * c.D + d] += (phase * delta).sum();
      MapRow(slopes.z + d * c.M, c.M) -= pull;
      d_x[d] += pull.sum();
    }
  }
}

void PlainAlong(const Components& c, const double* x, Index d, double* first, double* second) {
  thread_local RowArray damping, delta;
  thread_local Rows T, sines;
  MapRow sum1(first, c.M);
  MapRow sum2(second, c.M);
  sum1.setZero();
  sum2.setZero();
  delta = x[d] - c.z.row(d).array();
  for (Index q = 0; q < c.Q; ++q) {
    PlainComponent(c, q, x, &damping, &T, &sines);
    for (Index other = 0; other < c.D; ++other) {
      if (other != d) damping *= T.row(other);
    }
    const double A = c.A(q, d);
    const double W = c.W(q, d);
    sum1 -= damping * (A * delta * T.row(d) + W * sines.row(d));
    sum2 += damping *
            ((A * A * delta.square() - A - W * W) * T.row(d) + 2 * A * W * delta * sines.row(d));
  }
}

namespace {

// One dimension of psi1 for one component and pseudo-input: R and its logarithmic slopes.
struct Integral {
  Integral(double A, double W, double mu, double s, double z)
      : h(1 / (1 + A * s)), tau(h * (mu - z), h * s * W), slope(h * -A * (mu - z), h * W) {
    const double delta = mu - z;
    R = std::sqrt(h) * std::exp(-0.5 * h * (A * delta * delta + W * W * s)) *
        Complex(std::cos(W * h * delta), std::sin(W * h * delta));
  }
  double h;
  Complex tau;    // d log R / dW = i tau,  d log R / dA = -1/2 (s h + tau^2)
  Complex slope;  // d log R / dmu
  Complex R;
};

// u + epsilon v with epsilon^2 = 0: a product and its derivative at once.
struct Dual {
  double u, v;
};
Dual operator*(const Dual& a, const Dual& b) { return {a.u * b.u, a.u * b.v + a.v * b.u}; }

}  // namespace

void Psi1(const Components& c, const Row& x, const Vector& a, double* psi1, double* slope) {
  const auto& [mu, s] = x;
  std::vector<double> T(c.D), dT(c.D), before(c.D);
  std::fill(psi1, psi1 + c.M, 0.0);
  std::fill(slope, slope + c.D, 0.0);
  for (Index q = 0; q < c.Q; ++q) {
    for (Index i = 0; i < c.M; ++i) {
      double product = c.weights[q];
      for (Index d = 0; d < c.D; ++d) {
        const Integral f(c.A(q, d), c.W(q, d), mu[d], s[d], c.z(d, i));
        T[d] = f.R.real();
        dT[d] = (f.R * f.slope).real();
        before[d] = product;
        product *= T[d];
      }
      psi1[i] += product;
      double after = a[i];
      for (Index d = c.D - 1; d >= 0; --d) {
        slope[d] += before[d] * dT[d] * after;
        after *= T[d];
      }
    }
  }
}

void Psi1Backward(const Components& c, const Row& x, const Vector& a, const Psi1Weights& weights,
                  const Psi1Gradient& gradient) {
  const auto& [mu, s] = x;
  const auto& [g, kappa] = weights;
  const Slopes& slopes = gradient.slopes;
  // The sought sum is, for each pseudo-input and component, the part g u + v of the dual product
  // of T_d + epsilon kappa_d dT_d/dmu_d.
  std::vector<Integral> integrals;
  std::vector<Dual> T(c.D), before(c.D);
  const Complex unit(0, 1);
  for (Index q = 0; q < c.Q; ++q) {
    for (Index i = 0; i < c.M; ++i) {
      integrals.clear();
      Dual product{1, 0};
      for (Index d = 0; d < c.D; ++d) {
        const Integral f(c.A(q, d), c.W(q, d), mu[d], s[d], c.z(d, i));
        T[d] = {f.R.real(), kappa[d] * (f.R * f.slope).real()};
        before[d] = product;
        product = product * T[d];
        integrals.push_back(f);
      }
      const double total = g * product.u + product.v;
      gradient.a[i] += c.weights[q] * total;
      slopes.weights[q] += a[i] * total;
      Dual after{c.weights[q] * a[i], 0};
      for (Index d = c.D - 1; d >= 0; --d) {
        const Dual others = before[d] * after;
        after = after * T[d];
        const double d_T = g * others.u + others.v;
        const double d_slope = kappa[d] * others.u;
        const Integral& f = integrals[d];
        const double A = c.A(q, d);
        // Slopes of R are R times a logarithmic one; those of R slope by the product rule.
        const auto pull = [&](const Complex& log_slope, const Complex& slope_of_slope) {
          return d_T * (f.R * log_slope).real() +
                 d_slope * (f.R * (log_slope * f.slope + slope_of_slope)).real();
        };
        const double move = pull(f.slope, -A * f.h);
        slopes.A[q * c.D + d] += pull(-0.5 * (s[d] * f.h + f.tau * f.tau), -f.h * f.tau);
        slopes.W[q * c.D + d] += pull(unit * f.tau, unit * f.h);
        slopes.z[d * c.M + i] -= move;
        gradient.mu[d] += move;
        gradient.s[d] += pull(0.5 * (f.slope * f.slope - A * f.h), -A * f.h * f.slope);
      }
    }
  }
}

}  // namespace fathom::spectral_mixture
