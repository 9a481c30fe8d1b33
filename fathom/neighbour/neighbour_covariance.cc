#include "fathom/neighbour/neighbour_covariance.h"

#include <algorithm>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

// Rows in units of the lengthscales.
Moments InLengthscales(const NeighbourGp& gp, const Moments& x) {
  const Eigen::RowVectorXd inverse = gp.lengthscales.cwiseInverse().transpose();
  return {(x.mean.array().rowwise() * inverse.array()).matrix(),
          (x.var.array().rowwise() * inverse.array().square()).matrix()};
}

Moments RowsOf(const Moments& x, const std::vector<Index>& rows) {
  return {x.mean(rows, Eigen::all), x.var(rows, Eigen::all)};
}

// k(a, b) of different rows.
Matrix CrossCovariance(const NeighbourGp& gp, const Moments& a, const Moments& b) {
  Matrix k(a.rows(), b.rows());
  const Vector own_a = a.var.rowwise().sum();
  const Vector own_b = b.var.rowwise().sum();
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.rows(); ++j)
      k(i, j) = (a.mean.row(i) - b.mean.row(j)).squaredNorm() + own_a[i] + own_b[j];
  }
  CorrelationsOf(gp.correlation, &k);
  return gp.variance * k;
}

// The training rows that some query looks at, and where its weights stand among them.
class Used {
 public:
  Used(const NeighbourGp& gp, const NeighbourData& data, const Neighbours& neighbours)
      : neighbours_(neighbours.rows()) {
    std::vector<Index> place(static_cast<std::size_t>(data.x.rows()), -1);
    for (const std::int32_t n : neighbours.reshaped<Eigen::RowMajor>()) {
      if (n < 0 || place[n] >= 0) continue;
      place[n] = static_cast<Index>(rows_.size());
      rows_.push_back(n);
    }
    for (Index q = 0; q < neighbours.rows(); ++q) {
      for (const std::int32_t n : neighbours.row(q)) {
        if (n >= 0) neighbours_[q].push_back(place[n]);
      }
    }
    x_ = RowsOf(InLengthscales(gp, data.x), rows_);
    noise_.resize(size());
    for (Index u = 0; u < size(); ++u) noise_[u] = gp.noise / data.Weight(rows_[u]);
  }

  Index size() const { return static_cast<Index>(rows_.size()); }
  const Moments& x() const { return x_; }
  const std::vector<Index>& NeighboursOf(Index query) const { return neighbours_[query]; }
  double NoiseVariance(Index u) const { return noise_[u]; }

 private:
  std::vector<Index> rows_;                     // among the training rows
  std::vector<std::vector<Index>> neighbours_;  // of each query, as places in rows_
  Moments x_;                                   // [U, D], in lengthscales
  Vector noise_;                                // [U]
};

// K = k(Z, Z) + s I of some of the used rows.
Matrix GramOf(const NeighbourGp& gp, const Used& used, const std::vector<Index>& rows) {
  const Moments x = RowsOf(used.x(), rows);
  Matrix K = CrossCovariance(gp, x, x);
  for (Index i = 0; i < K.rows(); ++i) K(i, i) = gp.variance + used.NoiseVariance(rows[i]);
  return K;
}

// w = K^-1 k of one query.
Vector WeightsOf(const NeighbourGp& gp, const Used& used, const Moments& query, Index number) {
  const std::vector<Index>& own = used.NeighboursOf(number);
  if (own.empty()) return {};
  const Matrix k = CrossCovariance(gp, RowsOf(used.x(), own), query.MiddleRows(number, 1));
  return SolvePositiveDefinite(GramOf(gp, used, own), k.col(0));
}

constexpr Index kBlock = 256;  // columns of k(x, Z) at a time, so that memory does not grow with U

// A weight of a query on a used row.
struct Weight {
  Index query;
  Index column;  // in its block
  double value;
};

// The weights on the rows of each block, query by query.
std::vector<std::vector<Weight>> ByBlock(const Used& used, const std::vector<Vector>& w) {
  std::vector<std::vector<Weight>> blocks(
      static_cast<std::size_t>((used.size() + kBlock - 1) / kBlock));
  for (std::size_t n = 0; n < w.size(); ++n) {
    const std::vector<Index>& own = used.NeighboursOf(static_cast<Index>(n));
    for (std::size_t i = 0; i < own.size(); ++i) {
      blocks[static_cast<std::size_t>(own[i] / kBlock)].push_back(
          {static_cast<Index>(n), own[i] % kBlock, w[n][static_cast<Index>(i)]});
    }
  }
  return blocks;
}

// k(Z, Z) + s I, some of its columns.
Matrix GramColumns(const NeighbourGp& gp, const Used& used, Index begin, const Moments& block,
                   const ThreadPool& pool) {
  Matrix K(used.size(), block.rows());
  pool.Run((used.size() + kBlock - 1) / kBlock, [&](Index job) {
    const Index first = job * kBlock;
    const Index count = std::min(kBlock, used.size() - first);
    K.middleRows(first, count) = CrossCovariance(gp, used.x().MiddleRows(first, count), block);
  });
  for (Index j = 0; j < block.rows(); ++j)
    K(begin + j, j) = gp.variance + used.NoiseVariance(begin + j);
  return K;
}

}  // namespace

Matrix NeighbourCovariance(const NeighbourGp& gp, const NeighbourData& data, const Moments& queries,
                           const Neighbours& neighbours, const ThreadPool& pool) {
  FATHOM_CHECK(neighbours.rows() == queries.rows());
  const Index N = queries.rows();
  const Moments x = InLengthscales(gp, queries);
  const Used used(gp, data, neighbours);
  std::vector<Vector> w(static_cast<std::size_t>(N));
  pool.Run(N, [&](Index n) { w[n] = WeightsOf(gp, used, x, n); });
  // cov = k - G W' - (G W')',  G = k(x, Z) - W (k(Z, Z) + s I) / 2.
  const std::vector<std::vector<Weight>> blocks = ByBlock(used, w);
  Matrix GW = Matrix::Zero(N, N);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Index begin = static_cast<Index>(b) * kBlock;
    const Moments block = used.x().MiddleRows(begin, std::min(kBlock, used.size() - begin));
    const Matrix K = GramColumns(gp, used, begin, block, pool);
    pool.Run(N, [&](Index n) {
      Eigen::RowVectorXd G = CrossCovariance(gp, x.MiddleRows(n, 1), block).row(0);
      const std::vector<Index>& own = used.NeighboursOf(n);
      for (std::size_t i = 0; i < own.size(); ++i) G -= 0.5 * w[n][i] * K.row(own[i]);
      for (const auto& [query, column, value] : blocks[b]) GW(n, query) += value * G[column];
    });
  }
  Matrix cov = CrossCovariance(gp, x, x);
  cov.diagonal().setConstant(gp.variance);
  cov -= GW;
  cov -= GW.transpose().eval();
  return cov;
}

}  // namespace fathom
