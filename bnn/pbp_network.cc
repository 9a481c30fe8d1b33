#include "bnn/pbp_network.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/distribution/prediction.h"

namespace fathom::bnn {

namespace {

double NormalPdf(double q) { return std::exp(-0.5 * q * q) / std::sqrt(2 * std::numbers::pi); }

// Beyond this Phi is 0 or 1 and phi is 0; q^2 must not overflow.
constexpr double kFarOut = 1e3;

}  // namespace

void ReluMoments(ReluTape* tape) {
  const Moments& in = tape->in;
  tape->out.Resize(in.rows(), in.cols());
  tape->P.resize(in.rows(), in.cols());
  tape->Pc.resize(in.rows(), in.cols());
  tape->p.resize(in.rows(), in.cols());
  for (Index i = 0; i < in.mean.size(); ++i) {
    const double m = in.mean.data()[i];
    const double v = in.var.data()[i];
    const double s = std::sqrt(v);
    const double q = v > 0 ? std::clamp(m / s, -kFarOut, kFarOut) : std::copysign(kFarOut, m);
    const double P = m == 0 && v == 0 ? 0 : NormalCdf(q);  // the ReLU has slope 0 at 0
    const double Pc = NormalCdf(-q);
    const double p = NormalPdf(q);
    tape->P.data()[i] = P;
    tape->Pc.data()[i] = Pc;
    tape->p.data()[i] = p;
    tape->out.mean.data()[i] = m * P + s * p;
    tape->out.var.data()[i] = std::max(0.0, v * (q * q * P * Pc + P + q * p * (Pc - P) - p * p));
  }
}

Moments ReluMomentsBackward(const ReluTape& tape, const Moments& d_out) {
  Moments d(d_out.rows(), d_out.cols());
  for (Index i = 0; i < d.mean.size(); ++i) {
    const double d_mz = d_out.mean.data()[i];
    const double d_vz = d_out.var.data()[i];
    const double P = tape.P.data()[i];
    const double m_z = tape.out.mean.data()[i];
    const double s = std::sqrt(tape.in.var.data()[i]);
    const double p_over_s = s > 0 ? tape.p.data()[i] / s : 0;
    d.mean.data()[i] = P * d_mz + 2 * m_z * tape.Pc.data()[i] * d_vz;
    d.var.data()[i] = 0.5 * p_over_s * d_mz + (P - m_z * p_over_s) * d_vz;
  }
  return d;
}

void PbpForward(const MlpShape& shape, const GaussianWeights& weights, const Moments& x,
                PbpTape* tape) {
  FATHOM_CHECK(x.cols() == shape.inputs());
  const Index L = shape.num_layers();
  tape->z.resize(static_cast<std::size_t>(L));
  tape->relu.resize(static_cast<std::size_t>(L - 1));
  for (Index l = 0; l < L; ++l) {
    const Moments& below = l == 0 ? x : tape->relu[l - 1].out;
    Moments& z = tape->z[l];
    const Index inputs = shape.fan_in(l);
    z.Resize(x.rows(), inputs + 1);
    z.mean.leftCols(inputs) = below.mean;
    z.var.leftCols(inputs) = below.var;
    z.mean.col(inputs).setOnes();
    z.var.col(inputs).setZero();
    const double c = 1 / static_cast<double>(inputs + 1);
    const auto M = shape.Layer(weights.M, l);
    const auto V = shape.Layer(weights.V, l);
    Moments& a = l + 1 < L ? tape->relu[l].in : tape->f;
    a.Resize(x.rows(), shape.fan_out(l));
    SetTimesTransposed(std::sqrt(c) * z.mean, M, a.mean);
    SetTimesTransposed(c * (z.mean.cwiseAbs2() + z.var), V, a.var);
    if (l > 0 || !z.var.isZero(0)) {
      Matrix by_mean(a.rows(), a.cols());
      SetTimesTransposed(c * z.var, M.cwiseAbs2(), by_mean);
      a.var += by_mean;
    }
    if (l + 1 < L) ReluMoments(&tape->relu[l]);
  }
}

void PbpBackward(const MlpShape& shape, const GaussianWeights& weights, const PbpTape& tape,
                 const Moments& d_f, GaussianWeights* gradient) {
  gradient->M.resize(shape.num_weights());
  gradient->V.resize(shape.num_weights());
  Moments d = d_f;
  for (Index l = shape.num_layers() - 1; l >= 0; --l) {
    const Moments& z = tape.z[l];
    const Index inputs = shape.fan_in(l);
    const double c = 1 / static_cast<double>(inputs + 1);
    const auto M = shape.Layer(weights.M, l);
    const auto V = shape.Layer(weights.V, l);
    auto gM = shape.Layer(&gradient->M, l);
    SetTransposedTimes(std::sqrt(c) * d.mean, z.mean, gM);
    const Matrix c_var = c * d.var;
    if (l > 0 || !z.var.isZero(0)) {
      const Matrix by_var = Product(Transposed(c_var), {z.var});
      gM += 2 * by_var.cwiseProduct(M);
    }
    SetTransposedTimes(c_var, z.mean.cwiseAbs2() + z.var, shape.Layer(&gradient->V, l));
    if (l == 0) return;
    Moments d_z(z.rows(), inputs);
    SetProduct(std::sqrt(c) * d.mean, M.leftCols(inputs), d_z.mean);
    SetProduct(c_var, V.leftCols(inputs), d_z.var);
    d_z.mean += 2 * d_z.var.cwiseProduct(z.mean.leftCols(inputs));
    SetProduct(c_var, (M.cwiseAbs2() + V).leftCols(inputs), d_z.var);
    d = ReluMomentsBackward(tape.relu[l - 1], d_z);
  }
}

GaussianEvidence::GaussianEvidence(double y, double mean, double var)
    : log_z(LogNormalPdf(y, mean, var)),
      d_mean((y - mean) / var),
      d_var(0.5 * ((y - mean) * (y - mean) / var - 1) / var) {}

bool AdfUpdate(double d_mean, double d_var, double* mean, double* var) {
  const double new_mean = *mean + *var * d_mean;
  const double new_var = *var - *var * *var * (d_mean * d_mean - 2 * d_var);
  if (!(new_var > 1e-100) || !std::isfinite(new_var) || !std::isfinite(new_mean)) return false;
  *mean = new_mean;
  *var = new_var;
  return true;
}

Index AdfUpdate(const GaussianWeights& gradient, GaussianWeights* weights, Vector* refused) {
  if (refused != nullptr) refused->setZero(weights->M.size());
  Index count = 0;
  for (Index i = 0; i < weights->M.size(); ++i) {
    if (AdfUpdate(gradient.M[i], gradient.V[i], &weights->M[i], &weights->V[i])) continue;
    ++count;
    if (refused != nullptr) (*refused)[i] = 1;
  }
  return count;
}

}  // namespace fathom::bnn
