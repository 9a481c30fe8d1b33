// Kind "neighbour_gp": rows predicted from their neighbours, each without itself, and the gradient
// of the sum of their log densities.
#include <numeric>

#include "fathom/distribution/prediction.h"
#include "fathom/neighbour/neighbour_gp.h"
#include "tests/reference_json.h"

namespace fathom {
namespace {

Neighbours NeighboursOf(const Json& json) { return ToMatrix(json).cast<std::int32_t>(); }

std::vector<Index> Count(Index rows) {
  std::vector<Index> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace

void CheckNeighbourGp(const Json& test, Comparison* compare) {
  NeighbourGp gp;
  FromName(test.at("kernel").get<std::string>(), &gp.correlation);
  gp.lengthscales = ToVector(test.at("lengthscales"));
  gp.variance = test.at("variance").get<double>();
  gp.noise = test.at("noise").get<double>();
  const Moments x = Moments::Certain(ToMatrix(test.at("X")));
  const Matrix y = ToVector(test.at("y"));
  const NeighbourData data{.x = x, .y = y};
  const Json& expected = PartOf(test, "expected");
  const Index N = x.rows();

  const Neighbours neighbours = NeighboursOf(test.at("neighbours"));
  const std::vector<Index> all = Count(N);
  Vector mean(N), var(N), log_density(N);
  NeighbourMoments(gp, data, {x, all, neighbours}, mean.data(), var.data());
  for (Index n = 0; n < N; ++n) log_density[n] = LogNormalPdf(y(n, 0), mean[n], var[n]);
  NeighbourGradient gradient{.log_lengthscales = Vector::Zero(x.cols())};
  const double sum = LeaveOneOut(gp, data, all, neighbours, &gradient);
  const auto expect = [&](const std::string& key, const auto& actual) {
    if (const Json* found = compare->Find(expected, key)) compare->Expect(key, actual, *found);
  };
  expect("mean", mean);
  expect("var", var);
  expect("log_density", log_density);
  expect("sum", sum);
  expect("d_log_lengthscales", gradient.log_lengthscales);
  expect("d_log_variance", gradient.log_variance);
  expect("d_log_noise", gradient.log_noise);
  if (!test.contains("X_test")) return;
  const Moments queries = Moments::Certain(ToMatrix(test.at("X_test")));
  const Neighbours near = NeighboursOf(test.at("neighbours_test"));
  Vector test_mean(queries.rows()), test_var(queries.rows());
  NeighbourMoments(gp, data, {queries, Count(queries.rows()), near}, test_mean.data(),
                   test_var.data());
  expect("test_mean", test_mean);
  expect("test_var", test_var);
}

}  // namespace fathom
