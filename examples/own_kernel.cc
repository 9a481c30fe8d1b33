// A kernel of one's own: only its profile and the slope of that are given.
#include <fathom/fathom.h>
#include <fathom/kernel.h>

#include <cmath>
#include <cstdio>
#include <memory>

namespace {

// The rational quadratic: a mixture of squared exponentials of many lengthscales.
class RationalQuadratic : public fathom::StationaryArd {
 public:
  std::string Name() const override { return "rational_quadratic"; }

 protected:
  void Profile(Array* r2) const override { *r2 = (1 + *r2 / 10).pow(-5); }  // p(r2), p(0) = 1
  void LogSlope(Array* r2) const override { *r2 = -0.5 / (1 + *r2 / 10); }  // d log p / d r2
  void Derivatives(Array* r2, Array* second) const override {
    *second = 0.3 * (1 + *r2 / 10).pow(-7);  // d2p / d r2^2
    *r2 = -0.5 * (1 + *r2 / 10).pow(-6);     // dp / d r2
  }
};

fathom::Dataset Chirp(fathom::Index rows) {
  fathom::Matrix x(rows, 1);
  for (fathom::Index n = 0; n < rows; ++n)
    x(n, 0) = static_cast<double>(n) / static_cast<double>(rows);
  return fathom::Dataset({.source = "chirp",
                          .schema = fathom::NumericSchema({"x"}, {"y"}),
                          .inputs = fathom::Moments::Certain(x),
                          .targets = (12 * x.array().square()).sin()});
}

}  // namespace

int main() {
  fathom::RegisterKernel(std::make_shared<RationalQuadratic>());
  fathom::Recipe recipe;
  recipe.architecture.kernel = "rational_quadratic";
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {20};
  recipe.optimizer.steps = 300;
  fathom::SaveModel(fathom::Fit(Chirp(100), recipe), "chirp.fathom");
  const fathom::ModelPredictor model(fathom::LoadModel("chirp.fathom"));
  const fathom::Dataset test = Chirp(77);
  const fathom::Scores scores = Evaluate(model.Predict(test.inputs()), test.targets());
  std::printf("rational_quadratic: rmse %.4f, 95 %% interval holds %.3f\n", scores.rmse,
              scores.coverage_95);
}
