// The energy of EP and its gradient, the factors fixed: the half of Ep that the optimiser sees.
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/inference/ep.h"

namespace fathom {

void Ep::FirstLayerDown(const Point& point, const std::vector<LineCavities>& cavities,
                        const CertainLayer& first, RowSums* sums) const {
  GpLayer& d_layer = sums->gradient.layers[0];
  if (d_layer.noise_variance.size() > 0)
    d_layer.noise_variance += first.d_out.var.colwise().sum().transpose();
  pool_.Run(d_layer.outputs(), [&](Index d) {
    const Vector d_t = first.d_out.mean.col(d);
    const Vector d_s = first.d_out.var.col(d);
    const CertainRows d_rows{
        MomentsAlongBackward(factors_[0][d].q, &cavities[d], first.moments[d], d_t, d_s), d_s};
    ProjectCertainBackward({point.model.layers[0].gps[d], point.grams[0][d].L_inverse, first.x},
                           first.rows[d], d_rows, &d_layer.gps[d], &sums->phi_arguments[0][d]);
  });
}

void Ep::RowSums::Add(const RowSums& other) {
  value += other.value;
  gradient.likelihood_parameters += other.gradient.likelihood_parameters;
  for (std::size_t l = 0; l < phi_arguments.size(); ++l) {
    gradient.layers[l].noise_variance += other.gradient.layers[l].noise_variance;
    for (std::size_t d = 0; d < phi_arguments[l].size(); ++d) {
      gradient.layers[l].gps[d].theta += other.gradient.layers[l].gps[d].theta;
      gradient.layers[l].gps[d].Z += other.gradient.layers[l].gps[d].Z;
      phi_arguments[l][d] += other.phi_arguments[l][d];
    }
  }
}

Ep::RowSums Ep::NoSums() const {
  RowSums sums{0, shape_.ZeroLike(), {}};
  for (const GpLayer& layer : shape_.layers) {
    sums.phi_arguments.emplace_back();
    for (const SparseGp& gp : layer.gps)
      sums.phi_arguments.back().emplace_back(Matrix::Zero(gp.num_inducing(), gp.num_inducing()));
  }
  return sums;
}

void Ep::AddRow(const Point& point, const EnergyRow& row, CertainLayer* first, RowStep* step,
                RowSums* sums) const {
  const auto& [n, i, scale, want_gradient] = row;
  PerFunction<Belief> cavities;
  if (!SetCavities(point, n, step, &cavities))
    throw NumericalError("the cavity of a row is not a distribution");
  const Moments raw = RawRow(n);
  double value = step->Run(options_.alpha, first_dense_ == 1 ? RowOf(first->out, i) : raw, raw,
                           y_.row(n).data());
  for (Index l = first_dense_; options_.alpha > 0 && l < shape_.num_layers(); ++l) {
    for (std::size_t d = 0; d < factors_[l].size(); ++d)
      value += cavities[l][d].phi - factors_[l][d].q.phi;
  }
  sums->value += weights_[n] * value;
  if (!want_gradient) return;
  const double counts = scale * weights_[n];
  if (first_dense_ == 1) {
    first->d_out.mean.row(i) = counts * step->d_below().mean;
    first->d_out.var.row(i) = counts * step->d_below().var;
  }
  sums->gradient.likelihood_parameters += counts * step->sums().likelihood();
  CavitySlopes slopes;
  for (Index l = first_dense_; l < shape_.num_layers(); ++l) {
    GpLayer& d_layer = sums->gradient.layers[l];
    d_layer.noise_variance += counts * step->sums().noise(l);
    for (std::size_t d = 0; d < factors_[l].size(); ++d) {
      const RowStep::Slopes& found = step->FunctionSlopes(l, static_cast<Index>(d));
      d_layer.gps[d].theta += counts * found.theta;
      d_layer.gps[d].Z += counts * found.Z;
      WhitenSlopes(found.cavity, point.grams[l][d].L_inverse, &slopes);
      ConditionBackward(cavities[l][d], slopes, counts, &sums->phi_arguments[l][d]);
    }
  }
}

Ep::RowSums Ep::SumRows(const Point& point, std::span<const Index> batch, double scale,
                        bool want_gradient, CertainLayer* first) const {
  const auto count = static_cast<Index>(batch.size());
  std::vector<RowSums> slots(RowSteps::NumSlots(count), NoSums());
  RowSteps steps;
  steps.Run(point.model, first_dense_, uncertain_inputs_, count, pool_,
            [&](RowStep* step, Index slot, Index i) {
              AddRow(point, {batch[i], i, scale, want_gradient}, first, step, &slots[slot]);
            });
  for (std::size_t s = 1; s < slots.size(); ++s) slots[0].Add(slots[s]);
  return std::move(slots[0]);
}

double Ep::FactorTerms() const {
  double F = 0;
  for (const auto& layer : factors_) {
    for (const Factors& factors : layer) {
      F += factors.q.phi;
      if (options_.alpha > 0) continue;
      const Vector Tm = factors.total.T * factors.q.m;
      F += 0.5 * (factors.total.T.cwiseProduct(factors.q.V).sum() + Tm.dot(factors.q.m)) -
           factors.total.h.dot(factors.q.m);
    }
  }
  return F;
}

double Ep::Energy(const Point& point, std::span<const Index> batch, DeepGp* gradient) const {
  const double alpha = options_.alpha;
  const double scale = static_cast<double>(x_.rows()) /
                       ((alpha == 0 ? 1 : alpha) * static_cast<double>(batch.size()));
  double F = FactorTerms();
  CertainLayer first;
  std::vector<LineCavities> line_cavities;
  if (first_dense_ == 1) {
    ProjectFirstLayer(point, batch, &first);
    line_cavities = FirstLayerUp(point.model, batch, &first);
    for (const LineCavities& cavities : line_cavities) {
      if (!cavities.proper()) throw NumericalError("the cavity of a row is not a distribution");
      for (std::size_t i = 0; alpha > 0 && i < batch.size(); ++i)
        F += scale * weights_[batch[i]] * cavities.d_phi[static_cast<Index>(i)];
    }
  }
  RowSums sums = SumRows(point, batch, scale, gradient != nullptr, &first);
  F += scale * sums.value;
  if (gradient == nullptr) return F;
  if (first_dense_ == 1) FirstLayerDown(point, line_cavities, first, &sums);
  ForFunctions(0, [&](Index l, Index d) {
    const SparseGp& gp = point.model.layers[l].gps[d];
    const Gram& gram = point.grams[l][d];
    SparseGp& d_gp = sums.gradient.layers[l].gps[d];
    Matrix scratch;
    Matrix& dK = sums.phi_arguments[l][d];
    FactorGramBackward(gram.L_inverse, gram.jitter, &dK, &scratch);
    AlignedBuffer kernel_scratch;
    gp.kernel->GramBackward(gp.theta, gp.Z, gram.K, dK, {d_gp.theta, d_gp.Z}, &kernel_scratch);
  });
  *gradient = std::move(sums.gradient);
  return F;
}

bool Ep::Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                  std::string* reason) const {
  return EvaluateSafely(
      [&](DeepGp* d_model) {
        const Point point = At(parameters);
        return std::pair(Energy(point, batch.rows, d_model), point.model);
      },
      value, gradient, reason);
}

}  // namespace fathom
