// The tables of experts in a C header, as c_source_experts.cc reads them.
#ifndef FATHOM_FITTED_C_EXPERTS_H_
#define FATHOM_FITTED_C_EXPERTS_H_

#include <string>
#include <utility>
#include <vector>

#include "fathom/fitted/c_text.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/linear_expert.h"
#include "fathom/fitted/logistic_expert.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/fitted/trees_expert.h"
#include "fathom/model/conditioned_model.h"

namespace fathom {

// Throws Error with the reason unless C code can predict as this expert does.
void CheckExpertForC(const Expert& expert);

// The kernels of the expert's functions, without the number of their components.
std::vector<std::string> KernelFamilies(const Expert& expert);

class CExpertWriter {
 public:
  explicit CExpertWriter(CText* text) : text_(*text) {}

  // Writes the tables of an expert, whose names end in `own`. Its last `trends` inputs are those
  // that come from other members. Returns what stands in its @member: its function and its table.
  std::string Write(const Expert& expert, Index trends, const std::string& own);

 private:
  std::string WriteNetwork(const DeepGp& network, const std::string& own);
  std::string WriteLayer(const GpLayer& layer, const ConditionedModel& posterior, Index l,
                         const std::string& network);
  std::string WriteFunction(const GpLayer& layer, const Conditioned& q, Index d,
                            const std::string& of_layer);
  std::string WriteLine(const Ridge& ridge, const std::string& own);
  std::string WriteLogistic(const Logistic& logistic, const std::string& own);
  std::string WriteNeighbours(const NeighbourExpert& expert, Index trends, const std::string& own);
  std::string WriteTrees(const TreesExpert& expert, const std::string& own);
  // A table that several neighbour GPs may have in common is written once.
  std::string SharedTable(const std::string& name, Matrix numbers);

  CText& text_;
  std::vector<std::pair<Matrix, std::string>> shared_;
};

}  // namespace fathom

#endif  // FATHOM_FITTED_C_EXPERTS_H_
