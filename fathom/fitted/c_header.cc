#include <algorithm>
#include <cctype>
#include <set>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/base/text.h"
#include "fathom/fitted/beyond.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/c_members.h"
#include "fathom/fitted/c_source.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/export.h"
#include "fathom/fitted/seen_rows.h"

namespace fathom {

namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsWordCharacter(char c) {
  return IsLetter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// A name as it may stand in a C comment, which it must neither end nor begin again.
std::string ForComment(const std::string& name) {
  std::string text = Quoted(name);
  for (const char* mark : {"*/", "/*"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.insert(at + 1, " ");
  }
  return text;
}

const char* KernelSource(const std::string& family) {
  if (family == "se_ard") return c_source::kSeArd;
  if (family == "linear_ard") return c_source::kLinearArd;
  if (family == "se_ard+linear_ard") return c_source::kSeLinear;
  if (family == "spectral_mixture") return c_source::kSpectralMixture;
  ThrowError("a C header cannot be written for the kernel '", family,
             "'; the kernels that can are se_ard, linear_ard, se_ard+linear_ard and "
             "spectral_mixture");
}

struct LikelihoodSource {
  const char* text;
  bool needs_panels = false;
};

LikelihoodSource SourceOf(const Likelihood& likelihood) {
  const std::string name = likelihood.Name();
  if (name == "gaussian") return {c_source::kGaussian};
  if (name == "student_t") return {c_source::kStudentT};
  if (name == "heteroscedastic") return {c_source::kHeteroscedastic};
  if (name == "poisson") return {c_source::kPoisson, true};
  if (name == "probit") return {c_source::kProbit};
  if (name == "robust_max") return {c_source::kRobustMax, true};
  if (name == "softmax") return {c_source::kSoftmax};
  ThrowError("a C header cannot be written for the likelihood ", Quoted(name));
}

const char* ShareSource(const Calibration& calibration) {
  if (!calibration.shape.has_share()) return c_source::kNoShare;
  return calibration.share == nullptr ? c_source::kShareOfTwo : c_source::kShareOfMembers;
}

class HeaderWriter {
 public:
  HeaderWriter(const Model& model, const std::string& name)
      : model_(model),
        likelihood_(model.leader().expert->likelihood()),
        calibration_(model.calibration()),
        members_(ByExpert(model.members())),
        text_(name + "_"),
        writer_(&text_, targets()),
        guard_(name + "_H") {
    std::transform(guard_.begin(), guard_.end(), guard_.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    needs_.Add(members_);
    if (calibration_ == nullptr) return;
    needs_.Add(calibration_->input_scaler);
    if (LocalNoise() != nullptr) needs_.Add(*LocalNoise());
    if (calibration_->share != nullptr) needs_.Add(ByExpert(calibration_->share->members()));
    needs_.parts = std::max(needs_.parts, calibration_->scales.size());
    if (IsShaped()) needs_.functions = std::max<Index>(needs_.functions, 2);  // z and a share
  }

  std::string Write() {
    const LikelihoodSource likelihood = SourceOf(likelihood_);
    std::set<std::string> kernels;
    for (const std::string& family : needs_.families) kernels.insert(KernelSource(family));
    WriteHead();
    WriteSizes();
    text_.Part(c_source::kTypes);
    text_.Part(c_source::kNormal);
    if (likelihood.needs_panels) WritePanels();
    text_.Part(likelihood.text);
    if (!kernels.empty()) {
      text_.Part(c_source::kNetworkTypes);
      for (const std::string& kernel : kernels) text_.Part(kernel);
      text_.Part(c_source::kNetwork);
    }
    if (needs_.kinds.contains(LinearExpert::kKind)) text_.Part(c_source::kLine);
    if (needs_.kinds.contains(LogisticExpert::kKind)) text_.Part(c_source::kLogistic);
    if (needs_.kinds.contains(NeighbourExpert::kKind)) text_.Part(c_source::kNeighbours);
    if (needs_.kinds.contains(TreesExpert::kKind)) text_.Part(c_source::kTrees);
    WriteMembers();
    text_.Part(c_source::kEnter);
    WritePredictions();
    text_.Plain("\n#endif\n");
    return text_.Take();
  }

 private:
  bool classes() const { return model_.schema().has_classes(); }
  const Expert* LocalNoise() const {
    return calibration_ == nullptr ? nullptr : calibration_->local_noise.get();
  }
  Index targets() const { return static_cast<Index>(model_.schema().targets.size()); }
  bool IsShaped() const { return calibration_ != nullptr && !calibration_->shape.is_plain(); }

  void WriteHead() {
    const std::vector<std::string> inputs = model_.schema().FeatureNames();
    text_.Plain(
        "/* A model that 'fathom export' wrote. C99, nothing but libm; it allocates nothing and "
        "any "
        "number of\n   threads may call it.\n\n   Inputs, in this order and in the units of the "
        "table:\n");
    for (std::size_t c = 0; c < inputs.size(); ++c)
      text_.Plain("     x[" + std::to_string(c) + "]  " + ForComment(inputs[c]) + "\n");
    text_.Plain("   NAN is a missing cell. Outputs:\n");
    classes() ? WriteHeadOfClasses() : WriteHeadOfNumbers();
    text_.Plain(
        "\n   The second argument may be the standard deviations of the inputs, where they are not "
        "known\n   exactly. Link with -lm. */\n");
    text_.Plain("#ifndef " + guard_ + "\n#define " + guard_ +
                "\n\n#include <math.h>\n#include <stddef.h>\n\n");
  }

  void WriteHeadOfClasses() {
    const std::vector<std::string>& names = model_.schema().classes;
    for (std::size_t c = 0; c < names.size(); ++c)
      text_.Plain("     p[" + std::to_string(c) + "]  the probability of " + ForComment(names[c]) +
                  "\n");
    text_.Part(
        "\n   #include \"THIS_FILE.h\"\n\n"
        "   double x[@INPUTS] = {...}, p[@CLASSES];\n"
        "   @probabilities(x, NULL, p);   what 'fathom predict' writes\n"
        "   c = @classify(x, NULL);       the most probable class, counted from 0\n");
  }

  void WriteHeadOfNumbers() {
    const std::vector<std::string>& names = model_.schema().targets;
    for (std::size_t d = 0; d < names.size(); ++d)
      text_.Plain("     mean[" + std::to_string(d) + "], std[" + std::to_string(d) + "]  " +
                  ForComment(names[d]) + "\n");
    text_.Part(
        "\n   #include \"THIS_FILE.h\"\n\n"
        "   double x[@INPUTS] = {...}, mean[@OUTPUTS], std[@OUTPUTS];\n"
        "   double at[2] = {0.05, 0.95}, quantile[2 * @OUTPUTS];\n"
        "   @predict(x, NULL, mean, std);             what 'fathom predict' writes\n"
        "   @latent(x, NULL, mean, std);              the same with --latent\n"
        "   @quantiles(x, NULL, 2, at, quantile);     the same with --quantiles 0.05,0.95\n");
  }

  void WriteSizes() {
    const TargetShape shape = IsShaped() ? calibration_->shape : TargetShape();
    const Index functions =
        std::max(needs_.functions, static_cast<Index>(model_.schema().classes.size()));
    text_.Line("enum {");
    text_.Line("  @INPUTS = ", model_.schema().width(), ",");
    text_.Line("  @OUTPUTS = ", targets(), ",");
    if (classes()) text_.Line("  @CLASSES = ", model_.schema().classes.size(), ",");
    text_.Line("  @FUNCTIONS = ", functions, ",");
    text_.Line("  @GAUSSIAN = ", likelihood_.AddsGaussianNoise() ? 1 : 0, ",");
    text_.Line("  @COUNTS = ", likelihood_.IsDiscrete() || shape.step > 0 ? 1 : 0, ",");
    text_.Line("  @JUMPS = ", shape.has_value && shape.step == 0 ? 1 : 0, ",");
    text_.Line("  @MEMBERS = ", members_.size(), ",");
    if (calibration_ != nullptr) text_.Line("  @SCALES = ", calibration_->scales.size(), ",");
    text_.Line("  @KNOTS = ", kWarpKnots, ",");
    text_.Line("  @MOST_SHARES = ", needs_.shares, ",");
    text_.Line("  @MOST_PARTS = ", needs_.parts, ",");
    text_.Line("  @MOST_POINTS = ", needs_.points, ",");
    text_.Line("  @MOST_NEAR = ", needs_.neighbours, ",");
    text_.Line("  @MOST_INPUTS = ", std::max(needs_.inputs, needs_.columns + targets()), ",");
    text_.Line("  @MOST_OUTPUTS = ", needs_.outputs);
    text_.Line("};");
  }

  void WritePanels() {
    const PanelRule& rule = GaussLegendre();
    Matrix nodes(kPanelNodes, 2);
    for (int i = 0; i < kPanelNodes; ++i) nodes.row(i) << rule.nodes[i], rule.weights[i];
    text_.Plain("\n");
    text_.Table("nodes", nodes);
    text_.Part(c_source::kPanels);
  }

  void WriteMembers() {
    writer_.Write(members_, "members", "");
    if (calibration_ == nullptr) return;
    if (calibration_->input_scaler.mean.size() > 0) {
      Member whole;
      whole.expert = calibration_->local_noise;
      whole.input_scaler = calibration_->input_scaler;
      whole.target_scaler = calibration_->target_scaler;
      whole.trend = {0};  // the centre takes the place of a trend
      writer_.WriteCalibrated(whole, "calibrated");
    }
    if (calibration_->share == nullptr) return;
    const std::vector<MembersOfExpert> members = ByExpert(calibration_->share->members());
    text_.Line("enum { @SHARE_MEMBERS = ", members.size(), " };");
    writer_.Write(members, "share_members", "_share");
  }

  // Where the quantiles of a target in steps lie, and the value apart of one without.
  void WriteGrid() {
    double origin = 0, step = 1, jump = 0;
    if (IsShaped()) {
      const TargetShape& shape = calibration_->shape;
      jump = shape.value;
      if (shape.step > 0) {
        origin = shape.has_value ? std::min(shape.least, shape.value) : shape.least;
        step = shape.step;
      }
    }
    text_.Line("static const double @origin = ", CNumber(origin), ", @step = ", CNumber(step),
               ", @jump = ", CNumber(jump), ";");
  }

  void WriteShape() {
    if (!IsShaped()) {
      text_.Part(c_source::kNoShape);
      return;
    }
    const TargetShape& shape = calibration_->shape;
    text_.Part(c_source::kShapeType);
    const int bent = shape.warp.kind == Warp::Kind::kNone  ? 0
                     : shape.warp.kind == Warp::Kind::kLog ? 1
                                                           : 2;
    std::string entry = std::to_string(bent);
    for (const double number :
         {shape.warp.shift, shape.warp.low, shape.warp.high, shape.step, shape.least, shape.most})
      entry += ", " + CNumber(number);
    entry += std::string(shape.has_value ? ", 1, " : ", 0, ") + CNumber(shape.value);
    entry += ", " + CNumber(shape.gap);
    text_.Structs("shape", "target", {entry});
    text_.Part(c_source::kShape);
  }

  void WriteShare() {
    if (!IsShaped()) {
      text_.Part(c_source::kGiveNoShape);
      return;
    }
    if (calibration_->shape.has_share()) {
      text_.Table("share_logit", calibration_->share_logit);
      text_.Part(c_source::kShareLogit);
    }
    text_.Part(ShareSource(*calibration_));
    text_.Part(c_source::kGiveShape);
  }

  // Writes the tables of the calibration and the functions that read them.
  void WriteCalibration() {
    text_.Plain("\n");
    text_.Table("scales", calibration_->scales);
    text_.Table("shares", calibration_->shares);
    text_.Table("floors", calibration_->floor);
    text_.Part(LocalNoise() == nullptr ? c_source::kNoLocalNoise : c_source::kLocalNoise);
    if (const SeenRows* seen = calibration_->seen.get()) {
      text_.Line("enum { @SEEN = ", seen->x.rows(), " };");
      text_.Table("seen_x", seen->x);
      text_.Table("seen_mean", seen->mean);
      text_.Table("seen_var", seen->var);
    }
    text_.Part(calibration_->seen == nullptr ? c_source::kNoSeen : c_source::kSeen);
    if (const Beyond* beyond = calibration_->beyond.get()) {
      text_.Line("enum { @BEYOND_COURSE = ",
                 beyond->course == Course::kStay    ? 0
                 : beyond->course == Course::kSlope ? 1
                                                    : 2,
                 " };");
      const InputRange range = Widened(model_.data().range, beyond->margin);
      text_.Table("low", range.low);
      text_.Table("high", range.high);
      text_.Table("beyond_lengthscales", beyond->lengthscales);
      text_.Table("beyond_slope", beyond->slope);
      text_.Table("beyond_intercept", beyond->intercept);
      text_.Table("beyond_growth", beyond->growth);
      text_.Table("beyond_power", Matrix::Constant(1, 1, beyond->power));
      text_.Table("beyond_limit", Matrix::Constant(1, 1, beyond->limit));
    }
    text_.Part(calibration_->beyond == nullptr ? c_source::kNoBeyond : c_source::kBeyond);
    WriteShare();
    text_.Part(c_source::kCalibration);
  }

  void WritePredictions() {
    if (classes()) {
      text_.Part(c_source::kPredictClasses);
      return;
    }
    WriteGrid();
    WriteShape();
    text_.Part(c_source::kSay);
    if (calibration_ == nullptr) {
      text_.Part(c_source::kMixture);
    } else {
      WriteCalibration();
    }
    text_.Part(c_source::kPredictNumbers);
  }

  const Model& model_;
  const Likelihood& likelihood_;
  const Calibration* const calibration_;
  const std::vector<MembersOfExpert> members_;
  CText text_;
  CMemberWriter writer_;
  std::string guard_;
  CNeeds needs_;
};

}  // namespace

std::string CIdentifier(const std::string& text) {
  std::string name = text;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !IsWordCharacter(c); }, '_');
  return name.empty() || !IsLetter(name[0]) ? "model_" + name : name;
}

std::string ExportCHeader(const Model& model, const std::string& name) {
  if (name.empty() || CIdentifier(name) != name)
    ThrowError("the name of the C functions must be a C identifier, not ", Quoted(name));
  return HeaderWriter(model, name).Write();
}

}  // namespace fathom
