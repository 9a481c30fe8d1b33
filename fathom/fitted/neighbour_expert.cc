#include "fathom/fitted/neighbour_expert.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/fitted/description.h"
#include "fathom/neighbour/neighbour_covariance.h"
#include "fathom/neighbour/search.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

class NeighbourPredictor : public ExpertPredictor {
 public:
  NeighbourPredictor(const NeighbourExpert& expert, const ThreadPool& pool)
      : expert_(expert), pool_(pool), certain_((expert.rows().x.var.array() == 0).all()) {
    for (Index t = 0; t < expert.num_outputs(); ++t) {
      const NeighbourGp& gp = expert.gps()[t];
      targets_.emplace_back(expert.rows().y.col(t));
      const NeighbourData data{.x = expert.rows().x, .y = targets_.back()};
      searches_.push_back(std::make_unique<NeighbourSearch>(
          expert.rows().x, gp.lengthscales, std::vector<std::int32_t>(), data.Unknown()));
    }
  }

  Prediction Predict(const Moments& x, const PredictOptions& options) const override {
    const NeighbourRows& rows = expert_.rows();
    Moments moments(x.rows(), expert_.num_outputs());
    for (Index t = 0; t < expert_.num_outputs(); ++t) {
      const NeighbourGp& gp = expert_.gps()[t];
      const Moments own = PredictOne(gp, *searches_[t], targets_[t], x);
      moments.mean.col(t) = own.mean.array() + rows.mean[t];
      moments.var.col(t) = own.var.array() - (options.latent ? gp.noise : 0.0);
    }
    return Prediction::Gaussian(std::move(moments));
  }
  std::vector<Matrix> Covariances(const Moments& x,
                                  const PredictOptions& /*options*/) const override {
    std::vector<Matrix> covariances;
    for (Index t = 0; t < expert_.num_outputs(); ++t) {
      covariances.push_back(NeighbourCovariance(expert_.gps()[t], DataOf(targets_[t]), x,
                                                NeighboursOf(*searches_[t], x), pool_));
    }
    return covariances;
  }

 private:
  NeighbourData DataOf(const Matrix& y) const {
    const NeighbourRows& rows = expert_.rows();
    return {.x = rows.x,
            .y = y,
            .weights = {rows.weights.data(), static_cast<std::size_t>(rows.weights.size())},
            .certain = certain_};
  }
  Neighbours NeighboursOf(const NeighbourSearch& search, const Moments& x) const {
    return search.Find(x, std::min(expert_.neighbours(), expert_.rows().x.rows()), pool_);
  }

  Moments PredictOne(const NeighbourGp& gp, const NeighbourSearch& search, const Matrix& y,
                     const Moments& queries) const {
    const std::vector<Index> order = search.InOrder(queries, pool_);
    const Moments x(queries.mean(order, Eigen::all), queries.var(order, Eigen::all));
    const NeighbourData data = DataOf(y);
    const Neighbours neighbours = NeighboursOf(search, x);
    const bool single = SingleIsEnough(gp, data);
    Moments moments(x.rows(), 1);
    std::vector<Index> all(order.size());
    std::iota(all.begin(), all.end(), Index{0});
    constexpr Index kChunk = 64;
    pool_.Run((x.rows() + kChunk - 1) / kChunk, [&](Index chunk) {
      const Index first = chunk * kChunk;
      const Index size = std::min(kChunk, x.rows() - first);
      const Neighbours own = neighbours.middleRows(first, size);
      NeighbourMoments(gp, data, {x, std::span(all).subspan(first, size), own, single},
                       moments.mean.data() + first, moments.var.data() + first);
    });
    Moments in_place(x.rows(), 1);
    in_place.mean(order, Eigen::all) = moments.mean;
    in_place.var(order, Eigen::all) = moments.var;
    return in_place;
  }

  const NeighbourExpert& expert_;
  const ThreadPool& pool_;
  bool certain_;                                            // all cells of the training rows
  std::vector<std::unique_ptr<NeighbourSearch>> searches_;  // [targets]
  std::vector<Matrix> targets_;                             // of [N, 1] each
};

std::string GpPrefix(Index target) { return "gps." + std::to_string(target) + "."; }

}  // namespace

NeighbourExpert::NeighbourExpert(std::vector<NeighbourGp> gps, NeighbourRows rows, Index m)
    : gps_(std::move(gps)),
      rows_(std::make_shared<const NeighbourRows>(std::move(rows))),
      m_(m),
      likelihood_(MakeLikelihood("gaussian")) {}

std::string NeighbourExpert::Describe() const {
  const Index N = rows_->x.rows();
  return std::string("neighbour GP (") + NameOf(gps_.front().correlation) + "), " +
         std::to_string(std::min(m_, N)) + " of " + std::to_string(N) + " rows";
}

Vector NeighbourExpert::NoiseVariance() const {
  Vector noise(num_outputs());
  for (Index t = 0; t < noise.size(); ++t) noise[t] = gps_[t].noise;
  return noise;
}

std::unique_ptr<ExpertPredictor> NeighbourExpert::Prepare(const ThreadPool& pool,
                                                          Precision /*precision*/) const {
  return std::make_unique<NeighbourPredictor>(*this, pool);
}

void NeighbourExpert::Check() const {
  const NeighbourRows& rows = *rows_;
  const Index N = rows.x.rows();
  if (N < 1 || rows.x.cols() < 1 || rows.y.rows() != N || rows.y.cols() < 1 || m_ < 1 ||
      rows.mean.size() != rows.y.cols() || static_cast<Index>(gps_.size()) != rows.y.cols())
    ThrowError("the rows of a neighbour GP do not fit together");
  const bool finite = rows.x.mean.allFinite() && rows.x.var.allFinite() &&
                      !rows.y.array().isInf().any() && rows.mean.allFinite() &&
                      rows.x.var.minCoeff() >= 0;
  const bool counted =
      rows.weights.size() == 0 ||
      (rows.weights.size() == N && rows.weights.allFinite() && (rows.weights.array() > 0).all());
  if (!finite || !counted) ThrowError("a row of a neighbour GP is out of range");
  for (const NeighbourGp& gp : gps_) {
    if (gp.lengthscales.size() != rows.x.cols() || !gp.lengthscales.allFinite() ||
        !(gp.lengthscales.array() > 0).all() || !(gp.variance > 0 && std::isfinite(gp.variance)) ||
        !(gp.noise > 0 && std::isfinite(gp.noise)))
      ThrowError("a hyperparameter of a neighbour GP is out of range");
  }
}

void NeighbourExpert::Write(Json* description, const ArrayWriter& arrays) const {
  const NeighbourRows& rows = *rows_;
  const bool uncertain = (rows.x.var.array() > 0).any();
  Json gps = Json::array();
  for (Index t = 0; t < num_outputs(); ++t) {
    const NeighbourGp& gp = gps_[t];
    gps.push_back({{"correlation", NameOf(gp.correlation)},
                   {"variance", ToJson(gp.variance)},
                   {"noise", ToJson(gp.noise)}});
    arrays.Write(GpPrefix(t) + "lengthscales", gp.lengthscales);
  }
  description->update({{"rows", rows.x.rows()},
                       {"inputs", rows.x.cols()},
                       {"outputs", rows.y.cols()},
                       {"neighbours", m_},
                       {"uncertain", uncertain},
                       {"weighted", rows.weights.size() > 0},
                       {"gps", std::move(gps)}});
  arrays.Write("rows.x", rows.x.mean);
  if (uncertain) arrays.Write("rows.x_var", rows.x.var);
  arrays.Write("rows.y", rows.y);
  arrays.Write("rows.mean", rows.mean);
  if (rows.weights.size() > 0) arrays.Write("rows.weights", rows.weights);
}

std::shared_ptr<const Expert> ReadNeighbourExpert(const Json& description,
                                                  const ArrayReader& arrays) {
  Index N = 0, D = 0, T = 0, m = 0;
  bool uncertain = false, weighted = false;
  ReadField(description, "rows", &N);
  ReadField(description, "inputs", &D);
  ReadField(description, "outputs", &T);
  ReadField(description, "neighbours", &m);
  ReadField(description, "uncertain", &uncertain);
  ReadField(description, "weighted", &weighted);
  if (N < 1 || D < 1 || T < 1) ThrowError("a neighbour GP has no rows");
  NeighbourRows rows;
  rows.x.mean = arrays.TakeMatrix("rows.x", N, D);
  rows.x.var = uncertain ? arrays.TakeMatrix("rows.x_var", N, D) : Matrix(Matrix::Zero(N, D));
  rows.y = arrays.TakeMatrix("rows.y", N, T);
  rows.mean = arrays.TakeVector("rows.mean", T);
  if (weighted) rows.weights = arrays.TakeVector("rows.weights", N);
  std::vector<NeighbourGp> gps;
  for (const Json& json : FieldOf(description, "gps", Json::value_t::array)) {
    if (static_cast<Index>(gps.size()) == T) ThrowError("a neighbour GP has too many functions");
    NeighbourGp gp;
    ReadField(json, "correlation", &gp.correlation);
    ReadField(json, "variance", &gp.variance);
    ReadField(json, "noise", &gp.noise);
    gp.lengthscales =
        arrays.TakeVector(GpPrefix(static_cast<Index>(gps.size())) + "lengthscales", D);
    gps.push_back(std::move(gp));
  }
  return std::make_shared<NeighbourExpert>(std::move(gps), std::move(rows), m);
}

}  // namespace fathom
