#include "fathom/fitted/c_experts.h"

#include <algorithm>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/export.h"
#include "fathom/kernel/linear_ard.h"

namespace fathom {

namespace {

// A kernel's name without the number of its components.
std::string Family(const Kernel& kernel) {
  const std::string name = kernel.Name();
  return name.substr(0, name.find(':'));
}

void CheckNetworkForC(const DeepGp& network) {
  if (network.full_covariance) {
    ThrowError(
        "a C header predicts by independent moments between layers; this model has full "
        "covariances");
  }
  if (network.propagation == Propagation::kSamples) {
    ThrowError(
        "a C header draws no random numbers, and this model predicts by sampled paths; fit one "
        "whose recipe has the propagation 'moments' or 'points'");
  }
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

int RoughnessOf(Correlation correlation) {
  switch (correlation) {
    case Correlation::kMatern12:
      return 1;
    case Correlation::kMatern32:
      return 3;
    case Correlation::kMatern52:
      return 5;
    case Correlation::kSe:
      return 0;
  }
  ThrowError("a C header does not know a correlation of this model's neighbour GPs");
}

template <typename... Pieces>
std::string Entry(const Pieces&... pieces) {
  std::ostringstream entry;
  const char* separator = "";
  ((entry << separator << pieces, separator = ", "), ...);
  return entry.str();
}

}  // namespace

void CheckExpertForC(const Expert& expert) {
  if (const auto* deep = dynamic_cast<const DeepGpExpert*>(&expert)) {
    CheckNetworkForC(deep->network());
    return;
  }
  if (dynamic_cast<const LinearExpert*>(&expert) != nullptr ||
      dynamic_cast<const NeighbourExpert*>(&expert) != nullptr ||
      dynamic_cast<const LogisticExpert*>(&expert) != nullptr ||
      dynamic_cast<const TreesExpert*>(&expert) != nullptr)
    return;
  ThrowError(
      "a C header cannot be written for a member of the kind ", Quoted(expert.Kind()),
      "; deep GPs, neighbour GPs, trees, straight lines and logistic regressions can be exported");
}

std::vector<std::string> KernelFamilies(const Expert& expert) {
  std::vector<std::string> families;
  const auto* deep = dynamic_cast<const DeepGpExpert*>(&expert);
  if (deep == nullptr) return families;
  for (const GpLayer& layer : deep->network().layers) {
    for (const SparseGp& gp : layer.gps) families.push_back(Family(*gp.kernel));
  }
  return families;
}

std::string CExpertWriter::Write(const Expert& expert, Index trends, const std::string& own) {
  if (const auto* deep = dynamic_cast<const DeepGpExpert*>(&expert))
    return "@ask_network, &" + WriteNetwork(deep->network(), own);
  if (const auto* line = dynamic_cast<const LinearExpert*>(&expert))
    return "@ask_line, &" + WriteLine(line->ridge(), own);
  if (const auto* logistic = dynamic_cast<const LogisticExpert*>(&expert))
    return "@ask_logistic, &" + WriteLogistic(logistic->logistic(), own);
  if (const auto* trees = dynamic_cast<const TreesExpert*>(&expert))
    return "@ask_trees, &" + WriteTrees(*trees, own);
  return "@ask_neighbours, &" +
         WriteNeighbours(dynamic_cast<const NeighbourExpert&>(expert), trends, own);
}

std::string CExpertWriter::WriteNetwork(const DeepGp& network, const std::string& own) {
  const ThreadPool pool(1);
  ConditionedModel posterior;
  posterior.Prepare(network, Cavity::Posterior(), pool);
  const bool paths = network.propagation == Propagation::kPoints && network.num_layers() > 1;
  std::string points = "NULL";
  std::string weights = "NULL";
  if (paths) {
    points = text_.Table("points" + own, network.points);
    weights = text_.Table("weights" + own, network.point_weights / network.point_weights.sum());
  }
  std::vector<std::string> layers;
  for (Index l = 0; l < network.num_layers(); ++l)
    layers.push_back(WriteLayer(network.layers[l], posterior, l, own));
  const std::string layer_table = text_.Structs("layer", "layers" + own, layers);
  return text_.Structs(
             "network", "network" + own,
             {Entry(network.input_dim(), network.num_layers(), paths ? network.num_paths() : 0,
                    paths ? network.num_hidden_units() : 0, points, weights, layer_table)}) +
         "[0]";
}

std::string CExpertWriter::WriteLayer(const GpLayer& layer, const ConditionedModel& posterior,
                                      Index l, const std::string& network) {
  const std::string own = network + "_" + std::to_string(l);
  std::vector<std::string> functions;
  for (Index d = 0; d < layer.outputs(); ++d)
    functions.push_back(WriteFunction(layer, posterior.at(l, d), d, own));
  const std::string gps = text_.Structs("gp", "gps" + own, functions);
  const bool noisy = layer.noise_variance.size() > 0;
  const std::string noise = noisy ? text_.Table("noise" + own, layer.noise_variance) : "NULL";
  return Entry(layer.inputs(), layer.outputs(), layer.skip, gps, noise);
}

std::string CExpertWriter::WriteFunction(const GpLayer& layer, const Conditioned& q, Index d,
                                         const std::string& of_layer) {
  const SparseGp& gp = layer.gps[d];
  const Vector w = layer.mean_weights.size() > 0 ? Vector(layer.mean_weights.col(d)) : Vector();
  const std::string own = of_layer + "_" + std::to_string(d);
  const std::string first = layer.shared ? of_layer + "_0" : own;
  const std::string family = Family(*gp.kernel);
  const std::string moments = "@moments_" + CIdentifier(family);
  text_.Plain("\n");
  if (family == "linear_ard") {
    LinearMoments linear;
    linear.Prepare({gp.theta, gp.Z, q.a, q.S, w}, gp.theta);
    const std::string a = text_.Table("a" + own, linear.slope());
    const std::string S = text_.Table("S" + own, LowerTriangle(linear.Q()));
    return Entry(moments, 0, gp.input_dim(), 0, "NULL", "NULL", a, S, "NULL");
  }
  if (first == own) {
    text_.Table("theta" + own, gp.theta);
    text_.Table("z" + own, gp.Z);
  }
  const std::string a = text_.Table("a" + own, q.a);
  const std::string S = text_.Table("S" + own, LowerTriangle(q.S));
  const std::string mean = w.size() > 0 ? text_.Table("w" + own, w) : "NULL";
  return Entry(moments, gp.num_inducing(), gp.input_dim(), gp.kernel->Blocks(1)[0].size,
               "@theta" + first, "@z" + first, a, S, mean);
}

std::string CExpertWriter::WriteLine(const Ridge& ridge, const std::string& own) {
  const Index rank = ridge.directions.cols();
  const std::string weights = text_.Table("weights" + own, ridge.weights);
  const std::string intercept = text_.Table("intercept" + own, ridge.intercept);
  const std::string centre = text_.Table("centre" + own, ridge.centre);
  const std::string vectors = rank > 0 ? text_.Table("vectors" + own, ridge.directions) : "NULL";
  const std::string eigenvalues =
      rank > 0 ? text_.Table("eigenvalues" + own, ridge.eigenvalues) : "NULL";
  const std::string penalty = text_.Table("penalty" + own, ridge.penalty);
  const std::string noise = text_.Table("noise" + own, ridge.noise);
  return text_.Structs("line", "line" + own,
                       {Entry(ridge.inputs(), rank, CNumber(ridge.rows), weights, intercept, centre,
                              vectors, eigenvalues, penalty, noise)}) +
         "[0]";
}

std::string CExpertWriter::WriteLogistic(const Logistic& logistic, const std::string& own) {
  const std::string weights = text_.Table("weights" + own, logistic.weights);
  const std::string intercept = text_.Table("intercept" + own, logistic.intercept);
  return text_.Structs("logistic", "logistic" + own,
                       {Entry(logistic.inputs(), weights, intercept)}) +
         "[0]";
}

std::string CExpertWriter::WriteTrees(const TreesExpert& expert, const std::string& own) {
  std::vector<std::string> sums;
  for (const BoostedTrees& trees : expert.trees()) {
    const std::string of_target = own + "_" + std::to_string(sums.size());
    std::vector<std::string> nodes;
    for (const TreeNode& node : trees.nodes)
      nodes.push_back(
          Entry(node.column, node.right, static_cast<int>(node.missing), CNumber(node.value)));
    const std::string table = text_.Structs("node", "nodes" + of_target, nodes);
    const std::string roots = text_.Table(
        "roots" + of_target, std::vector<std::size_t>(trees.roots.begin(), trees.roots.end()));
    sums.push_back(Entry(trees.roots.size(), CNumber(trees.base), roots, table));
  }
  return text_.Structs("trees", "trees" + own, sums) + "[0]";
}

std::string CExpertWriter::SharedTable(const std::string& name, Matrix numbers) {
  for (const auto& [known, its_name] : shared_) {
    if (known.rows() == numbers.rows() && known.cols() == numbers.cols() && known == numbers)
      return its_name;
  }
  std::string own = text_.Table(name, numbers);
  shared_.emplace_back(std::move(numbers), own);
  return own;
}

std::string CExpertWriter::WriteNeighbours(const NeighbourExpert& expert, Index trends,
                                           const std::string& own) {
  const NeighbourRows& rows = expert.rows();
  const Index N = rows.x.rows();
  const Index columns = rows.x.cols() - trends;
  const bool uncertain = (rows.x.var.array() > 0).any();
  if ((rows.x.var.rightCols(trends).array() > 0).any())
    ThrowError("a C header takes the trends of neighbour GPs as certain, and here they are not");
  const std::string x = SharedTable("x" + own, rows.x.mean.leftCols(columns));
  const std::string trend =
      trends > 0 ? SharedTable("row_trends" + own, rows.x.mean.rightCols(trends)) : "NULL";
  const std::string x_var =
      uncertain ? SharedTable("x_var" + own, rows.x.var.leftCols(columns)) : "NULL";
  const std::string weights =
      rows.weights.size() > 0 ? SharedTable("row_weights" + own, rows.weights) : "NULL";
  std::vector<std::string> gps;
  for (Index t = 0; t < expert.num_outputs(); ++t) {
    const NeighbourGp& gp = expert.gps()[static_cast<std::size_t>(t)];
    const std::string of_target = own + "_" + std::to_string(t);
    const Vector inverse = gp.lengthscales.cwiseInverse();
    const std::string scales = text_.Table("inverse" + of_target, inverse);
    const std::string off =
        uncertain ? text_.Table("off" + of_target, (rows.x.var * inverse.cwiseAbs2()).cwiseSqrt())
                  : "NULL";
    const std::string y = text_.Table("y" + of_target, rows.y.col(t));
    gps.push_back(Entry(RoughnessOf(gp.correlation), CNumber(gp.variance), CNumber(gp.noise),
                        CNumber(rows.mean[t]), scales, off, y));
  }
  const std::string local = text_.Structs("local_gp", "local_gps" + own, gps);
  return text_.Structs("neighbours", "neighbours" + own,
                       {Entry(N, columns, trends, std::min(expert.neighbours(), N), x, trend, x_var,
                              weights, local)}) +
         "[0]";
}

}  // namespace fathom
