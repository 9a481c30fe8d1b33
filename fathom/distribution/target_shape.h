// What a number can be, where a Gaussian around its mean does not tell it: positive, between two
// bounds, given in steps, or the same value in many rows. A latent z, which may be anything, is
// predicted in its place; the shape says how y follows from it:
//   P(y = value) = share                                          the value that many rows have
//   else z = warp(y):  p(y) = (1 - share) p(z) warp'(y)           a number
//                      P(y) = (1 - share) P(z in warp(y -+ step/2))   a number given in steps
//                                                                                  [target-shape]
// or, where errors have two humps, z lies below or, with the probability share, a gap higher:
//   p(y) = ((1 - share) p(warp(y)) + share p(warp(y) - gap)) warp'(y)                 [two-humps]
// A density of steps, or of the value, is its probability over the step: so it can be compared with
// other densities, and is never narrower than the data's own grid.
#ifndef FATHOM_DISTRIBUTION_TARGET_SHAPE_H_
#define FATHOM_DISTRIBUTION_TARGET_SHAPE_H_

#include <limits>
#include <memory>
#include <string>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/distribution/prediction.h"

namespace fathom FATHOM_PUBLIC {

// A rising function of y. Outside of what was seen it goes straight on, so that every number has a
// density, and means exist however wide z is.
struct Warp {
  enum class Kind {
    kNone,   // y
    kLog,    // log(y + shift)
    kLogit,  // log(y - low + shift) - log(high - y + shift)
  };
  Kind kind = Kind::kNone;
  double shift = 0;
  double low = 0, high = 0;  // between these it bends

  double Forward(double y) const;
  double LogSlope(double y) const;  // log of the derivative of Forward

  bool operator==(const Warp&) const = default;

 private:
  friend class InverseWarp;
  double Bent(double y) const;
  double Slope(double y) const;  // of Bent
};
// The inverse of Warp::Forward. Where the bent part ends is found once, for many z.
class InverseWarp {
 public:
  explicit InverseWarp(const Warp& warp);
  double operator()(double z) const;

 private:
  struct End {
    double y = 0, z = 0, slope = 1;  // of Forward
  };
  double Straight(const End& end, double z) const { return end.y + (z - end.z) / end.slope; }

  Warp warp_;
  End low_, high_;
};
constexpr auto NamesOf(Warp::Kind) {
  return std::to_array<EnumName<Warp::Kind>>(
      {{Warp::Kind::kNone, "none"}, {Warp::Kind::kLog, "log"}, {Warp::Kind::kLogit, "logit"}});
}

struct TargetShape {
  Warp warp = {};
  // 0: y is continuous. Otherwise it is least, least + step, ...; what z says below `least` counts
  // as that, and likewise above `most`.
  double step = 0;
  double least = 0, most = std::numeric_limits<double>::infinity();
  // The value that many rows have has a probability of its own.
  bool has_value = false;
  double value = 0;
  double value_width = 0;  // the step that its probability is spread over in a density
  // From the lower hump to the upper one, which z leaves out; 0: there is one hump. Neither steps
  // nor a frequent value go with two.
  double gap = 0;

  bool is_plain() const { return warp.kind == Warp::Kind::kNone && step == 0 && !has_share(); }
  // Whether a probability is predicted beside z: of the frequent value, or of the upper hump.
  bool has_share() const { return has_value || gap > 0; }
  bool IsValue(double y) const;
  // Where z lies if y is given in steps: [low, high], perhaps infinite.
  struct Cell {
    double low, high;
  };
  Cell CellOf(double y) const;

  bool operator==(const TargetShape&) const = default;
};

// "predicted as probabilities of steps of 1, on a log scale, 0 apart"; empty for any number.
std::string Describe(const TargetShape& shape);

// Throws Error with the reason if it makes no sense.
void CheckShape(const TargetShape& shape);

// The y that follows from z, which has one output. `share` [N] is the probability of the value or
// of the upper hump; empty where the shape has neither.
Prediction Shaped(const TargetShape& shape, Prediction z, const Vector& share);

// log P(low < z <= high) of N(mean, sd^2), good in both tails.
double LogProbabilityBetween(double low, double high, double mean, double sd);

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_TARGET_SHAPE_H_
