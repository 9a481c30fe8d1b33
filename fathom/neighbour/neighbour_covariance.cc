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

}  // namespace

Matrix NeighbourCovariance(const NeighbourGp& gp, const NeighbourData& data, const Moments& queries,
                           const Neighbours& neighbours, const ThreadPool& pool) {
  FATHOM_CHECK(neighbours.rows() == queries.rows());
  constexpr Index kBlock = 256;
  const Index N = queries.rows();
  const Moments x = InLengthscales(gp, queries);
  const Used used(gp, data, neighbours);
  std::vector<Vector> w(static_cast<std::size_t>(N));
  pool.Run(N, [&](Index n) { w[n] = WeightsOf(gp, used, x, n); });
  // cov = k - G W' - (G W')',  G = k(x, Z) - W (k(Z, Z) + s I) / 2, some columns of G at a time.
  Matrix GW = Matrix::Zero(N, N);
  for (Index begin = 0; begin < used.size(); begin += kBlock) {
    const Index count = std::min(kBlock, used.size() - begin);
    const Moments block = used.x().MiddleRows(begin, count);
    Matrix K(used.size(), count);
    pool.Run((used.size() + kBlock - 1) / kBlock, [&](Index job) {
      const Index first = job * kBlock;
      const Index size = std::min(kBlock, used.size() - first);
      K.middleRows(first, size) = CrossCovariance(gp, used.x().MiddleRows(first, size), block);
    });
    for (Index j = 0; j < count; ++j) K(begin + j, j) = gp.variance + used.NoiseVariance(begin + j);
    pool.Run(N, [&](Index n) {
      Eigen::RowVectorXd G = CrossCovariance(gp, x.MiddleRows(n, 1), block).row(0);
      const std::vector<Index>& own = used.NeighboursOf(n);
      for (std::size_t i = 0; i < own.size(); ++i) G -= 0.5 * w[n][i] * K.row(own[i]);
      for (Index m = 0; m < N; ++m) {
        const std::vector<Index>& others = used.NeighboursOf(m);
        double sum = 0;
        for (std::size_t j = 0; j < others.size(); ++j) {
          const Index column = others[j] - begin;
          if (column >= 0 && column < count) sum += w[m][j] * G[column];
        }
        GW(n, m) += sum;
      }
    });
  }
  Matrix cov = CrossCovariance(gp, x, x);
  cov.diagonal().setConstant(gp.variance);
  cov -= GW;
  cov -= GW.transpose().eval();
  return cov;
}

}  // namespace fathom
