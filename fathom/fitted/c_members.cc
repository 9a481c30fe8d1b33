#include "fathom/fitted/c_members.h"

#include "fathom/base/error.h"
#include "fathom/fitted/by_expert.h"

namespace fathom {

namespace {

Index PathsOf(const Member& member) {
  const DeepGp* network = FindNetwork(member);
  const bool paths = network != nullptr && network->propagation == Propagation::kPoints &&
                     network->num_layers() > 1;
  return paths ? network->num_paths() : 1;
}

// "2, {{0.7, 1}, {0.01, 25}}": the weights of the members and how they multiply the noise. Those
// that do not differ in their noise, or count nothing beside others, need no share of their own.
std::string SharesOfGroup(const MembersOfExpert& group) {
  const double sum = WeightOf(group);
  if (sum == 0 || !group.front().expert->likelihood().AddsGaussianNoise())
    return "1, {{" + CNumber(sum) + ", 1}}";
  std::size_t count = 0;
  std::string text;
  for (const Member& member : group) {
    if (member.weight == 0) continue;
    text += count++ == 0 ? "{" : ", {";
    text += CNumber(member.weight) + ", " + CNumber(member.noise_scale) + "}";
  }
  return std::to_string(count) + ", {" + text + "}";
}

}  // namespace

void CNeeds::Add(const Expert& expert) {
  CheckExpertForC(expert);
  kinds.insert(expert.Kind());
  for (const std::string& family : KernelFamilies(expert)) families.insert(family);
  inputs = std::max(inputs, expert.num_inputs());
  functions = std::max(functions, expert.num_outputs());
  if (const auto* near = dynamic_cast<const NeighbourExpert*>(&expert))
    neighbours = std::max(neighbours, std::min(near->neighbours(), near->rows().x.rows()));
  const auto* deep = dynamic_cast<const DeepGpExpert*>(&expert);
  if (deep == nullptr) return;
  for (const GpLayer& layer : deep->network().layers) {
    inputs = std::max({inputs, layer.inputs(), layer.outputs()});
    outputs = std::max(outputs, layer.outputs());
    for (const SparseGp& gp : layer.gps) points = std::max(points, gp.num_inducing());
  }
}

void CNeeds::Add(const Scaler& scaler) {
  if (scaler.warps.size() > 0 && scaler.directions.size() > 0)
    ThrowError("a C header knows inputs that are whitened or warped, and this model has both");
  columns = std::max(columns, scaler.mean.size() + scaler.warps.size());
}

void CNeeds::Add(const std::vector<MembersOfExpert>& members) {
  Index all = 0;
  for (const MembersOfExpert& group : members) {
    Add(*group.front().expert);
    Add(group.front().input_scaler);
    const auto size = static_cast<Index>(group.size());
    shares = std::max(shares, size);
    all += PathsOf(group.front()) * size;
  }
  parts = std::max(parts, all);
}

void CMemberWriter::Write(const std::vector<MembersOfExpert>& members, const std::string& name,
                          const std::string& prefix) {
  std::vector<std::size_t> group_of_member;
  std::vector<std::string> entries;
  for (std::size_t g = 0; g < members.size(); ++g) {
    std::set<std::size_t> trend;
    for (const std::size_t member : members[g].front().trend) trend.insert(group_of_member[member]);
    group_of_member.insert(group_of_member.end(), members[g].size(), g);
    const std::string own = prefix + std::to_string(g);
    const std::string list =
        trend.empty() ? "NULL"
                      : text_.Table("trend" + own, std::vector(trend.begin(), trend.end()));
    entries.push_back(WriteMember(members[g].front(), own, SharesOfGroup(members[g])) + ", " +
                      std::to_string(trend.size()) + ", " + list);
  }
  text_.Structs("member", name, entries);
}

void CMemberWriter::WriteCalibrated(const Member& whole, const std::string& name) {
  text_.Structs("member", name, {WriteMember(whole, "_noise", "1, {{1, 1}}") + ", 0, NULL"});
}

std::string CMemberWriter::WriteWarps(const ColumnWarps& warps, const std::string& own) {
  if (warps.size() == 0) return "0, NULL";
  std::vector<std::string> entries;
  for (Index w = 0; w < warps.size(); ++w) {
    const std::string of_warp = own + "_" + std::to_string(w);
    std::string entry = std::to_string(warps.columns[static_cast<std::size_t>(w)]);
    entry += ", " + text_.Table("knots" + of_warp, warps.knots.row(w));
    entry += ", " + text_.Table("scores" + of_warp, warps.scores.row(w));
    entries.push_back(std::move(entry));
  }
  return std::to_string(warps.size()) + ", " + text_.Structs("warp", "warps" + own, entries);
}

std::string CMemberWriter::WriteMember(const Member& member, const std::string& own,
                                       const std::string& shares) {
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

}  // namespace fathom
