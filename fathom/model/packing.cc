#include "fathom/model/packing.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// Calls visit(array, place in the array, whether on a logarithmic scale) for every number that is
// free to move, in order.
template <typename Visit>
void ForEachNumber(const std::vector<ParameterArray>& arrays, const Packing& packing, Visit visit) {
  for (const ParameterArray& array : arrays) {
    if (array.posterior && !packing.with_posterior) continue;
    if (array.kind == ParameterKind::kLowerTriangle) {
      for (Index i = 0; i < array.shape[0]; ++i) {
        for (Index j = 0; j <= i; ++j) visit(array, i * array.shape[1] + j, i == j);
      }
    } else {
      for (Index i = 0; i < array.size; ++i) visit(array, i, array.kind != ParameterKind::kFree);
    }
  }
}

double FloorOf(const ParameterArray& array, const Packing& packing) {
  return array.kind == ParameterKind::kNoise ? packing.noise_floor : 0;
}

// Far outside any sensible model, so that exp() neither overflows nor reaches 0 in a wild step.
constexpr double kMaxLog = 300;

}  // namespace

Index NumUnconstrained(const DeepGp& model, const Packing& packing) {
  DeepGp copy = model;
  Index count = 0;
  ForEachNumber(Parameters(&copy), packing, [&](const auto&, Index, bool) { ++count; });
  return count;
}

Vector Pack(const DeepGp& model, const Packing& packing) {
  DeepGp copy = model;
  Vector out(NumUnconstrained(model, packing));
  Index k = 0;
  ForEachNumber(
      Parameters(&copy), packing, [&](const ParameterArray& array, Index i, bool logarithmic) {
        // A noise at or below the floor starts a thousandth above it.
        const double floor = FloorOf(array, packing);
        const double above = std::max(array.data[i] - floor, 1e-3 * floor);
        out[k++] = logarithmic ? std::log(floor > 0 ? above : array.data[i]) : array.data[i];
      });
  return out;
}

namespace {

void UnpackTo(const std::vector<ParameterArray>& arrays, const Vector& unconstrained,
              const Packing& packing, DeepGp* model) {
  Index k = 0;
  ForEachNumber(arrays, packing, [&](const ParameterArray& array, Index i, bool logarithmic) {
    const double value = unconstrained[k++];
    array.data[i] = logarithmic
                        ? FloorOf(array, packing) + std::exp(std::clamp(value, -kMaxLog, kMaxLog))
                        : value;
  });
  FATHOM_CHECK(k == unconstrained.size());
  SpreadShared(model);
}

void PackSlopes(const std::vector<ParameterArray>& values,
                const std::vector<ParameterArray>& slopes, const Packing& packing, DeepGp* gradient,
                Vector* unconstrained) {
  GatherShared(gradient);
  Index k = 0;
  ForEachNumber(values, packing, [&](const ParameterArray& array, Index i, bool logarithmic) {
    const double slope = slopes[&array - values.data()].data[i];
    (*unconstrained)[k++] = logarithmic ? slope * (array.data[i] - FloorOf(array, packing)) : slope;
  });
  FATHOM_CHECK(k == unconstrained->size());
}

}  // namespace

void Unpack(const Vector& unconstrained, const Packing& packing, DeepGp* model) {
  UnpackTo(Parameters(model), unconstrained, packing, model);
}

void Unpack(const Vector& unconstrained, const Packing& packing, ListedModel* model) {
  UnpackTo(model->parameters, unconstrained, packing, &model->model);
}

void PackGradient(const DeepGp& model, const Packing& packing, DeepGp* gradient,
                  Vector* unconstrained) {
  // Parameters() needs a writable model; nothing is written through these arrays.
  PackSlopes(Parameters(const_cast<DeepGp*>(&model)), Parameters(gradient), packing,  // NOLINT
             gradient, unconstrained);
}

void PackGradient(const ListedModel& model, const Packing& packing, ListedModel* gradient,
                  Vector* unconstrained) {
  PackSlopes(model.parameters, gradient->parameters, packing, &gradient->model, unconstrained);
}

}  // namespace fathom
