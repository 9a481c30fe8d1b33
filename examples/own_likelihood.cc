// A likelihood of one's own, of which only log p(y|f) is known: how far its integrals are from the
// exact ones, and how it is used.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>

#include "fathom/fathom.h"
#include "fathom/likelihood.h"

namespace {

using fathom::GenericLikelihood;
using fathom::GenericOptions;
using fathom::Index;
using fathom::Vector;
using Nodes = GenericOptions::Nodes;

double LogZ(const fathom::Likelihood& likelihood, const Vector& parameters, double y, double v) {
  const double m = 1;
  double d_m = 0;
  double d_v = 0;
  Vector d_parameters = Vector::Zero(parameters.size());
  return likelihood.LogZ({parameters, /*alpha=*/1, /*outputs=*/1, &y, &m, &v},
                         {&d_m, &d_v, d_parameters.data()});
}

// The error of log Z for three counts, seen at m = 1: of one rule, or the mean and the standard
// deviation over 200 draws of the nodes.
void PrintBias(Nodes nodes, Index count) {
  GenericOptions options{.name = "counts", .log_density = [](double y, double f) {
                           return y * f - std::exp(f) - std::lgamma(y + 1);
                         }};
  options.nodes = nodes;
  options.num_nodes = count;
  const bool random = nodes == Nodes::kMonteCarlo;
  std::printf("%-13s %5td", random ? "Monte Carlo" : "Gauss-Hermite", count);
  for (const double v : {0.1, 1.0, 4.0}) {
    const double exact = LogZ(*fathom::MakeLikelihood("poisson"), Vector::Ones(1), 10, v);
    double sum = 0;
    double squares = 0;
    const int draws = random ? 200 : 1;
    for (int seed = 1; seed <= draws; ++seed) {
      options.seed = static_cast<std::uint64_t>(seed);
      const double error = LogZ(GenericLikelihood(options), Vector(), 10, v) - exact;
      sum += error / draws;
      squares += error * error / draws;
    }
    std::printf("  %9.1e", sum);
    if (random) std::printf(" +- %7.1e", std::sqrt(squares - sum * sum));
  }
  std::printf("\n");
}

// A line with noise of Laplace, scale 0.3.
fathom::Dataset Line(Index rows, std::uint64_t seed) {
  fathom::RandomStream stream(seed);
  fathom::Table table{.source = "line", .columns = {"x", "y"}, .values = fathom::Matrix(rows, 2)};
  for (Index n = 0; n < rows; ++n) {
    const double x = 4 * stream.Uniform() - 2;
    const double u = stream.Uniform() - 0.5;
    table.values.row(n) << x, x - std::copysign(0.3 * std::log1p(-2 * std::abs(u)), u);
  }
  return fathom::MakeDataset(table, {"y"});
}

}  // namespace

int main() {
  std::cout << "error of log Z, count 10, m = 1      v = 0.1, 1, 4\n";
  for (const Index count : {5, 10, 20, 40}) PrintBias(Nodes::kGaussHermite, count);
  for (const Index count : {20, 200, 2000}) PrintBias(Nodes::kMonteCarlo, count);

  fathom::RegisterLikelihood(std::make_shared<GenericLikelihood>(GenericOptions{
      .name = "laplace",
      .log_density = [](double y, double f) { return -std::abs(y - f) / 0.3 - std::log(0.6); }}));
  for (const char* likelihood : {"gaussian", "student_t", "laplace"}) {
    fathom::Recipe recipe;
    recipe.architecture.likelihood = likelihood;
    recipe.architecture.hidden = {};
    recipe.architecture.inducing = {10};
    recipe.optimizer.steps = 500;
    SaveModel(Fit(Line(300, 1), recipe), "line.fathom");
    const fathom::ModelPredictor model(fathom::LoadModel("line.fathom"));
    const fathom::Dataset test = Line(100, 2);
    const fathom::Scores scores = Evaluate(model.Predict(test.inputs()), test.targets());
    std::printf("%-10s log likelihood %.4f, 95 %% interval holds %.3f\n", likelihood,
                scores.mean_log_likelihood, scores.coverage_95);
  }
}
