#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "fathom/base/error.h"
#include "fathom/data/text.h"
#include "fathom/export/c_source.h"
#include "fathom/export/export.h"
#include "fathom/fit/describe.h"
#include "fathom/inference/network.h"
#include "fathom/kernel/linear_ard.h"

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

// The one family of all functions.
std::string FamilyOf(const DeepGp& network) {
  const std::string family = Family(*network.layers[0].gps[0].kernel);
  for (const GpLayer& layer : network.layers) {
    for (const SparseGp& gp : layer.gps) {
      if (Family(*gp.kernel) != family)
        ThrowError("a C header needs one kernel for all functions, but this model has '", family,
                   "' and '", Family(*gp.kernel), "'");
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

std::vector<double> LowerTriangle(const Matrix& S) {
  std::vector<double> values;
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) values.push_back(S(i, j));
  }
  return values;
}

class HeaderWriter {
 public:
  HeaderWriter(const Model& model, const std::string& name)
      : model_(model),
        family_(FamilyOf(model.network)),
        prefix_(name + "_"),
        guard_(prefix_ + "H") {
    std::transform(guard_.begin(), guard_.end(), guard_.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    const ThreadPool pool(1);
    posterior_.Prepare(model.network, Cavity::Posterior(), {.backward = false}, pool);
  }

  std::string Write() {
    const DeepGp& network = model_.network;
    WriteHead();
    WriteSizes();
    Part(c_source::kTypes);
    WriteColumns("input_columns", model_.input_scaler, model_.input_names);
    WriteDirections();
    WriteColumns("output_columns", model_.target_scaler, model_.target_names);
    for (Index l = 0; l < network.num_layers(); ++l) WriteLayer(l);
    WriteNetwork();
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
    for (std::size_t c = 0; c < model_.input_names.size(); ++c)
      text_ += "     x[" + std::to_string(c) + "]  " + ForComment(model_.input_names[c]) + "\n";
    text_ += "   NAN is a missing cell. Outputs:\n";
    for (std::size_t d = 0; d < model_.target_names.size(); ++d)
      text_ += "     mean[" + std::to_string(d) + "], std[" + std::to_string(d) + "]  " +
               ForComment(model_.target_names[d]) + "\n";
    Part(
        "\n   #include \"THIS_FILE.h\"\n\n"
        "   double x[@INPUTS] = {...}, mean[@OUTPUTS], std[@OUTPUTS];\n"
        "   @predict(x, NULL, mean, std);   what 'fathom predict' writes\n"
        "   @latent(x, NULL, mean, std);    the same with --latent\n\n"
        "   The second argument may be the standard deviations of the inputs, where they are not "
        "known\n"
        "   exactly. Link with -lm. */\n");
    text_ += "#ifndef " + guard_ + "\n#define " + guard_ +
             "\n\n#include <math.h>\n#include <stddef.h>\n\n";
  }

  void WriteSizes() {
    const DeepGp& network = model_.network;
    Index points = 1;
    Index inputs = 1;
    Index outputs = 1;
    for (const GpLayer& layer : network.layers) {
      inputs = std::max({inputs, layer.inputs(), layer.outputs()});
      outputs = std::max(outputs, layer.outputs());
      for (const SparseGp& gp : layer.gps) points = std::max(points, gp.num_inducing());
    }
    Line("enum {");
    Line("  @INPUTS = ", model_.input_names.size(), ",");
    Line("  @RAW = ", network.input_dim(), ",");
    Line("  @OUTPUTS = ", network.outputs(), ",");
    Line("  @LAYERS = ", network.num_layers(), ",");
    Line("  @MOST_POINTS = ", points, ",");
    Line("  @MOST_INPUTS = ", inputs, ",");
    Line("  @MOST_OUTPUTS = ", outputs);
    Line("};");
    Line("#define @MOMENTS @moments_", CIdentifier(family_));
  }

  void Table(const std::string& name, const double* values, std::size_t size) {
    std::string text = "static const double @" + name + "[" + std::to_string(size) + "] = {";
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 4 == 0) text += "\n    ";
      AppendNumber(values[i], &text);
      text += i + 1 < size ? (i % 4 == 3 ? "," : ", ") : "";
    }
    Part(text + "};\n");
  }
  void Table(const std::string& name, const Vector& values) {
    Table(name, values.data(), static_cast<std::size_t>(values.size()));
  }

  void WriteColumns(const std::string& name, const Scaler& scaler,
                    const std::vector<std::string>& names) {
    std::string text =
        "\nstatic const @column @" + name + "[" + std::to_string(names.size()) + "] = {\n";
    for (std::size_t c = 0; c < names.size(); ++c) {
      text += "    {";
      for (const Vector* part : {&scaler.mean, &scaler.scale, &scaler.missing_var}) {
        AppendNumber((*part)[static_cast<Index>(c)], &text);
        if (part != &scaler.missing_var) text += ", ";
      }
      text += c + 1 < names.size() ? "},\n" : "}};\n";
    }
    Part(text);
  }

  // Along which the standardised columns enter the first layer.
  void WriteDirections() {
    const Matrix& directions = model_.input_scaler.directions;
    if (directions.size() > 0) {
      std::string text = "\nstatic const double @directions[@INPUTS][@RAW] = {\n";
      for (Index c = 0; c < directions.rows(); ++c) {
        text += "    {";
        for (Index r = 0; r < directions.cols(); ++r) {
          if (r > 0) text += ", ";
          AppendNumber(directions(c, r), &text);
        }
        text += c + 1 < directions.rows() ? "},\n" : "}};\n";
      }
      Part(text);
    }
    Part(directions.size() > 0 ? c_source::kTurn : c_source::kKeep);
  }

  void WriteLayer(Index l) {
    const GpLayer& layer = model_.network.layers[l];
    std::string gps = "static const @gp @gps" + std::to_string(l) + "[" +
                      std::to_string(layer.outputs()) + "] = {\n";
    for (Index d = 0; d < layer.outputs(); ++d)
      gps += "    {" + WriteFunction(l, d) + (d + 1 < layer.outputs() ? "},\n" : "}};\n");
    Part(gps);
    if (layer.noise_variance.size() > 0) Table("noise" + std::to_string(l), layer.noise_variance);
  }

  // Writes the tables of a function; what stands in its @gp.
  std::string WriteFunction(Index l, Index d) {
    const GpLayer& layer = model_.network.layers[l];
    const SparseGp& gp = layer.gps[d];
    const Conditioned& q = posterior_.prepared(l, d).cavity;
    const Vector w = layer.mean_weights.size() > 0 ? Vector(layer.mean_weights.col(d)) : Vector();
    const std::string own = std::to_string(l) + "_" + std::to_string(d);
    const std::string first = layer.shared ? std::to_string(l) + "_0" : own;
    text_ += "\n";
    std::ostringstream entry;
    if (family_ == "linear_ard") {
      LinearMoments moments;
      moments.Prepare({gp.theta, gp.Z, q.a, q.S, w}, gp.theta);
      Table("a" + own, moments.slope());
      const std::vector<double> Q = LowerTriangle(moments.Q());
      Table("S" + own, Q.data(), Q.size());
      entry << "0, " << gp.input_dim() << ", 0, NULL, NULL, @a" << own << ", @S" << own << ", NULL";
      return entry.str();
    }
    if (first == own) {
      Table("theta" + own, gp.theta);
      Table("z" + own, gp.Z.data(), static_cast<std::size_t>(gp.Z.size()));
    }
    Table("a" + own, q.a);
    const std::vector<double> S = LowerTriangle(q.S);
    Table("S" + own, S.data(), S.size());
    if (w.size() > 0) Table("w" + own, w);
    entry << gp.num_inducing() << ", " << gp.input_dim() << ", " << gp.kernel->Blocks(1)[0].size
          << ", @theta" << first << ", @z" << first << ", @a" << own << ", @S" << own << ", "
          << (w.size() > 0 ? "@w" + own : "NULL");
    return entry.str();
  }

  void WriteNetwork() {
    const DeepGp& network = model_.network;
    std::ostringstream text;
    text << "\nstatic const @layer @layers[@LAYERS] = {\n";
    for (Index l = 0; l < network.num_layers(); ++l) {
      const GpLayer& layer = network.layers[l];
      text << "    {" << layer.inputs() << ", " << layer.outputs() << ", " << layer.skip << ", @gps"
           << l << ", ";
      if (layer.noise_variance.size() > 0) {
        text << "@noise" << l;
      } else {
        text << "NULL";
      }
      text << (l + 1 < network.num_layers() ? "},\n" : "}};\n");
    }
    Part(text.str());
    Table("noise", ObservationVariance(network));
  }

  const Model& model_;
  std::string family_, prefix_, guard_, text_;
  Network posterior_;
};

}  // namespace

std::string CIdentifier(const std::string& text) {
  std::string name = text;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !IsWordCharacter(c); }, '_');
  return name.empty() || !IsLetter(name[0]) ? "model_" + name : name;
}

std::string ExportCHeader(const Model& model, const std::string& name) {
  if (!model.companions.empty())
    ThrowError("a stack has no C header; fit a single network, with --stack never");
  if (name.empty() || CIdentifier(name) != name)
    ThrowError("the name of the C functions must be a C identifier, not ", Quoted(name));
  if (model.network.likelihood->Name() != "gaussian") {
    ThrowError("a C header can be written for a regression; this model's likelihood is ",
               Quoted(model.network.likelihood->Name()));
  }
  if (model.network.propagation != Propagation::kMoments || model.network.full_covariance) {
    ThrowError(
        "a C header predicts by independent moments between layers; this model was trained "
        "with sampled paths, points or full covariances");
  }
  return HeaderWriter(model, name).Write();
}

}  // namespace fathom
