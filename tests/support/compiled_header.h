// Compiles the C header of a model and compares what it predicts with the engine.
#ifndef FATHOM_TESTS_SUPPORT_COMPILED_HEADER_H_
#define FATHOM_TESTS_SUPPORT_COMPILED_HEADER_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "fathom/fitted/export.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/random_ensemble.h"
#include "tests/support/test_folder.h"

namespace fathom {

// Reads rows of inputs and their standard deviations, writes mean and std of y and of f, and three
// quantiles. The results go to the arrays of the inputs, as they may.
inline constexpr const char* kNumbersMain = R"(
#include <stdio.h>
#include "it.h"
int main(void) {
  enum { SIZE = it_INPUTS > it_OUTPUTS ? (int)it_INPUTS : (int)it_OUTPUTS };
  static const double at[3] = {0.001, 0.4, 0.95};
  double x[it_INPUTS], s[it_INPUTS], mean[SIZE], std[SIZE], quantiles[3 * it_OUTPUTS];
  int c, kind;
  for (;;) {
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &x[c]) != 1) return 0;
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &s[c]) != 1) return 1;
    for (kind = 0; kind < 2; ++kind) {
      for (c = 0; c < it_INPUTS; ++c) {
        mean[c] = x[c];
        std[c] = s[c];
      }
      (kind ? it_latent : it_predict)(mean, std, mean, std);
      for (c = 0; c < it_OUTPUTS; ++c) printf("%.17g %.17g ", mean[c], std[c]);
    }
    it_quantiles(x, s, 3, at, quantiles);
    for (c = 0; c < 3 * it_OUTPUTS; ++c) printf("%.17g ", quantiles[c]);
    printf("\n");
  }
}
)";
// The same with the probabilities of all classes, and the class.
inline constexpr const char* kClassesMain = R"(
#include <stdio.h>
#include "it.h"
int main(void) {
  double x[it_INPUTS], s[it_INPUTS], p[it_CLASSES];
  int c;
  for (;;) {
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &x[c]) != 1) return 0;
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &s[c]) != 1) return 1;
    it_probabilities(x, s, p);
    for (c = 0; c < it_CLASSES; ++c) printf("%.17g ", p[c]);
    printf("%d\n", it_classify(x, s));
  }
}
)";

inline void WriteRow(const Moments& x, Index n, std::ostream& out) {
  out.precision(17);
  for (Index c = 0; c < x.cols(); ++c) out << x.mean(n, c) << " ";
  for (Index c = 0; c < x.cols(); ++c)
    out << (std::isnan(x.var(n, c)) ? 0 : std::sqrt(x.var(n, c))) << " ";
  out << "\n";
}

// What the compiled header prints for the rows.
inline std::string OutputOfC(const Model& model, const Moments& x) {
  const TestFolder folder;
  folder.Write("it.h", ExportCHeader(model, "it"));
  folder.Write("main.c", model.schema().has_classes() ? kClassesMain : kNumbersMain);
  const std::string compile =
      "cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 -fsanitize=address,undefined "
      "-fno-sanitize-recover=all -o " +
      folder.Path("it") + " " + folder.Path("main.c") + " -lm";
  EXPECT_EQ(::system(compile.c_str()), 0);
  std::ostringstream rows;
  for (Index n = 0; n < x.rows(); ++n) WriteRow(x, n, rows);
  folder.Write("rows", rows.str());
  const std::string run =
      folder.Path("it") + " < " + folder.Path("rows") + " > " + folder.Path("out");
  EXPECT_EQ(::system(run.c_str()), 0);
  return TestFolder::Read(folder.Path("out"));
}

inline void ExpectSameNumbers(const Model& model, const Moments& x) {
  std::istringstream out(OutputOfC(model, x));
  const ModelPredictor predictor(model, 1);
  const Prediction y = predictor.Predict(x);
  const Prediction f = predictor.Predict(x, {.latent = true});
  for (Index n = 0; n < x.rows(); ++n) {
    for (const Prediction* prediction : {&y, &f}) {
      const Moments expected(prediction->Mean(), prediction->Variance());
      for (Index d = 0; d < expected.cols(); ++d) {
        double mean = NAN;
        double std = NAN;
        out >> mean >> std;
        const double expected_std = std::sqrt(expected.var(n, d));
        EXPECT_NEAR(mean, expected.mean(n, d),
                    1e-9 * (std::abs(expected.mean(n, d)) + expected_std));
        EXPECT_NEAR(std, expected_std, 1e-9 * expected_std) << n << " " << d;
      }
    }
    const Matrix variance = y.Variance();
    for (const double probability : {0.001, 0.4, 0.95}) {
      for (Index d = 0; d < y.outputs(); ++d) {
        double quantile = NAN;
        out >> quantile;
        EXPECT_NEAR(quantile, y.Quantile(n, d, probability),
                    1e-9 * (std::abs(quantile) + std::sqrt(variance(n, d))))
            << n << " " << d << " " << probability;
      }
    }
  }
}

inline void ExpectSameClasses(const Model& model, const Moments& x) {
  std::istringstream out(OutputOfC(model, x));
  const Matrix expected = ModelPredictor(model, 1).ClassProbabilities(x);
  for (Index n = 0; n < x.rows(); ++n) {
    for (Index c = 0; c < expected.cols(); ++c) {
      double p = NAN;
      out >> p;
      EXPECT_NEAR(p, expected(n, c), 1e-9) << n << " " << c;
    }
    Index best = 0;
    expected.row(n).maxCoeff(&best);
    Index classified = -1;
    out >> classified;
    EXPECT_EQ(classified, best);
  }
}

inline void ExpectSamePredictions(const Model& model) {
  const Moments x = RowsWithGaps(model.schema().width());
  model.schema().has_classes() ? ExpectSameClasses(model, x) : ExpectSameNumbers(model, x);
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_COMPILED_HEADER_H_
