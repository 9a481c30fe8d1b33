#include "fathom/trees/tree_rows.h"

#include <algorithm>
#include <limits>

namespace fathom {

TreeRows::TreeRows(const BoostedTrees& trees) : trees_(trees), nodes_(trees.nodes.size()) {
  std::vector<std::int32_t> depth(nodes_.size(), 0);
  for (std::size_t n = nodes_.size(); n-- > 0;) {  // those below a node stand behind it
    const TreeNode& node = trees.nodes[n];
    nodes_[n] = {.column = node.column, .right = node.right, .value = node.value};
    if (node.column < 0) {
      nodes_[n] = {.column = 0,
                   .right = static_cast<std::int32_t>(n),
                   .value = std::numeric_limits<double>::quiet_NaN()};
    } else {
      depth[n] = 1 + std::max(depth[n + 1], depth[static_cast<std::size_t>(node.right)]);
    }
  }
  for (const std::int32_t root : trees.roots)
    order_.push_back({root, depth[static_cast<std::size_t>(root)]});
}

void TreeRows::Predict(const Moments& x, Index first, std::span<double> mean) const {
  const auto count = static_cast<Index>(mean.size());
  PredictCertain(x.mean, first, mean);
  for (Index n = 0; n < count; ++n) {
    const auto row = x.mean.row(first + n);
    const auto var = x.var.row(first + n);
    if (!(var.array() == 0).all() || !row.allFinite())
      mean[n] = PredictTrees(trees_, row.data(), var.data());
  }
}

void TreeRows::PredictCertain(const Matrix& x, Index first, std::span<double> mean) const {
  constexpr Index kSide = 8;
  std::fill(mean.begin(), mean.end(), trees_.base);
  const auto count = static_cast<Index>(mean.size());
  const Step* const nodes = nodes_.data();
  for (const Tree& tree : order_) {
    for (Index begin = 0; begin < count; begin += kSide) {
      const double* rows[kSide];
      std::int32_t at[kSide];
      for (Index i = 0; i < kSide; ++i) {
        rows[i] = &x(first + std::min(begin + i, count - 1), 0);
        at[i] = tree.root;
      }
      for (std::int32_t step = 0; step < tree.depth; ++step) {
        for (Index i = 0; i < kSide; ++i) {
          const Step& node = nodes[at[i]];
          const std::int32_t left = rows[i][node.column] <= node.value ? -1 : 0;  // all bits
          at[i] = node.right ^ ((node.right ^ (at[i] + 1)) & left);
        }
      }
      for (Index i = 0; i < std::min(kSide, count - begin); ++i)
        mean[begin + i] += trees_.nodes[static_cast<std::size_t>(at[i])].value;
    }
  }
}

}  // namespace fathom
