// Fits, predicts from several threads at once and exports, with the installed headers alone.
#include <fathom/fathom.h>

#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

int main() {
  fathom::Matrix x(50, 1);
  for (int n = 0; n < 50; ++n) x(n, 0) = n / 10.0;
  const fathom::Dataset data({.source = "sine",
                              .schema = fathom::NumericSchema({"x"}, {"y"}),
                              .inputs = fathom::Moments::Certain(x),
                              .targets = x.array().sin()});
  fathom::Recipe recipe;
  recipe.optimizer.steps = 300;
  recipe.architecture.inducing = {10};
  recipe.stack = fathom::Stacking::kNever;  // C code is for single networks
  const fathom::ModelPredictor model(fathom::Fit(data, recipe));
  std::vector<double> error(2);
  std::vector<std::thread> threads;
  for (double& worst : error) {
    threads.emplace_back([&] {
      worst = (model.Predict(data.inputs()).Mean() - data.targets()).cwiseAbs().maxCoeff();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const bool header = fathom::ExportCHeader(model.model(), "sine").size() > 1000;
  const bool good = header && error[0] < 0.2 && error[0] == error[1];
  std::cout << (good ? "consumer: good" : "consumer: wrong") << ", largest errors " << error[0]
            << " and " << error[1] << "\n";
  return good ? 0 : 1;
}
