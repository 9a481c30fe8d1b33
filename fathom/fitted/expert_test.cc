// A second kind of expert: the mean of the targets, whatever the inputs.
#include "fathom/fitted/expert.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/description.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/report.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

class Constant : public Expert {
 public:
  explicit Constant(double mean) : mean_(mean), likelihood_(MakeLikelihood("gaussian")) {}

  std::string Kind() const override { return "constant"; }
  Index num_inputs() const override { return 2; }
  Index num_outputs() const override { return 1; }
  const Likelihood& likelihood() const override { return *likelihood_; }
  Vector NoiseVariance() const override { return Vector::Ones(1); }
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& /*pool*/,
                                           Precision /*precision*/) const override {
    return std::make_unique<Ready>(mean_);
  }
  void Check() const override {}
  void Write(nlohmann::json* description, const ArrayWriter& /*arrays*/) const override {
    (*description)["mean"] = mean_;
  }
  static std::shared_ptr<const Expert> Read(const nlohmann::json& description,
                                            const ArrayReader& /*arrays*/) {
    double mean = 0;
    ReadField(description, "mean", &mean);
    return std::make_shared<Constant>(mean);
  }

 private:
  class Ready : public ExpertPredictor {
   public:
    explicit Ready(double mean) : mean_(mean) {}
    Prediction Predict(const Moments& x, const PredictOptions& options) const override {
      Moments y(x.rows(), 1);
      y.mean.setConstant(mean_);
      y.var.setConstant(options.latent ? 0 : 1);
      return Prediction::Gaussian(y);
    }

   private:
    double mean_;
  };

  double mean_;
  std::shared_ptr<const Likelihood> likelihood_;
};

Member ConstantMember() {
  Member member;
  member.expert = std::make_shared<Constant>(0.5);
  member.input_scaler = {Vector::Zero(2), Vector::Ones(2), Vector::Ones(2)};
  member.target_scaler = {Vector::Constant(1, 10), Vector::Constant(1, 4), Vector::Ones(1)};
  return member;
}

Model ModelOf(std::vector<Member> members) {
  ModelParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.members = std::move(members);
  return Model(std::move(parts));
}

Model ConstantModel() {
  Member member = ConstantMember();
  Member wide = member;
  member.weight = 0.75;
  wide.weight = 0.25;
  wide.noise_scale = 9;
  return ModelOf({member, wide});
}

TEST(Expert, OfAnotherKindIsSavedLoadedAndPredictsOnceItIsRegistered) {
  const TestFolder folder;
  SaveModel(ConstantModel(), folder.Path("m"));
  EXPECT_NE(ErrorOf([&] { LoadModel(folder.Path("m")); }).find("'constant', which this fathom"),
            std::string::npos);
  RegisterExpert("constant", Constant::Read);
  EXPECT_THROW(RegisterExpert("constant", Constant::Read), Error);
  const Model loaded = LoadModel(folder.Path("m"));
  const ModelPredictor predictor(loaded, 1);
  const Moments x = Moments::Certain(Matrix::Ones(3, 2));
  const Prediction y = predictor.Predict(x);
  ASSERT_EQ(y.size(), 2);
  EXPECT_EQ(y.Mean()(2, 0), 12);                 // 10 + 4 * 0.5
  EXPECT_EQ(y.components[0].var(1, 0), 16);      // 4^2 * 1
  EXPECT_EQ(y.components[1].var(1, 0), 9 * 16);  // nine times the noise
  EXPECT_EQ(predictor.Predict(x, {.latent = true}).size(), 1);
  EXPECT_THROW(predictor.ClassProbabilities(x), Error);
  EXPECT_NE(ErrorOf([&] { NetworkOf(loaded.leader()); }).find("'constant'"), std::string::npos);
}

TEST(Expert, OfAnotherKindIsNotReportedAsANetwork) {
  const std::string report = HumanReport("m", ModelOf({ConstantMember()}), nullptr);
  EXPECT_NE(report.find("\npredictor   constant\n"), std::string::npos) << report;
}

}  // namespace
}  // namespace fathom
