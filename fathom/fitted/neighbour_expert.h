// A neighbour GP as a member of a model: it holds the training rows.
#ifndef FATHOM_FITTED_NEIGHBOUR_EXPERT_H_
#define FATHOM_FITTED_NEIGHBOUR_EXPERT_H_

#include <memory>
#include <string>
#include <vector>

#include "fathom/fitted/expert.h"
#include "fathom/neighbour/neighbour_gp.h"

namespace fathom {

struct NeighbourRows {
  Moments x;       // [N, D]
  Matrix y;        // [N, targets], around `mean`; NaN where it is not known
  Vector mean;     // [targets]
  Vector weights;  // [N] or empty
};

class NeighbourExpert : public Expert {
 public:
  static constexpr const char* kKind = "neighbour_gp";

  // A GP for each target. A row is predicted from its m nearest rows.
  NeighbourExpert(std::vector<NeighbourGp> gps, NeighbourRows rows, Index m);

  const std::vector<NeighbourGp>& gps() const { return gps_; }
  const NeighbourRows& rows() const { return *rows_; }
  Index neighbours() const { return m_; }

  std::string Kind() const override { return kKind; }
  // "neighbour GP (matern12), 64 of 455 rows".
  std::string Describe() const override;
  Index num_inputs() const override { return rows_->x.cols(); }
  Index num_outputs() const override { return rows_->y.cols(); }
  const Likelihood& likelihood() const override { return *likelihood_; }
  Vector NoiseVariance() const override;
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                           Precision precision) const override;
  void Check() const override;
  void Write(nlohmann::json* description, const ArrayWriter& arrays) const override;

 private:
  std::vector<NeighbourGp> gps_;
  std::shared_ptr<const NeighbourRows> rows_;
  Index m_;
  std::shared_ptr<const Likelihood> likelihood_;
};

std::shared_ptr<const Expert> ReadNeighbourExpert(const nlohmann::json& description,
                                                  const ArrayReader& arrays);

}  // namespace fathom

#endif  // FATHOM_FITTED_NEIGHBOUR_EXPERT_H_
