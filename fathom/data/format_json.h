// Formats of columns as JSON, for what one process writes and another reads. Used by readers only.
#ifndef FATHOM_DATA_FORMAT_JSON_H_
#define FATHOM_DATA_FORMAT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fathom/data/cell_format.h"

namespace fathom::internal {

inline nlohmann::json FormatsJson(const std::vector<CellFormat>& formats) {
  nlohmann::json json = nlohmann::json::array();
  for (const CellFormat& format : formats) {
    json.push_back({static_cast<int>(format.kind), static_cast<int>(format.decimal), format.affix,
                    format.day_first});
  }
  return json;
}

inline std::vector<CellFormat> FormatsFromJson(const nlohmann::json& json) {
  std::vector<CellFormat> formats;
  for (const nlohmann::json& one : json) {
    formats.push_back({.kind = static_cast<CellFormat::Kind>(one.at(0).get<int>()),
                       .decimal = static_cast<char>(one.at(1).get<int>()),
                       .affix = one.at(2).get<std::string>(),
                       .day_first = one.at(3).get<bool>()});
  }
  return formats;
}

}  // namespace fathom::internal

#endif  // FATHOM_DATA_FORMAT_JSON_H_
