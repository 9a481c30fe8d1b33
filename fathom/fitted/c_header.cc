#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <sstream>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/c_source.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/export.h"
#include "fathom/kernel/linear_ard.h"
#include "fathom/model/conditioned_model.h"

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

// The fewest digits that read back as the same bits.
void AppendNumber(double value, std::string* text) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text->append(buffer, end.ptr);
}

std::string ReplaceAll(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

// A kernel's name without the number of its components.
std::string Family(const Kernel& kernel) {
  const std::string name = kernel.Name();
  return name.substr(0, name.find(':'));
}

// Members that share a network.
struct Group {
  const DeepGp& network;
  const Member& first;
  std::span<const Member> members;
};

std::vector<Group> GroupsOf(const Model& model) {
  std::vector<Group> groups;
  for (const auto& members : ByExpert(model.members()))
    groups.push_back({NetworkOf(members.front()), members.front(), members});
  return groups;
}

// The one family of all functions.
std::string FamilyOf(const std::vector<Group>& groups) {
  std::string family = Family(*groups[0].network.layers[0].gps[0].kernel);
  for (const Group& group : groups) {
    for (const GpLayer& layer : group.network.layers) {
      for (const SparseGp& gp : layer.gps) {
        if (Family(*gp.kernel) != family)
          ThrowError("a C header needs one kernel for all functions, but this model has '", family,
                     "' and '", Family(*gp.kernel), "'");
      }
    }
  }
  return family;
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

// Row by row.
Vector LowerTriangle(const Matrix& S) {
  Vector values(S.rows() * (S.rows() + 1) / 2);
  Index next = 0;
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) values[next++] = S(i, j);
  }
  return values;
}

class HeaderWriter {
 public:
  HeaderWriter(const Model& model, const std::string& name)
      : inputs_(model.schema().FeatureNames()),
        targets_(model.schema().targets),
        groups_(GroupsOf(model)),
        family_(FamilyOf(groups_)),
        prefix_(name + "_"),
        guard_(prefix_ + "H") {
    std::transform(guard_.begin(), guard_.end(), guard_.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
  }

  std::string Write() {
    WriteHead();
    WriteSizes();
    Part(c_source::kTypes);
    std::string networks = "\nstatic const @network @networks[@NETWORKS] = {\n";
    for (std::size_t n = 0; n < groups_.size(); ++n)
      networks += "    {" + WriteNetwork(n) + (n + 1 < groups_.size() ? "},\n" : "}};\n");
    Part(networks);
    Part(KernelSource(family_));
    Part(c_source::kPredict);
    text_ += "\n#endif\n";
    return text_;
  }

 private:
  // Adds text with every '@' replaced by the prefix.
  void Part(const std::string& text) { text_ += ReplaceAll(text, "@", prefix_); }
  template <typename... Pieces>
  void Line(const Pieces&... pieces) {
    std::ostringstream line;
    (line << ... << pieces) << "\n";
    Part(line.str());
  }

  void WriteHead() {
    text_ +=
        "/* A deep Gaussian process that 'fathom export' wrote. C99, nothing but libm; it "
        "allocates\n";
    text_ +=
        "   nothing and any number of threads may call it.\n\n   Inputs, in this order and in the "
        "units of the table:\n";
    for (std::size_t c = 0; c < inputs_.size(); ++c)
      text_ += "     x[" + std::to_string(c) + "]  " + ForComment(inputs_[c]) + "\n";
    text_ += "   NAN is a missing cell. Outputs:\n";
    for (std::size_t d = 0; d < targets_.size(); ++d)
      text_ += "     mean[" + std::to_string(d) + "], std[" + std::to_string(d) + "]  " +
               ForComment(targets_[d]) + "\n";
    Part(
        "\n   #include \"THIS_FILE.h\"\n\n"
        "   double x[@INPUTS] = {...}, mean[@OUTPUTS], std[@OUTPUTS];\n"
        "   @predict(x, NULL, mean, std);   what 'fathom predict' writes\n"
        "   @latent(x, NULL, mean, std);    the same with --latent\n\n"
        "   The second argument may be the standard deviations of the inputs, where they are not "
        "known\n"
        "   exactly. Link with -lm.");
    if (groups_.size() > 1 || groups_[0].network.propagation == Propagation::kPoints) {
      text_ +=
          "\n\n   The prediction is a mixture, whose mean and standard deviation these are: its "
          "quantiles are not those\n   of a Gaussian.";
    }
    text_ += " */\n";
    text_ += "#ifndef " + guard_ + "\n#define " + guard_ +
             "\n\n#include <math.h>\n#include <stddef.h>\n\n";
  }

  void WriteSizes() {
    Index points = 1;
    auto inputs = static_cast<Index>(inputs_.size());
    Index outputs = 1;
    Index shares = 1;
    for (const Group& group : groups_) {
      shares = std::max(shares, static_cast<Index>(group.members.size()));
      for (const GpLayer& layer : group.network.layers) {
        inputs = std::max({inputs, layer.inputs(), layer.outputs()});
        outputs = std::max(outputs, layer.outputs());
        for (const SparseGp& gp : layer.gps) points = std::max(points, gp.num_inducing());
      }
    }
    Line("enum {");
    Line("  @INPUTS = ", inputs_.size(), ",");
    Line("  @OUTPUTS = ", targets_.size(), ",");
    Line("  @NETWORKS = ", groups_.size(), ",");
    Line("  @MOST_SHARES = ", shares, ",");
    Line("  @MOST_POINTS = ", points, ",");
    Line("  @MOST_INPUTS = ", inputs, ",");
    Line("  @MOST_OUTPUTS = ", outputs);
    Line("};");
    Line("#define @MOMENTS @moments_", CIdentifier(family_));
  }

  // The numbers row by row.
  void Table(const std::string& name, const Matrix& numbers) {
    const Index size = numbers.size();
    std::string text = "static const double @" + name + "[" + std::to_string(size) + "] = {";
    for (Index i = 0; i < size; ++i) {
      if (i % 4 == 0) text += "\n    ";
      AppendNumber(numbers.data()[i], &text);
      text += i + 1 < size ? (i % 4 == 3 ? "," : ", ") : "";
    }
    Part(text + "};\n");
  }

  // Writes the tables of a network; what stands in its @network.
  std::string WriteNetwork(std::size_t n) {
    const Group& group = groups_[n];
    const Member& first = group.first;
    const DeepGp& network = group.network;
    const std::string own = std::to_string(n);
    const ThreadPool pool(1);
    ConditionedModel posterior;
    posterior.Prepare(network, Cavity::Posterior(), pool);
    WriteColumns("inputs" + own, first.input_scaler);
    WriteColumns("outputs" + own, first.target_scaler);
    const Matrix& directions = first.input_scaler.directions;
    if (directions.size() > 0) Table("directions" + own, directions);
    const bool paths = network.propagation == Propagation::kPoints && network.num_layers() > 1;
    if (paths) {
      Table("points" + own, network.points);
      Table("weights" + own, network.point_weights / network.point_weights.sum());
    }
    Table("noise" + own, ObservationVariance(network));
    std::string layers = "\nstatic const @layer @layers" + own + "[] = {\n";
    for (Index l = 0; l < network.num_layers(); ++l)
      layers += "    {" + WriteLayer(network.layers[l], posterior, l, own) +
                (l + 1 < network.num_layers() ? "},\n" : "}};\n");
    Part(layers);

    std::ostringstream entry;
    entry << group.members.size() << ", " << Shares(group) << ", " << network.input_dim() << ", "
          << network.num_layers() << ", " << (paths ? network.num_paths() : 0) << ", "
          << (paths ? network.num_hidden_units() : 0) << ", @inputs" << own << ", @outputs" << own
          << ", " << (directions.size() > 0 ? "@directions" + own : "NULL") << ", "
          << (paths ? "@points" + own + ", @weights" + own : "NULL, NULL") << ", @noise" << own
          << ", @layers" << own;
    return entry.str();
  }

  // "{{0.7, 1}, {0.01, 25}}": the weights of the members and how they multiply the noise.
  static std::string Shares(const Group& group) {
    std::string text = "{";
    for (const Member& member : group.members) {
      text += &member == &group.first ? "{" : ", {";
      AppendNumber(member.weight, &text);
      text += ", ";
      AppendNumber(member.noise_scale, &text);
      text += "}";
    }
    return text + "}";
  }

  void WriteColumns(const std::string& name, const Scaler& scaler) {
    const Index columns = scaler.mean.size();
    std::string text =
        "\nstatic const @column @" + name + "[" + std::to_string(columns) + "] = {\n";
    for (Index c = 0; c < columns; ++c) {
      text += "    {";
      for (const Vector* part : {&scaler.mean, &scaler.scale, &scaler.missing_var}) {
        AppendNumber((*part)[c], &text);
        if (part != &scaler.missing_var) text += ", ";
      }
      text += c + 1 < columns ? "},\n" : "}};\n";
    }
    Part(text);
  }

  // Writes the tables of a layer; what stands in its @layer.
  std::string WriteLayer(const GpLayer& layer, const ConditionedModel& posterior, Index l,
                         const std::string& network) {
    const std::string own = network + "_" + std::to_string(l);
    std::string gps = "static const @gp @gps" + own + "[] = {\n";
    for (Index d = 0; d < layer.outputs(); ++d) {
      const Conditioned& q = posterior.at(l, d);
      gps +=
          "    {" + WriteFunction(layer, q, d, own) + (d + 1 < layer.outputs() ? "},\n" : "}};\n");
    }
    Part(gps);
    const bool noisy = layer.noise_variance.size() > 0;
    if (noisy) Table("noise" + own, layer.noise_variance);
    std::ostringstream entry;
    entry << layer.inputs() << ", " << layer.outputs() << ", " << layer.skip << ", @gps" << own
          << ", " << (noisy ? "@noise" + own : "NULL");
    return entry.str();
  }

  // Writes the tables of a function; what stands in its @gp.
  std::string WriteFunction(const GpLayer& layer, const Conditioned& q, Index d,
                            const std::string& of_layer) {
    const SparseGp& gp = layer.gps[d];
    const Vector w = layer.mean_weights.size() > 0 ? Vector(layer.mean_weights.col(d)) : Vector();
    const std::string own = of_layer + "_" + std::to_string(d);
    const std::string first = layer.shared ? of_layer + "_0" : own;
    text_ += "\n";
    std::ostringstream entry;
    if (family_ == "linear_ard") {
      LinearMoments moments;
      moments.Prepare({gp.theta, gp.Z, q.a, q.S, w}, gp.theta);
      Table("a" + own, moments.slope());
      Table("S" + own, LowerTriangle(moments.Q()));
      entry << "0, " << gp.input_dim() << ", 0, NULL, NULL, @a" << own << ", @S" << own << ", NULL";
      return entry.str();
    }
    if (first == own) {
      Table("theta" + own, gp.theta);
      Table("z" + own, gp.Z);
    }
    Table("a" + own, q.a);
    Table("S" + own, LowerTriangle(q.S));
    if (w.size() > 0) Table("w" + own, w);
    entry << gp.num_inducing() << ", " << gp.input_dim() << ", " << gp.kernel->Blocks(1)[0].size
          << ", @theta" << first << ", @z" << first << ", @a" << own << ", @S" << own << ", "
          << (w.size() > 0 ? "@w" + own : "NULL");
    return entry.str();
  }

  const std::vector<std::string> inputs_, targets_;
  const std::vector<Group> groups_;
  std::string family_, prefix_, guard_, text_;
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
  if (model.calibration() != nullptr) {
    ThrowError(
        "a C header holds deep GPs alone, and this model is an ensemble with neighbour GPs or a "
        "calibration; fit one network, with the recipe's stack 'never'");
  }
  for (const Member& member : model.members()) {
    const DeepGp& network = NetworkOf(member);
    if (!network.likelihood->AddsGaussianNoise()) {
      ThrowError("a C header can be written for a regression; this model's likelihood is ",
                 Quoted(network.likelihood->Name()));
    }
    if (network.full_covariance) {
      ThrowError(
          "a C header predicts by independent moments between layers; this model has full "
          "covariances");
    }
    if (network.propagation == Propagation::kSamples) {
      ThrowError(
          "a C header draws no random numbers, and this model predicts by sampled paths; fit one "
          "whose recipe has the propagation 'moments' and not the stack 'always'");
    }
  }
  return HeaderWriter(model, name).Write();
}

}  // namespace fathom
