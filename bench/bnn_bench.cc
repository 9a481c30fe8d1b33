// The Bayesian neural networks against the matrix products that their formulas contain. NAME has a
// partner NAME_products, which does these products alone, on matrices of the same sizes.
#include <memory>
#include <vector>

#include "bench/harness.h"
#include "bnn/vi.h"
#include "bnn/weight_posterior.h"

namespace fathom::bench {

namespace {

using bnn::MlpShape;
using bnn::Rows;

Rows MakeRows(Index N, Index D) {
  RandomStream stream(1);
  Rows rows{stream.NormalMatrix(N, D), Vector()};
  rows.y = (rows.X.col(0).array() + rows.X.col(1).array().square()).matrix() +
           0.1 * stream.NormalMatrix(N, 1);
  return rows;
}

// C = A B with a factor transposed where the formula has it so.
class Products {
 public:
  // h W'
  void Forward(Index rows, Index in, Index out) { Add(rows, in, out, Kind::kForward); }
  // d W
  void Down(Index rows, Index in, Index out) { Add(rows, in, out, Kind::kDown); }
  // d' h
  void Gradient(Index rows, Index in, Index out) { Add(rows, in, out, Kind::kGradient); }

  void Run() {
    for (Product& p : products_) {
      if (p.kind == Kind::kForward) p.C.noalias() = p.A * p.B.transpose();
      if (p.kind == Kind::kDown) p.C.noalias() = p.A * p.B;
      if (p.kind == Kind::kGradient) p.C.noalias() = p.A.transpose() * p.B;
    }
  }
  double flops() const { return flops_; }

 private:
  enum class Kind { kForward, kDown, kGradient };
  struct Product {
    Kind kind;
    Matrix A, B, C;
  };

  void Add(Index rows, Index in, Index out, Kind kind) {
    RandomStream stream(static_cast<std::uint64_t>(products_.size()));
    const bool forward = kind == Kind::kForward;
    const bool gradient = kind == Kind::kGradient;
    products_.push_back({kind, stream.NormalMatrix(rows, forward ? in : out),
                         stream.NormalMatrix(gradient ? rows : out, in),
                         gradient ? Matrix(out, in) : Matrix(rows, forward ? out : in)});
    flops_ += 2.0 * static_cast<double>(rows * in * out);
  }

  std::vector<Product> products_;
  double flops_ = 0;
};

// Those of one pass up and down a network with one hidden layer.
Products PassProducts(Index rows, Index inputs, Index width) {
  Products products;
  products.Forward(rows, inputs + 1, width);
  products.Forward(rows, width + 1, 1);
  products.Gradient(rows, width + 1, 1);
  products.Down(rows, width, 1);
  products.Gradient(rows, inputs + 1, width);
  return products;
}

Case ProductsCase(const Products& once, Index times) {
  auto products = std::make_shared<Products>(once);
  return {[=] {
            for (Index i = 0; i < times; ++i) products->Run();
          },
          {.flops = static_cast<double>(times) * once.flops()}};
}

constexpr Index kKinRows = 7373;  // kin8nm
constexpr Index kKinInputs = 8;
constexpr Index kKinWidth = 50;
constexpr Index kBatch = 256;
constexpr Index kSamples = 2;

// One epoch, on one thread.
Case ViCase() {
  auto rows = std::make_shared<Rows>(MakeRows(kKinRows, kKinInputs));
  auto shape =
      std::make_shared<MlpShape>(kKinInputs, std::vector<Index>{kKinWidth}, bnn::Activation::kRelu);
  const bnn::ViOptions options{
      .steps = kKinRows / kBatch, .batch_size = kBatch, .samples = kSamples};
  const double flops = 2 * static_cast<double>(options.steps) *
                       PassProducts(kSamples * kBatch, kKinInputs, kKinWidth).flops();
  return {[=] {
            bnn::Watch watch;
            bnn::FitVi(*shape, *rows, options, 1, &watch);
          },
          {.flops = flops},
          static_cast<double>(options.steps)};
}

// Means and variances: each product twice.
Case ViProductsCase() {
  return ProductsCase(PassProducts(kSamples * kBatch, kKinInputs, kKinWidth),
                      2 * (kKinRows / kBatch));
}

constexpr Index kProteinRows = 41157;
constexpr Index kProteinInputs = 9;
constexpr Index kProteinWidth = 100;

// One gradient, from rows in the precision of SomeRows.
template <typename SomeRows>
Case HmcCase() {
  struct Setup {
    SomeRows rows{MakeRows(kProteinRows, kProteinInputs)};
    MlpShape shape{kProteinInputs, {kProteinWidth}, bnn::Activation::kRelu};
    RandomStream stream{1};
    Vector weights = bnn::DrawWeights(shape.FanInVariances(), &stream);
    bnn::WeightPrior prior{Vector::Ones(shape.num_weights())};
    bnn::MlpTape tape;
    Vector gradient;
  };
  auto setup = std::make_shared<Setup>();
  const double tiles = double{kProteinRows} / double{bnn::kTileRows};
  return {[=] {
            bnn::EvaluateLogPosterior({setup->shape, setup->weights}, setup->rows, setup->prior,
                                      0.3, &setup->tape, &setup->gradient);
          },
          {.flops = tiles * PassProducts(bnn::kTileRows, kProteinInputs, kProteinWidth).flops()},
          1};
}

Case HmcProductsCase() {
  return ProductsCase(PassProducts(bnn::kTileRows, kProteinInputs, kProteinWidth),
                      kProteinRows / bnn::kTileRows);
}

}  // namespace

void RegisterBnnBenchmarks() {
  Register("vi_epoch_kin8nm", ViCase);
  Register("vi_epoch_kin8nm_products", ViProductsCase);
  Register("hmc_gradient_protein", HmcCase<Rows>);
  Register("hmc_gradient_protein_single", HmcCase<bnn::SingleRows>);
  Register("hmc_gradient_protein_products", HmcProductsCase);
}

}  // namespace fathom::bench
