#include "fathom/fitted/trees_expert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/fitted/description.h"
#include "fathom/trees/tree_rows.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

class TreesPredictor : public ExpertPredictor {
 public:
  TreesPredictor(const TreesExpert& expert, const ThreadPool& pool)
      : expert_(expert), pool_(pool), rows_(expert.trees().begin(), expert.trees().end()) {}

  Prediction Predict(const Moments& x, const PredictOptions& options) const override {
    Moments moments(x.rows(), expert_.num_outputs());
    const Vector noise = expert_.NoiseVariance();
    // Deep trees do not fit into the cache together: each serves many rows before the next.
    constexpr Index kChunk = 512;
    pool_.Run((x.rows() + kChunk - 1) / kChunk, [&](Index chunk) {
      const Index first = chunk * kChunk;
      const Index count = std::min(kChunk, x.rows() - first);
      std::array<double, kChunk> mean = {};
      for (Index t = 0; t < moments.cols(); ++t) {
        rows_[static_cast<std::size_t>(t)].Predict(
            x, first, std::span(mean).first(static_cast<std::size_t>(count)));
        moments.mean.col(t).segment(first, count) = Vector::Map(mean.data(), count);
        moments.var.col(t).segment(first, count).setConstant(options.latent ? 0 : noise[t]);
      }
    });
    return Prediction::Gaussian(std::move(moments));
  }
  // Trees have no doubt of their own that rows could share.
  std::vector<Matrix> Covariances(const Moments& x,
                                  const PredictOptions& /*options*/) const override {
    return {static_cast<std::size_t>(expert_.num_outputs()), Matrix::Zero(x.rows(), x.rows())};
  }

 private:
  const TreesExpert& expert_;
  const ThreadPool& pool_;
  std::vector<TreeRows> rows_;  // [targets]
};

// Numbers of an array as whole numbers in [-1, below).
std::vector<std::int32_t> Whole(const Vector& numbers, Index below) {
  std::vector<std::int32_t> whole;
  for (const double number : numbers) {
    if (!(number >= -1 && number < static_cast<double>(below) && number == std::floor(number)))
      ThrowError("a node of a tree leads nowhere");
    whole.push_back(static_cast<std::int32_t>(number));
  }
  return whole;
}

// A tree of its own between two places: every node is followed by its left side and then by its
// right one, so that every way ends, and no way is long.
void CheckTree(const std::vector<TreeNode>& nodes, std::int32_t begin, std::int32_t end,
               Index inputs) {
  constexpr std::size_t kDeepest = 64;
  // Where the right sides begin that are still to come, and how deep.
  std::vector<std::pair<std::int32_t, std::size_t>> to_come;
  std::size_t depth = 0;
  for (std::int32_t n = begin; n < end; ++n) {
    const TreeNode& node = nodes[static_cast<std::size_t>(n)];
    if (!std::isfinite(node.value) || node.column >= inputs || ++depth > kDeepest)
      ThrowError("a node of a tree is out of range");
    if (node.column >= 0) {
      to_come.emplace_back(node.right, depth);
      continue;
    }
    if (to_come.empty() ? n + 1 != end : n + 1 != to_come.back().first)
      ThrowError("the nodes of a tree are mixed up");
    if (to_come.empty()) return;
    depth = to_come.back().second;
    to_come.pop_back();
  }
  ThrowError("a tree has no end");
}

void CheckTrees(const BoostedTrees& trees, Index inputs) {
  const auto size = static_cast<std::int32_t>(trees.nodes.size());
  if (!std::isfinite(trees.base) || trees.roots.empty() || trees.roots.front() != 0)
    ThrowError("boosted trees do not begin with a root");
  for (std::size_t tree = 0; tree < trees.roots.size(); ++tree) {
    const std::int32_t end = tree + 1 < trees.roots.size() ? trees.roots[tree + 1] : size;
    if (trees.roots[tree] >= end || end > size)
      ThrowError("the roots of boosted trees are mixed up");
    CheckTree(trees.nodes, trees.roots[tree], end, inputs);
  }
}

// Whether trees have learnt where missing cells go.
bool KnowsMissing(const TreesExpert& expert) {
  for (const BoostedTrees& trees : expert.trees()) {
    for (const TreeNode& node : trees.nodes) {
      if (node.missing != MissingCells::kBothWays) return true;
    }
  }
  return false;
}

MissingCells ReadWay(double number) {
  for (const MissingCells way :
       {MissingCells::kBothWays, MissingCells::kLeft, MissingCells::kRight}) {
    if (number == static_cast<double>(way)) return way;
  }
  ThrowError("missing cells go nowhere in a tree");
}

std::string TargetPrefix(Index target) { return "targets." + std::to_string(target) + "."; }

}  // namespace

std::string TreesExpert::Describe() const {
  return std::to_string(trees_.front().roots.size()) + " boosted trees";
}

std::unique_ptr<ExpertPredictor> TreesExpert::Prepare(const ThreadPool& pool,
                                                      Precision /*precision*/) const {
  return std::make_unique<TreesPredictor>(*this, pool);
}

void TreesExpert::Check() const {
  if (!noise_.allFinite() || !(noise_.array() > 0).all())
    ThrowError("the noise of boosted trees is out of range");
  for (const BoostedTrees& trees : trees_) CheckTrees(trees, inputs_);
}

void TreesExpert::Write(Json* description, const ArrayWriter& arrays) const {
  const bool knows_missing = KnowsMissing(*this);
  description->update(
      {{"inputs", inputs_}, {"outputs", num_outputs()}, {"missing", knows_missing}});
  arrays.Write("noise", noise_);
  Vector bases(num_outputs());
  for (Index t = 0; t < num_outputs(); ++t) {
    const BoostedTrees& trees = trees_[static_cast<std::size_t>(t)];
    const auto size = static_cast<Index>(trees.nodes.size());
    Matrix nodes(size, knows_missing ? 4 : 3);
    for (Index n = 0; n < size; ++n) {
      const TreeNode& node = trees.nodes[static_cast<std::size_t>(n)];
      nodes.row(n).head(3) << node.column, node.right, node.value;
      if (knows_missing) nodes(n, 3) = static_cast<double>(node.missing);
    }
    Vector roots(static_cast<Index>(trees.roots.size()));
    std::copy(trees.roots.begin(), trees.roots.end(), roots.begin());
    (*description)["nodes"].push_back(size);
    (*description)["trees"].push_back(roots.size());
    const ArrayWriter own = arrays.Under(TargetPrefix(t));
    own.Write("nodes", nodes);
    own.Write("roots", roots);
    bases[t] = trees.base;
  }
  arrays.Write("base", bases);
}

std::shared_ptr<const Expert> ReadTreesExpert(const Json& description, const ArrayReader& arrays) {
  Index D = 0, T = 0;
  std::vector<Index> sizes, counts;
  ReadField(description, "inputs", &D);
  ReadField(description, "outputs", &T);
  ReadField(description, "nodes", &sizes);
  ReadField(description, "trees", &counts);
  bool knows_missing = false;  // as in files of before there was the field
  ReadOptionalField(description, "missing", &knows_missing);
  if (D < 1 || T < 1 || std::ssize(sizes) != T || std::ssize(counts) != T)
    ThrowError("boosted trees have no inputs or outputs");
  const Vector bases = arrays.TakeVector("base", T);
  std::vector<BoostedTrees> all;
  for (Index t = 0; t < T; ++t) {
    const auto place = static_cast<std::size_t>(t);
    const ArrayReader own = arrays.Under(TargetPrefix(t));
    const Matrix nodes = own.TakeMatrix("nodes", sizes[place], knows_missing ? 4 : 3);
    BoostedTrees trees;
    trees.base = bases[t];
    trees.roots = Whole(own.TakeVector("roots", counts[place]), sizes[place]);
    const std::vector<std::int32_t> columns = Whole(nodes.col(0), D);
    const std::vector<std::int32_t> rights = Whole(nodes.col(1), sizes[place]);
    for (Index n = 0; n < nodes.rows(); ++n) {
      const auto node = static_cast<std::size_t>(n);
      trees.nodes.push_back(
          {.column = columns[node],
           .right = rights[node],
           .value = nodes(n, 2),
           .missing = knows_missing ? ReadWay(nodes(n, 3)) : MissingCells::kBothWays});
    }
    all.push_back(std::move(trees));
  }
  return std::make_shared<TreesExpert>(std::move(all), arrays.TakeVector("noise", T), D);
}

}  // namespace fathom
