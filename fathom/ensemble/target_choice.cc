#include "fathom/ensemble/target_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "fathom/data/input_range.h"
#include "fathom/ensemble/calibrate.h"
#include "fathom/ensemble/humps.h"
#include "fathom/fitted/linear_expert.h"
#include "fathom/fitted/predictor.h"

namespace fathom {

namespace {

// The recipe of an ensemble of the cheap members.
Recipe Cheap(const Recipe& recipe) {
  Recipe cheap = recipe;
  cheap.local = Local::kOnly;
  return cheap;
}

EnsembleParts PartsOf(const NumberEnsemble& members) {
  return {members.members(), *members.calibration(), members.centre(), members.OnLine()};
}

// A straight line and neighbours on what it leaves over.
ShapedTarget::Fit LineAndNeighbours(const Recipe& cheap, const ThreadPool& pool) {
  return [&cheap, &pool](const ScaledTable& table) {
    NumberEnsemble members(table, cheap, pool, nullptr);
    members.Finish({});
    return PartsOf(members);
  };
}

// A straight line alone, which costs next to nothing.
ShapedTarget::Fit LineAlone(const Recipe& cheap, const ThreadPool& pool) {
  return [&cheap, &pool](const ScaledTable& table) {
    const RidgeFit line = FitRidge(table.x, table.y, table.weights, table.copies);
    EnsembleParts parts;
    parts.calibration = Calibrate(table, {line.left_out, nullptr}, cheap.seed, pool, &parts.centre);
    parts.members.push_back({.expert = std::make_shared<LinearExpert>(line.ridge),
                             .input_scaler = table.input_scaler,
                             .target_scaler = table.target_scaler,
                             .weight = 1,
                             .recipe = cheap,
                             .summary = {}});
    return parts;
  };
}

Vector LeftOutErrors(const ScaledTable& table, const EnsembleParts& ensemble) {
  return table.target_scaler.scale[0] * (table.y - ensemble.centre.mean).col(0);
}

// What left-out rows say of a shape.
struct Trial {
  HeldOutCheck check;
  std::vector<NeighbourGp> on_line;
  Vector errors;  // of z, in its own units
};
Trial Try(const Dataset& dataset, const TargetShape& shape, const Recipe& cheap,
          const ShapedTarget::Fit& fit, const Vector& upper = {}) {
  const ShapedTarget target(dataset, shape, cheap, fit, upper);
  const ScaledTable table = target.Scaled(cheap);
  const EnsembleParts ensemble = fit(table);
  return {target.Complete(ensemble, table)->check, ensemble.on_line,
          LeftOutErrors(table, ensemble)};
}

// How much better than the plain one, in nats per row. A larger error must be paid for: one per
// cent with a tenth of a nat.
double Gain(const HeldOutCheck& check, const HeldOutCheck& plain) {
  constexpr double kPrice = 10;
  const double dearer = std::max(0.0, check.rmse / plain.rmse - 1);
  return check.log_likelihood - plain.log_likelihood - kPrice * dearer;
}
constexpr double kWorthIt = 5;  // nats in all

Dataset WithTargets(const Dataset& dataset, Matrix targets) {
  DatasetParts parts = dataset.parts();
  parts.targets = std::move(targets);
  return parts;
}

Moments Unscaled(const Scaler& scaler, const Moments& scaled) {
  Moments centre = scaled;
  centre.mean = centre.mean * scaler.scale.asDiagonal();
  centre.mean.rowwise() += scaler.mean.transpose();
  centre.var = centre.var * scaler.scale.cwiseAbs2().asDiagonal();
  return centre;
}

// The steps, and the warps that may suit numbers of this nature.
void AddWarps(const TargetNature& nature, TargetShape shape, std::vector<TargetShape>* shapes) {
  shapes->push_back(shape);
  const double range = nature.most - nature.least;
  const bool positive = shape.step > 0 ? shape.least >= 0 : nature.least > 0;
  if (positive && nature.skewed) {
    // The second one bends less: from straight to a logarithm around the median.
    const double half = 0.5 * shape.step;
    std::vector<double> shifts = {half};
    if (nature.median > 0) shifts.push_back(half + nature.median);
    for (const double shift : shifts) {
      shape.warp = {Warp::Kind::kLog, shift, shape.step > 0 ? shape.least : 0.1 * nature.least,
                    nature.most};
      if (shape.warp.low + shift > 0) shapes->push_back(shape);
    }
  }
  if (nature.bounded && shape.step == 0) {
    constexpr double kSoft = 0.01;
    const double most = nature.most > 1 ? 100 : 1;
    shape.warp = {Warp::Kind::kLogit, kSoft * range, 0, most};
    shapes->push_back(shape);
  }
}

Vector Without(const Vector& target, double value) {
  std::vector<double> rest;
  for (const double y : target) {
    if (y != value) rest.push_back(y);
  }
  return Eigen::Map<const Vector>(rest.data(), static_cast<Index>(rest.size()));
}

// Scores of a prediction, row by row.
class Check {
 public:
  void Add(const Prediction& prediction, const Vector& y, const Vector& weights) {
    const Matrix mean = prediction.Mean();
    for (Index n = 0; n < y.size(); ++n) {
      const double weight = weights.size() > 0 ? weights[n] : 1;
      ++rows_;
      sum_ += weight;
      log_likelihood_ += weight * std::max(prediction.LogDensity(n, y.row(n)), kLeast);
      squares_ += weight * std::pow(y[n] - mean(n, 0), 2);
      const double before = prediction.discrete()
                                ? y[n] - 0.5 * prediction.observations[0]->lattice().step
                                : std::nextafter(y[n], -HUGE_VAL);
      covered_ += weight * PartInside(prediction.Cdf(n, 0, before), prediction.Cdf(n, 0, y[n]));
    }
  }

  HeldOutCheck Take() const {
    return {.rows = rows_,
            .coverage_95 = covered_ / sum_,
            .log_likelihood = log_likelihood_ / sum_,
            .rmse = std::sqrt(squares_ / sum_)};
  }

 private:
  static constexpr double kLeast = -700;

  // The part of the probability between the two that lies in the central interval of 95 %.
  static double PartInside(double below, double up_to) {
    constexpr double kLow = 0.025, kHigh = 0.975;
    if (!(up_to > below)) return up_to > kLow && up_to < kHigh ? 1 : 0;
    const double part = std::min(up_to, kHigh) - std::max(below, kLow);
    return std::clamp(part / (up_to - below), 0.0, 1.0);
  }

  Index rows_ = 0;
  double sum_ = 0, log_likelihood_ = 0, squares_ = 0, covered_ = 0;
};

// The rows of a table that lie on the upper one of two humps; the shape knows their gap.
struct TwoHumps {
  TargetShape shape;
  Vector upper = {};  // [N]
};

// Rows are told apart by the errors that they have when they are left out, at first those of one
// hump. Without the gap the members are far more exact, and so then are the gap and the sides. If
// the result has no gap, the table has one hump.
TwoHumps FindTwoHumps(const Dataset& dataset, const TargetShape& one_hump, Vector errors,
                      const Recipe& cheap, const ShapedTarget::Fit& fit) {
  const Vector z =
      dataset.targets().col(0).unaryExpr([&](double y) { return one_hump.warp.Forward(y); });
  TwoHumps found{.shape = one_hump};
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    const Humps humps = FindHumps(errors, dataset.weights());
    if (humps.gap == 0) return {.shape = one_hump};
    found.shape.gap = humps.gap;
    found.upper = (errors.array() > humps.between).cast<double>();
    if (round + 1 == kRounds) break;
    const Vector shift = found.shape.gap * found.upper;
    const ScaledTable table = ScaleTable(WithTargets(dataset, z - shift), cheap);
    errors = LeftOutErrors(table, fit(table)) + shift;
  }
  return found;
}

Vector Rows(const Vector& values, const std::vector<Index>& rows) {
  return values.size() > 0 ? Vector(values(rows)) : Vector();
}

}  // namespace

std::vector<TargetShape> ShapesFor(const TargetNature& nature, const Vector& target) {
  if (nature.distinct < 2) return {{}};
  TargetShape shape;
  if (nature.has_two_values()) {
    shape.step = shape.value_width = nature.most - nature.least;
    shape.least = shape.most = nature.least;
    shape.has_value = true;
    shape.value = nature.most;
    return {shape};
  }
  if (nature.step > 0) {
    shape.step = nature.step;
    // Numbers that are no counts may go on below, far beyond what was seen.
    const double beyond = 3 * std::ceil((nature.most - nature.least) / nature.step);
    shape.least = nature.is_count() ? 0 : nature.least - beyond * nature.step;
  }
  std::vector<TargetShape> shapes;
  AddWarps(nature, shape, &shapes);
  const bool at_an_end = nature.common == nature.least || nature.common == nature.most;
  if (!nature.has_frequent_value() || (nature.step > 0 && !at_an_end)) return shapes;
  const TargetNature rest = NatureOf(Without(target, nature.common));
  constexpr double kFine = 1e-3;  // of the spread: what has a probability has no finite density
  shape.has_value = true;
  shape.value = nature.common;
  shape.value_width = shape.step > 0 ? shape.step : kFine * rest.sd;
  if (shape.step > 0 && nature.common == nature.least) shape.least = nature.common + shape.step;
  AddWarps(rest, shape, &shapes);
  return shapes;
}

ShapedTarget::ShapedTarget(const Dataset& dataset, const TargetShape& shape, const Recipe& recipe,
                           const Fit& fit, const Vector& upper)
    : all_(dataset), latent_(dataset), shape_(shape), apart_(upper) {
  FATHOM_CHECK(upper.size() == (shape.gap > 0 ? dataset.rows() : 0));
  const Vector y = dataset.targets().col(0);
  const bool two = shape.has_value && shape.step > 0 && shape.least == shape.most;
  for (Index n = 0; n < y.size(); ++n) {
    if (two || !shape.IsValue(y[n])) rows_of_latent_.push_back(n);
  }
  const Dataset rest = Subset(dataset, rows_of_latent_);
  Matrix z = rest.targets().unaryExpr([&](double value) { return shape.warp.Forward(value); });
  if (shape.gap > 0) z -= shape.gap * upper;
  latent_ = WithTargets(rest, std::move(z));
  if (shape.has_value) apart_ = y.unaryExpr([&](double v) { return shape.IsValue(v) ? 1.0 : 0.0; });
  if (shape.has_share() && !two) LearnShare(recipe, fit);
}

void ShapedTarget::LearnShare(const Recipe& recipe, const Fit& fit) {
  const ScaledTable table = ScaleTable(WithTargets(all_, apart_), recipe);
  EnsembleParts ensemble = fit(table);
  ModelParts parts;
  parts.schema = all_.schema();
  parts.members = std::move(ensemble.members);
  share_ = std::make_shared<const Model>(std::move(parts));
  q_ = Unscaled(table.target_scaler, ensemble.centre).mean.col(0);
}

ScaledTable ShapedTarget::Scaled(const Recipe& recipe) const {
  ScaledTable table = ScaleTable(latent_, recipe);
  if (shape_.step > 0 && !has_two_values())
    AddCells(shape_, Rows(all_.targets().col(0), rows_of_latent_), &table);
  return table;
}

std::shared_ptr<const Calibration> ShapedTarget::Complete(const EnsembleParts& ensemble,
                                                          const ScaledTable& table) const {
  auto whole = std::make_shared<Calibration>(ensemble.calibration);
  if (shape_.is_plain()) return whole;
  const Moments centre = Unscaled(table.target_scaler, ensemble.centre);
  Check check;
  const Vector y = all_.targets().col(0);
  Vector share;
  if (shape_.has_share()) {
    Vector q = q_;
    if (has_two_values())
      q = (centre.mean.col(0).array() - shape_.least) / (shape_.value - shape_.least);
    whole->share_logit = FitShareLogit(q, apart_, all_.weights());
    share = SharesOf(whole->share_logit, q);
  }
  check.Add(Shaped(shape_, Spread(*whole, centre), Rows(share, rows_of_latent_)),
            Rows(y, rows_of_latent_), Rows(all_.weights(), rows_of_latent_));
  if (rows_of_latent_.size() < static_cast<std::size_t>(rows())) {
    // The members have not seen the rows of the frequent value.
    std::vector<Index> others;
    for (Index n = 0; n < rows(); ++n) {
      if (shape_.IsValue(y[n])) others.push_back(n);
    }
    ModelParts parts;
    parts.schema = all_.schema();
    parts.members = ensemble.members;
    parts.data.range = FindInputRange(all_.inputs());
    parts.calibration = std::make_shared<const Calibration>(ensemble.calibration);
    const Moments x{all_.inputs().mean(others, Eigen::all), all_.inputs().var(others, Eigen::all)};
    Prediction z = ModelPredictor(Model(std::move(parts)), 1).Predict(x);
    check.Add(Shaped(shape_, std::move(z), Rows(share, others)), Rows(y, others),
              Rows(all_.weights(), others));
  }
  whole->shape = shape_;
  whole->share = share_;
  whole->check = check.Take();
  return whole;
}

namespace {

// Enough rows to tell shapes apart: so many in all, and so many that do not have the value that
// most rows have, as far as there are any.
constexpr Index kTriedRows = 1000, kOtherRows = 50;

Dataset TriedRows(const Dataset& dataset, double common, std::uint64_t seed) {
  RandomStream stream(seed, 6);
  std::vector<Index> rows;
  Index others = 0;
  for (const Index n : stream.Permutation(dataset.rows())) {
    const double y = dataset.targets()(n, 0);
    const bool is_other = !std::isnan(y) && y != common;
    if (std::ssize(rows) >= kTriedRows && !(is_other && others < kOtherRows)) continue;
    rows.push_back(n);
    if (is_other) ++others;
  }
  std::sort(rows.begin(), rows.end());
  return Subset(dataset, rows);
}

// A shape, and what left-out rows say of it.
struct Tried {
  TargetShape shape;
  Trial trial;
};

// Of several shapes: the straight line says which one may be worth it, and its neighbours whether
// it is.
Tried BestShape(const Dataset& part, const std::vector<TargetShape>& shapes, const Recipe& cheap,
                const ThreadPool& pool) {
  const ShapedTarget::Fit neighbours = LineAndNeighbours(cheap, pool);
  Tried unshaped = {shapes[0], Try(part, shapes[0], cheap, neighbours)};
  if (shapes.size() == 1) return unshaped;
  const ShapedTarget::Fit line = LineAlone(cheap, pool);
  const HeldOutCheck plain = Try(part, shapes[0], cheap, line).check;
  std::size_t best = 1;
  double best_gain = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < shapes.size(); ++k) {
    const double gain = Gain(Try(part, shapes[k], cheap, line).check, plain);
    if (gain > best_gain) {
      best = k;
      best_gain = gain;
    }
  }
  const Tried shaped = {shapes[best], Try(part, shapes[best], cheap, neighbours)};
  const double gain = Gain(shaped.trial.check, unshaped.trial.check);
  return gain * static_cast<double>(part.rows()) > kWorthIt ? shaped : unshaped;
}

// Whether rows that were left out are clearly better predicted with two humps than with one.
bool IsWorthIt(const HeldOutCheck& two, const HeldOutCheck& one) {
  constexpr double kClearly = 0.1;  // nats per row
  const double gain = Gain(two, one);
  return gain > kClearly && gain * static_cast<double>(one.rows) > kWorthIt;
}

}  // namespace

TargetChoice ChooseTarget(const Dataset& dataset, const Recipe& recipe, const ThreadPool& pool) {
  if (recipe.target_kind == TargetKind::kPlain || dataset.targets().cols() != 1 ||
      !dataset.schema().classes.empty())
    return {ShapedTarget(dataset)};
  const Vector y = dataset.targets().col(0);
  const TargetNature nature = NatureOf(y);
  const std::vector<TargetShape> shapes = ShapesFor(nature, y);
  const Recipe cheap = Cheap(recipe);
  const ShapedTarget::Fit neighbours = LineAndNeighbours(cheap, pool);
  const auto choose = [&](const TwoHumps& how, const std::vector<NeighbourGp>& on_line = {}) {
    return TargetChoice{ShapedTarget(dataset, how.shape, recipe, neighbours, how.upper), on_line};
  };
  const auto may_have_humps = [](const TargetShape& shape) {
    return shape.step == 0 && !shape.has_value;
  };
  if (shapes.size() == 1 && !may_have_humps(shapes[0])) return choose({shapes[0]});
  const Dataset part = TriedRows(dataset, nature.common, recipe.seed);
  // What is found for a part of the rows is not found for all.
  const bool is_all = part.rows() == dataset.rows();
  try {
    const Tried best = BestShape(part, shapes, cheap, pool);
    const auto two_humps = [&](const Dataset& rows, const Trial& one) {
      return FindTwoHumps(rows, best.shape, one.errors, cheap, neighbours);
    };
    TwoHumps humps{best.shape};
    if (may_have_humps(best.shape)) humps = two_humps(part, best.trial);
    if (humps.shape.gap > 0) {
      const Trial two = Try(part, humps.shape, cheap, neighbours, humps.upper);
      if (IsWorthIt(two.check, best.trial.check)) {
        if (is_all) return choose(humps, two.on_line);
        return choose(two_humps(dataset, Try(dataset, best.shape, cheap, neighbours)));
      }
    }
    return choose({best.shape}, is_all ? best.trial.on_line : std::vector<NeighbourGp>());
  } catch (const NumericalError&) {
    // What cannot be tried is not used.
  }
  return choose({shapes[0]});
}

Vector FitShareLogit(const Vector& q, const Vector& is_value, const Vector& weights) {
  // Newton's method on a concave function of two numbers.
  Vector logit = Vector::Unit(2, 1);
  const Vector identity = logit;
  const Vector f = SharesOf(identity, q).unaryExpr([](double p) { return std::log(p / (1 - p)); });
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    const Vector p = SharesOf(logit, q);
    Vector slope = identity - logit;
    Matrix curvature = Matrix::Identity(2, 2);
    for (Index n = 0; n < q.size(); ++n) {
      const double weight = weights.size() > 0 ? weights[n] : 1;
      const Eigen::Vector2d x(1, f[n]);
      slope += weight * (is_value[n] - p[n]) * x;
      curvature += weight * p[n] * (1 - p[n]) * x * x.transpose();
    }
    Vector step = SolvePositiveDefinite(curvature, slope);
    constexpr double kLongest = 1;  // far from the end the curvature is no guide
    if (step.norm() > kLongest) step *= kLongest / step.norm();
    logit += step;
    if (step.norm() < 1e-12) break;
  }
  return logit;
}

}  // namespace fathom
