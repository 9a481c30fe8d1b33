#include <algorithm>
#include <cctype>
#include <set>
#include <span>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/base/text.h"
#include "fathom/fitted/beyond.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/c_experts.h"
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

// A name as it may stand in a C comment, which it must not end.
std::string ForComment(const std::string& name) {
  std::string text = Quoted(name);
  for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/"))
    text.replace(at, 2, "* /");
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

void CheckScalerForC(const Scaler& scaler) {
  if (scaler.warps.size() > 0 && scaler.directions.size() > 0)
    ThrowError("a C header knows inputs that are whitened or warped, and this model has both");
}

void CheckCalibrationForC(const Calibration& calibration) {
  CheckScalerForC(calibration.input_scaler);
  if (!calibration.shape.is_plain()) {
    ThrowError("a C header cannot be written for a target that is ", Describe(calibration.shape),
               "; fit a model that takes it for any number, with the recipe's target_kind 'plain'");
  }
}

using Group = std::span<const Member>;  // members that share an expert

class HeaderWriter {
 public:
  HeaderWriter(const Model& model, const std::string& name)
      : model_(model),
        likelihood_(model.leader().expert->likelihood()),
        calibration_(model.calibration()),
        groups_(ByExpert(model.members())),
        text_(name + "_"),
        experts_(&text_),
        guard_(name + "_H") {
    std::transform(guard_.begin(), guard_.end(), guard_.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    for (const Group& group : groups_) {
      Look(*group.front().expert);
      CheckScalerForC(group.front().input_scaler);
    }
    if (calibration_ != nullptr) CheckCalibrationForC(*calibration_);
    if (LocalNoise() != nullptr) Look(*LocalNoise());
  }

  std::string Write() {
    const LikelihoodSource likelihood = SourceOf(likelihood_);
    std::set<std::string> kernels;
    for (const std::string& family : families_) kernels.insert(KernelSource(family));
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
    if (kinds_.contains(LinearExpert::kKind)) text_.Part(c_source::kLine);
    if (kinds_.contains(LogisticExpert::kKind)) text_.Part(c_source::kLogistic);
    if (kinds_.contains(NeighbourExpert::kKind)) text_.Part(c_source::kNeighbours);
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
  Index TrendsOf(const Member& member) const { return member.trend.empty() ? 0 : targets(); }

  // Notes what the header needs for an expert.
  void Look(const Expert& expert) {
    CheckExpertForC(expert);
    kinds_.insert(expert.Kind());
    for (const std::string& family : KernelFamilies(expert)) families_.insert(family);
    most_inputs_ = std::max(most_inputs_, expert.num_inputs());
    functions_ = std::max(functions_, expert.num_outputs());
    if (const auto* near = dynamic_cast<const NeighbourExpert*>(&expert))
      most_near_ = std::max(most_near_, std::min(near->neighbours(), near->rows().x.rows()));
    const auto* deep = dynamic_cast<const DeepGpExpert*>(&expert);
    if (deep == nullptr) return;
    for (const GpLayer& layer : deep->network().layers) {
      most_inputs_ = std::max({most_inputs_, layer.inputs(), layer.outputs()});
      most_outputs_ = std::max(most_outputs_, layer.outputs());
      for (const SparseGp& gp : layer.gps) most_points_ = std::max(most_points_, gp.num_inducing());
    }
  }

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

  Index PathsOf(const Member& member) const {
    const DeepGp* network = FindNetwork(member);
    const bool paths = network != nullptr && network->propagation == Propagation::kPoints &&
                       network->num_layers() > 1;
    return paths ? network->num_paths() : 1;
  }

  // Scaled, before other members add to them.
  Index MostColumns() const {
    Index most = model_.schema().width();
    for (const Group& group : groups_)
      most = std::max(most, model_.schema().width() + group.front().input_scaler.warps.size());
    if (calibration_ != nullptr)
      most = std::max(most, model_.schema().width() + calibration_->input_scaler.warps.size());
    return most;
  }

  void WriteSizes() {
    std::size_t shares = 1;
    Index parts = calibration_ == nullptr ? 1 : calibration_->scales.size();
    Index all = 0;
    for (const Group& group : groups_) {
      shares = std::max(shares, group.size());
      all += PathsOf(group.front()) * static_cast<Index>(group.size());
    }
    parts = std::max(parts, all);
    text_.Line("enum {");
    text_.Line("  @INPUTS = ", model_.schema().width(), ",");
    text_.Line("  @OUTPUTS = ", targets(), ",");
    if (classes()) text_.Line("  @CLASSES = ", model_.schema().classes.size(), ",");
    const Index functions =
        std::max(functions_, static_cast<Index>(model_.schema().classes.size()));
    text_.Line("  @FUNCTIONS = ", functions, ",");
    text_.Line("  @GAUSSIAN = ", likelihood_.AddsGaussianNoise() ? 1 : 0, ",");
    text_.Line("  @COUNTS = ", likelihood_.IsDiscrete() ? 1 : 0, ",");
    text_.Line("  @MEMBERS = ", groups_.size(), ",");
    if (calibration_ != nullptr) text_.Line("  @SCALES = ", calibration_->scales.size(), ",");
    text_.Line("  @KNOTS = ", kWarpKnots, ",");
    text_.Line("  @MOST_SHARES = ", shares, ",");
    text_.Line("  @MOST_PARTS = ", parts, ",");
    text_.Line("  @MOST_POINTS = ", most_points_, ",");
    text_.Line("  @MOST_NEAR = ", most_near_, ",");
    text_.Line("  @MOST_INPUTS = ", std::max(most_inputs_, MostColumns() + targets()), ",");
    text_.Line("  @MOST_OUTPUTS = ", most_outputs_);
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
    std::vector<std::size_t> group_of_member;
    std::vector<std::string> entries;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      std::set<std::size_t> trend;
      for (const std::size_t member : groups_[g].front().trend)
        trend.insert(group_of_member[member]);
      group_of_member.insert(group_of_member.end(), groups_[g].size(), g);
      const std::string own = std::to_string(g);
      const std::string list =
          trend.empty() ? "NULL"
                        : text_.Table("trend" + own, std::vector(trend.begin(), trend.end()));
      entries.push_back(WriteMember(groups_[g].front(), own, SharesOf(groups_[g])) + ", " +
                        std::to_string(trend.size()) + ", " + list);
    }
    text_.Structs("member", "members", entries);
    if (calibration_ == nullptr || calibration_->input_scaler.mean.size() == 0) return;
    Member whole;
    whole.expert = calibration_->local_noise;
    whole.input_scaler = calibration_->input_scaler;
    whole.target_scaler = calibration_->target_scaler;
    whole.trend = {0};  // the centre takes the place of a trend
    text_.Structs("member", "calibrated",
                  {WriteMember(whole, "_noise", "1, {{1, 1}}") + ", 0, NULL"});
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
      text_.Table("low", model_.data().range.low);
      text_.Table("high", model_.data().range.high);
      text_.Table("beyond_lengthscales", beyond->lengthscales);
      text_.Table("beyond_slope", beyond->slope);
      text_.Table("beyond_intercept", beyond->intercept);
      text_.Table("beyond_growth", beyond->growth);
      text_.Table("beyond_power", Matrix::Constant(1, 1, beyond->power));
    }
    text_.Part(calibration_->beyond == nullptr ? c_source::kNoBeyond : c_source::kBeyond);
    text_.Part(c_source::kCalibration);
  }

  std::string WriteWarps(const ColumnWarps& warps, const std::string& own) {
    if (warps.size() == 0) return "0, NULL";
    std::vector<std::string> entries;
    for (Index w = 0; w < warps.size(); ++w) {
      const std::string of_warp = own + "_" + std::to_string(w);
      const std::string knots = text_.Table("knots" + of_warp, warps.knots.row(w));
      const std::string scores = text_.Table("scores" + of_warp, warps.scores.row(w));
      entries.push_back(std::to_string(warps.columns[static_cast<std::size_t>(w)]) + ", " + knots +
                        ", " + scores);
    }
    return std::to_string(warps.size()) + ", " + text_.Structs("warp", "warps" + own, entries);
  }

  // Writes the tables of a member; what stands in its @member but the trend.
  std::string WriteMember(const Member& member, const std::string& own, const std::string& shares) {
    text_.Plain("\n");
    const std::string expert = member.expert == nullptr
                                   ? "NULL, NULL"
                                   : experts_.Write(*member.expert, TrendsOf(member), own);
    const std::string inputs = text_.Columns("inputs" + own, member.input_scaler);
    const std::string outputs = text_.Columns("outputs" + own, member.target_scaler);
    const Matrix& turned = member.input_scaler.directions;
    const std::string directions =
        turned.size() > 0 ? text_.Table("directions" + own, turned) : "NULL";
    const DeepGp* network = FindNetwork(member);
    Vector parameters;
    if (network != nullptr) {
      parameters = network->likelihood_parameters;
    } else if (member.expert != nullptr) {
      parameters = member.expert->NoiseVariance();
    }
    const std::string warps = WriteWarps(member.input_scaler.warps, own);
    const bool probabilities = dynamic_cast<const LogisticExpert*>(member.expert.get()) != nullptr;
    const std::string of_likelihood =
        parameters.size() > 0 ? text_.Table("parameters" + own, parameters) : "NULL";
    return expert + ", " + std::to_string(member.input_scaler.outputs()) + ", " + inputs + ", " +
           outputs + ", " + directions + ", " + of_likelihood + ", " + warps + ", " +
           (probabilities ? "1" : "0") + ", " + shares;
  }

  // "2, {{0.7, 1}, {0.01, 25}}": the weights of the members and how they multiply the noise. Those
  // that do not differ in their noise, or count nothing beside others, need no share of their own.
  std::string SharesOf(const Group& group) const {
    const double sum = WeightOf(group);
    if (sum == 0 || !likelihood_.AddsGaussianNoise()) return "1, {{" + CNumber(sum) + ", 1}}";
    std::size_t count = 0;
    std::string text;
    for (const Member& member : group) {
      if (member.weight == 0) continue;
      text += count++ == 0 ? "{" : ", {";
      text += CNumber(member.weight) + ", " + CNumber(member.noise_scale) + "}";
    }
    return std::to_string(count) + ", {" + text + "}";
  }

  void WritePredictions() {
    if (classes()) {
      text_.Part(c_source::kPredictClasses);
      return;
    }
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
  const std::vector<Group> groups_;
  CText text_;
  CExpertWriter experts_;
  std::string guard_;
  std::set<std::string> kinds_, families_;
  Index functions_ = 1, most_inputs_ = 1, most_outputs_ = 1, most_points_ = 1, most_near_ = 1;
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
