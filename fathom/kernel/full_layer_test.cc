#include "fathom/kernel/full_layer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "tests/support/kernel_quadrature.h"

namespace fathom {
namespace {

struct LayerFunction {
  Vector theta;
  Matrix Z;
  Vector a;
  Matrix S;
  Vector w;

  LatentFunction view() const { return {theta, Z, a, S, w}; }
  LatentFunctionGradient gradient_view() { return {theta, Z, a, S}; }
  LayerFunction ZeroLike() const {
    return {Vector::Zero(theta.size()),
            Matrix::Zero(Z.rows(), Z.cols()),
            Vector::Zero(a.size()),
            Matrix::Zero(S.rows(), S.cols()),
            {}};
  }
};

std::vector<LatentFunction> Views(const std::vector<LayerFunction>& functions) {
  std::vector<LatentFunction> views;
  for (const LayerFunction& f : functions) views.push_back(f.view());
  return views;
}

// A function with a proper posterior: u ~ N(m, V) with V below the prior's covariance, so that S is
// positive semidefinite.
LayerFunction RandomLayerFunction(const Kernel& kernel, Index M, Index D, bool linear_mean,
                                  RandomStream* random) {
  LayerFunction f;
  f.theta.resize(kernel.NumParameters(D));
  for (double& value : f.theta) value = 0.6 + random->Uniform();
  f.Z = 1.5 * random->NormalMatrix(M, D);
  f.a = random->NormalMatrix(M, 1);
  Matrix K;
  kernel.Gram(f.theta, f.Z, &K);
  const Matrix R = random->NormalMatrix(M, M);  // S = R (I + R'KR)^-1 R'
  Matrix G = R.transpose() * K * R;
  G.diagonal().array() += 1;
  EXPECT_TRUE(CholeskyInPlace(&G));
  InvertLowerInPlace(&G);
  const Matrix half = R * G.transpose();
  f.S = half * half.transpose();
  if (linear_mean) f.w = random->NormalMatrix(D, 1);
  return f;
}

std::vector<LayerFunction> RandomLayer(const Kernel& kernel, Index outputs, Index D,
                                       bool linear_mean, RandomStream* random) {
  std::vector<LayerFunction> functions;
  for (Index d = 0; d < outputs; ++d)
    functions.push_back(RandomLayerFunction(kernel, 3 + d, D, linear_mean, random));
  return functions;
}

FullMoments RandomInput(Index rows, Index D, RandomStream* random) {
  FullMoments x;
  x.mean = random->NormalMatrix(rows, D);
  for (Index n = 0; n < rows; ++n) {
    const Matrix root = random->NormalMatrix(D, D);
    x.cov.emplace_back(0.3 * root * root.transpose());
  }
  return x;
}

// Weights of F = sum of weights * moments; covariances are weighed without symmetry.
FullMoments RandomWeights(Index rows, Index outputs, RandomStream* random) {
  FullMoments weights;
  weights.mean = random->NormalMatrix(rows, outputs);
  for (Index n = 0; n < rows; ++n) weights.cov.push_back(random->NormalMatrix(outputs, outputs));
  return weights;
}

double Weighed(const FullMoments& weights, const FullMoments& out) {
  double sum = weights.mean.cwiseProduct(out.mean).sum();
  for (Index n = 0; n < out.rows(); ++n) sum += weights.cov[n].cwiseProduct(out.cov[n]).sum();
  return sum;
}

struct Gradient {
  std::vector<LayerFunction> functions;
  FullMoments x;
};

Gradient Backward(const Kernel& kernel, const std::vector<LayerFunction>& functions,
                  const FullMoments& x, const FullMoments& weights) {
  Gradient g;
  for (const LayerFunction& f : functions) g.functions.push_back(f.ZeroLike());
  std::vector<LatentFunctionGradient> views;
  for (LayerFunction& f : g.functions) views.push_back(f.gradient_view());
  PropagateFullBackward(kernel, Views(functions), x, weights, &views, &g.x);
  return g;
}

// The diagonal engine, function by function.
Gradient DiagonalBackward(const Kernel& kernel, const std::vector<LayerFunction>& functions,
                          const Moments& x, const Moments& weights, Moments* out) {
  Gradient g;
  Moments d_x;
  d_x.SetZero(x.rows(), x.cols());
  *out = Moments(x.rows(), static_cast<Index>(functions.size()));
  for (std::size_t d = 0; d < functions.size(); ++d) {
    const auto projection = kernel.NewProjection();
    projection->Prepare(functions[d].view(), {.uncertain = true});
    AlignedBuffer tape(static_cast<std::size_t>(projection->TapeSize(x.rows())));
    AlignedBuffer sums(static_cast<std::size_t>(projection->SumsSize()), 0.0);
    Vector m(x.rows());
    Vector v(x.rows());
    projection->Forward({x.mean, x.var}, tape.data(), m.data(), v.data());
    out->mean.col(static_cast<Index>(d)) = m;
    out->var.col(static_cast<Index>(d)) = v;
    m = weights.mean.col(static_cast<Index>(d));
    v = weights.var.col(static_cast<Index>(d));
    Eigen::Ref<Matrix> d_mean(d_x.mean);
    Eigen::Ref<Matrix> d_var(d_x.var);
    projection->Backward({x.mean, x.var}, tape.data(), {m.data(), v.data()}, sums.data(),
                         {&d_mean, &d_var});
    g.functions.push_back(functions[d].ZeroLike());
    projection->Finish(sums.data(), g.functions.back().gradient_view());
  }
  g.x = FullMoments::FromDiagonal(d_x);
  return g;
}

void ExpectNear(const Matrix& actual, const Matrix& expected, double tolerance, const char* what) {
  ASSERT_EQ(actual.rows(), expected.rows()) << what;
  ASSERT_EQ(actual.cols(), expected.cols()) << what;
  EXPECT_LE((actual - expected).cwiseAbs().maxCoeff(), tolerance) << what;
}

class FullLayerOf : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  std::shared_ptr<const Kernel> owner_ = MakeKernel(std::get<0>(GetParam()));
  const Kernel& kernel_ = *owner_;
  bool linear_mean_ = std::get<1>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(
    Kernels, FullLayerOf,
    testing::Combine(testing::Values("se_ard", "linear_ard", "se_ard+linear_ard"), testing::Bool()),
    [](const auto& test) {
      std::string name = std::get<0>(test.param);
      std::replace(name.begin(), name.end(), '+', '_');
      return name + (std::get<1>(test.param) ? "_linear_mean" : "");
    });

TEST_P(FullLayerOf, AgreesWithTheDiagonalProjection) {
  RandomStream random(1);
  const std::vector<LayerFunction> functions = RandomLayer(kernel_, 3, 2, linear_mean_, &random);
  Moments x(random.NormalMatrix(4, 2), random.NormalMatrix(4, 2).cwiseAbs());
  x.var(1, 0) = 0;         // one cell known
  x.var.row(2).setZero();  // one row known
  const Moments weights(random.NormalMatrix(4, 3), random.NormalMatrix(4, 3));
  Moments expected;
  const Gradient expected_gradient = DiagonalBackward(kernel_, functions, x, weights, &expected);

  const FullMoments full = FullMoments::FromDiagonal(x);
  const FullMoments out = PropagateFull(kernel_, Views(functions), full);
  ExpectNear(out.mean, expected.mean, 1e-12, "mean");
  ExpectNear(out.Diagonal().var, expected.var, 1e-12, "variance");

  const Gradient g = Backward(kernel_, functions, full, FullMoments::FromDiagonal(weights));
  ExpectNear(g.x.mean, expected_gradient.x.mean, 1e-11, "d mean");
  for (const Index n :
       {0, 1, 3}) {  // the diagonal engine gives no gradient for the variance of a certain row
    ExpectNear(g.x.Diagonal().var.row(n), expected_gradient.x.Diagonal().var.row(n), 1e-11,
               "d var");
  }
  for (std::size_t d = 0; d < functions.size(); ++d) {
    const LayerFunction& actual = g.functions[d];
    ExpectNear(actual.theta, expected_gradient.functions[d].theta, 1e-11, "d theta");
    ExpectNear(actual.Z, expected_gradient.functions[d].Z, 1e-11, "d Z");
    ExpectNear(actual.a, expected_gradient.functions[d].a, 1e-11, "d a");
    ExpectNear(actual.S, expected_gradient.functions[d].S, 1e-11, "d S");
  }
}

TEST_P(FullLayerOf, AgreesWithQuadrature) {
  for (const Index D : {1, 2}) {
    RandomStream random(2);
    const std::vector<LayerFunction> functions = RandomLayer(kernel_, 2, D, linear_mean_, &random);
    FullMoments x = RandomInput(1, D, &random);
    x.cov[0] *= 0.3;  // for few nodes to be enough
    const FullMoments out = PropagateFull(kernel_, Views(functions), x);
    // Given x the layer is a certain one: its moments come from the plain kernel.
    const auto given = [&](const Vector& at) {
      Moments moments;
      Moments none;
      none.SetZero(1, 2);
      DiagonalBackward(kernel_, functions, Moments::Certain(at.transpose()), none, &moments);
      return moments;
    };
    const Vector mu = x.mean.row(0).transpose();
    const auto expect = [&](const auto& f) {
      return ExpectByGaussHermite(mu, x.cov[0], 40, [&](const Vector& at) { return f(given(at)); });
    };
    for (Index i = 0; i < 2; ++i) {
      EXPECT_NEAR(out.mean(0, i), expect([&](const Moments& f) { return f.mean(0, i); }), 1e-8);
      for (Index j = 0; j < 2; ++j) {
        const double moment = expect([&](const Moments& f) {
          return f.mean(0, i) * f.mean(0, j) + (i == j ? f.var(0, i) : 0);
        });
        EXPECT_NEAR(out.cov[0](i, j), moment - out.mean(0, i) * out.mean(0, j), 1e-8);
      }
    }
  }
}

TEST_P(FullLayerOf, GradientMatchesDifferences) {
  RandomStream random(3);
  std::vector<LayerFunction> functions = RandomLayer(kernel_, 3, 2, linear_mean_, &random);
  FullMoments x = RandomInput(3, 2, &random);
  x.cov[1].setZero();
  const FullMoments weights = RandomWeights(3, 3, &random);
  const Gradient g = Backward(kernel_, functions, x, weights);
  const auto F = [&] { return Weighed(weights, PropagateFull(kernel_, Views(functions), x)); };
  const auto check = [&](const char* what, auto* at, const auto& gradient) {
    for (Index k = 0; k < at->size(); ++k) {
      EXPECT_NEAR(gradient.data()[k], CentralDifference(at->data() + k, F), 2e-7)
          << what << " " << k;
    }
  };
  // A symmetric matrix is changed in both copies of an entry.
  const auto check_symmetric = [&](const char* what, Matrix* at, const Matrix& gradient) {
    EXPECT_LE((gradient - gradient.transpose()).cwiseAbs().maxCoeff(), 1e-13) << what;
    const Matrix start = *at;
    for (Index i = 0; i < start.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        double step = 0;
        const double expected = CentralDifference(&step, [&] {
          *at = start;
          (*at)(i, j) += step;
          if (j < i) (*at)(j, i) += step;
          return F();
        });
        EXPECT_NEAR((j < i ? 2 : 1) * gradient(i, j), expected, 2e-7)
            << what << " " << i << " " << j;
        *at = start;
      }
    }
  };
  for (std::size_t d = 0; d < functions.size(); ++d) {
    check("theta", &functions[d].theta, g.functions[d].theta);
    check("Z", &functions[d].Z, g.functions[d].Z);
    check("a", &functions[d].a, g.functions[d].a);
    check_symmetric("S", &functions[d].S, g.functions[d].S);
  }
  check("mean", &x.mean, g.x.mean);
  // The certain row included: around zero the covariance may be a little negative, for C + Sigma is
  // still positive.
  for (std::size_t n = 0; n < x.cov.size(); ++n) check_symmetric("cov", &x.cov[n], g.x.cov[n]);
}

TEST_P(FullLayerOf, ACertainRowIsThePlainKernelWithIndependentOutputs) {
  RandomStream random(4);
  const std::vector<LayerFunction> functions = RandomLayer(kernel_, 3, 2, linear_mean_, &random);
  const Moments x = Moments::Certain(random.NormalMatrix(1, 2));
  const FullMoments out = PropagateFull(kernel_, Views(functions), FullMoments::FromDiagonal(x));
  for (Index i = 0; i < 3; ++i) {
    const LayerFunction& f = functions[static_cast<std::size_t>(i)];
    Matrix cross(1, f.Z.rows());
    Vector prior(1);
    kernel_.Cross(f.theta, x.mean, f.Z, cross);
    kernel_.Diagonal(f.theta, x.mean, prior);
    const Vector k = cross.row(0).transpose();
    const double line = linear_mean_ ? x.mean.row(0).dot(f.w) : 0;
    EXPECT_NEAR(out.mean(0, i), k.dot(f.a) + line, 1e-12);
    EXPECT_NEAR(out.cov[0](i, i), prior[0] - k.dot(f.S * k), 1e-12);
    for (Index j = 0; j < i; ++j) EXPECT_EQ(out.cov[0](i, j), 0);
  }
}

TEST_P(FullLayerOf, ValueAndGradientAreContinuousAtZeroCovariance) {
  RandomStream random(5);
  const std::vector<LayerFunction> functions = RandomLayer(kernel_, 2, 2, linear_mean_, &random);
  FullMoments x = RandomInput(1, 2, &random);
  const FullMoments weights = RandomWeights(1, 2, &random);
  x.cov[0] *= 1e-9;
  const FullMoments near = PropagateFull(kernel_, Views(functions), x);
  const Gradient g_near = Backward(kernel_, functions, x, weights);
  x.cov[0].setZero();
  ExpectNear(PropagateFull(kernel_, Views(functions), x).cov[0], near.cov[0], 1e-7, "covariance");
  const Gradient g = Backward(kernel_, functions, x, weights);
  ExpectNear(g.x.cov[0], g_near.x.cov[0], 1e-6, "d cov");
  for (std::size_t d = 0; d < 2; ++d) {
    ExpectNear(g.functions[d].a, g_near.functions[d].a, 1e-6, "d a");
    ExpectNear(g.functions[d].S, g_near.functions[d].S, 1e-6, "d S");
  }
}

RC_GTEST_PROP(FullLayer, CovarianceIsSymmetricAndPositiveSemidefinite, ()) {
  const auto owner = MakeKernel(*rc::gen::element("se_ard", "linear_ard", "se_ard+linear_ard"));
  const Kernel& kernel = *owner;
  RandomStream random(*rc::gen::arbitrary<std::uint32_t>());
  const Index D = *rc::gen::inRange<Index>(1, 4);
  const Index outputs = *rc::gen::inRange<Index>(1, 4);
  const std::vector<LayerFunction> functions =
      RandomLayer(kernel, outputs, D, *rc::gen::arbitrary<bool>(), &random);
  const FullMoments x = RandomInput(3, D, &random);
  const FullMoments out = PropagateFull(kernel, Views(functions), x);
  for (const Matrix& cov : out.cov) {
    RC_ASSERT(cov == Matrix(cov.transpose()));
    RC_ASSERT(SymmetricEigensystem(cov).values[0] > -1e-11);
  }
}

TEST_P(FullLayerOf, SumsOfGroupsOfRowsAddUp) {
  RandomStream random(6);
  const std::vector<LayerFunction> functions = RandomLayer(kernel_, 2, 2, linear_mean_, &random);
  const FullMoments x = RandomInput(2, 2, &random);
  const FullMoments weights = RandomWeights(2, 2, &random);
  const Gradient whole = Backward(kernel_, functions, x, weights);
  const std::unique_ptr<FullLayer> layer = kernel_.NewFullLayer();
  layer->Prepare(Views(functions));
  const auto size = static_cast<std::size_t>(layer->SumsSize());
  AlignedBuffer total(size, 0.0);
  for (std::size_t n = 0; n < 2; ++n) {
    const auto row = [&](const FullMoments& all) {
      FullMoments one;
      one.mean = all.mean.row(static_cast<Index>(n));
      one.cov = {all.cov[n]};
      return one;
    };
    AlignedBuffer sums(size, 0.0);
    layer->Backward(row(x), row(weights), sums.data(), nullptr);
    for (std::size_t i = 0; i < size; ++i) total[i] += sums[i];
  }
  std::vector<LayerFunction> gradients;
  for (const LayerFunction& f : functions) gradients.push_back(f.ZeroLike());
  std::vector<LatentFunctionGradient> views;
  for (LayerFunction& f : gradients) views.push_back(f.gradient_view());
  layer->Finish(total.data(), &views);
  for (std::size_t d = 0; d < 2; ++d) {
    ExpectNear(gradients[d].theta, whole.functions[d].theta, 1e-12, "d theta");
    ExpectNear(gradients[d].Z, whole.functions[d].Z, 1e-12, "d Z");
    ExpectNear(gradients[d].a, whole.functions[d].a, 1e-12, "d a");
    ExpectNear(gradients[d].S, whole.functions[d].S, 1e-12, "d S");
  }
}

TEST_P(FullLayerOf, CoincidentPseudoInputsAndOneOfEachAreFine) {
  RandomStream random(7);
  std::vector<LayerFunction> functions = RandomLayer(kernel_, 1, 1, linear_mean_, &random);
  functions[0].Z.row(1) = functions[0].Z.row(0);
  const FullMoments x = RandomInput(1, 1, &random);
  Moments expected;
  Moments none;
  none.SetZero(1, 1);
  DiagonalBackward(kernel_, functions, x.Diagonal(), none, &expected);
  const FullMoments out = PropagateFull(kernel_, Views(functions), x);
  EXPECT_NEAR(out.mean(0, 0), expected.mean(0, 0), 1e-13);
  EXPECT_NEAR(out.cov[0](0, 0), expected.var(0, 0), 1e-12);
}

TEST_P(FullLayerOf, WrongShapesAreRefusedByName) {
  RandomStream random(8);
  const std::vector<LayerFunction> functions = RandomLayer(kernel_, 2, 2, linear_mean_, &random);
  EXPECT_THROW(PropagateFull(kernel_, {}, RandomInput(1, 2, &random)), Error);
  EXPECT_THROW(PropagateFull(kernel_, Views(functions), RandomInput(1, 3, &random)), Error);
  FullMoments x = RandomInput(2, 2, &random);
  x.cov[1].resize(3, 3);
  try {
    PropagateFull(kernel_, Views(functions), x);
    ADD_FAILURE() << "a 3 x 3 covariance of a 2-dimensional input was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the covariance of row 1 must be 2 x 2, not 3 x 3");
  }
  x.cov.pop_back();
  EXPECT_THROW(PropagateFull(kernel_, Views(functions), x), Error);
}

}  // namespace
}  // namespace fathom
