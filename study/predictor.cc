#include "study/predictor.h"

#include <nlohmann/json.hpp>

namespace fathom {

nlohmann::json Predictor::Findings() const { return nullptr; }

}  // namespace fathom
