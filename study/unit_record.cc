#include "study/unit_record.h"

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/io/json_text.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

// Moves entries from an object into fields. What is left at the end is known to nobody.
class Reader {
 public:
  explicit Reader(Json object) : object_(std::move(object)), good_(object_.is_object()) {}

  // False once an entry was of another type than its field.
  bool good() const { return good_; }
  Json Rest() && { return object_.empty() ? Json() : std::move(object_); }

  void Take(const char* name, std::string* value) {
    const Json entry = Remove(name);
    if (Demand(entry, entry.is_string())) *value = entry.get<std::string>();
  }
  void Take(const char* name, Json* value) { *value = Remove(name); }
  template <typename Number>
  void Take(const char* name, std::optional<Number>* value) {
    const Json entry = Remove(name);
    if (Demand(entry, entry.is_number())) *value = entry.get<Number>();
  }
  void Take(const char* name, std::optional<std::string>* value) {
    const Json entry = Remove(name);
    if (Demand(entry, entry.is_string())) *value = entry.get<std::string>();
  }
  void Take(const char* name, std::optional<UnitScores>* value) {
    Json entry = Remove(name);
    if (!Demand(entry, entry.is_object())) return;
    UnitScores scores;
    Reader reader(std::move(entry));
    reader.Take("rows", &scores.rows);
    for (const auto& [score, number] : reader.object_.items()) {
      good_ = good_ && number.is_number();
      if (good_) scores.values.emplace_back(score, number);
    }
    good_ = good_ && reader.good_;
    *value = std::move(scores);
  }

 private:
  // Null if there is none.
  Json Remove(const char* name) {
    const auto found = good_ ? object_.find(name) : object_.end();
    if (!good_ || found == object_.end()) return {};
    Json entry = std::move(*found);
    good_ = !entry.is_null();  // a record has no nulls
    object_.erase(found);
    return entry;
  }
  // Whether there is an entry, of the right type.
  bool Demand(const Json& entry, bool has_type) {
    if (entry.is_null()) return false;
    good_ = good_ && has_type;
    return has_type;
  }

  Json object_;
  bool good_;
};

template <typename Value>
void Put(const char* name, const std::optional<Value>& value, Json* json) {
  if (value) (*json)[name] = *value;
}
void Put(const char* name, const std::string& value, Json* json) {
  if (!value.empty()) (*json)[name] = value;
}
void Put(const char* name, const std::optional<UnitScores>& scores, Json* json) {
  if (!scores) return;
  Json object = Json::object();
  Put("rows", scores->rows, &object);
  for (const auto& [score, value] : scores->values) object[score] = value;
  (*json)[name] = std::move(object);
}

void PutOutcome(const UnitOutcome& outcome, Json* json) {
  Put("failure", outcome.failure, json);
  Put("scores", outcome.scores, json);
  Put("unseen", outcome.unseen, json);
  Put("train_rows", outcome.train_rows, json);
  Put("test_rows", outcome.test_rows, json);
  Put("inputs", outcome.inputs, json);
  Put("fit_seconds", outcome.fit_seconds, json);
  if (!outcome.findings.is_null()) (*json)["findings"] = outcome.findings;
}

UnitOutcome TakeOutcome(Reader* reader) {
  UnitOutcome outcome;
  reader->Take("failure", &outcome.failure);
  reader->Take("scores", &outcome.scores);
  reader->Take("unseen", &outcome.unseen);
  reader->Take("train_rows", &outcome.train_rows);
  reader->Take("test_rows", &outcome.test_rows);
  reader->Take("inputs", &outcome.inputs);
  reader->Take("fit_seconds", &outcome.fit_seconds);
  reader->Take("findings", &outcome.findings);
  return outcome;
}

std::string Dump(const Json& json) { return JsonText(json, -1, NotUtf8::kReplace); }

// A record has the seed twice: among the settings, and by itself for those who look for it.
bool HasSeed(const Json& settings) { return settings.is_object() && settings.contains("seed"); }

}  // namespace

double UnitScores::Get(const ScoreKind& kind) const {
  for (const auto& [name, value] : values) {
    if (kind.IsCalled(name)) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool UnitScores::Has(const ScoreKind& kind) const {
  for (const auto& [name, value] : values) {
    if (kind.IsCalled(name)) return true;
  }
  return false;
}

std::string WriteRecord(const UnitRecord& record) {
  Json json;
  Put("study", record.study, &json);
  json["dataset"] = record.dataset;
  json["split"] = record.split;
  json["method"] = record.method;
  PutOutcome(record.outcome, &json);
  if (!record.settings.is_null()) json["settings"] = record.settings;
  if (HasSeed(record.settings)) json["seed"] = record.settings["seed"];
  Put("cpu_seconds", record.cpu_seconds, &json);
  Put("wall_seconds", record.wall_seconds, &json);
  Put("peak_memory", record.peak_memory, &json);
  Put("commit", record.commit, &json);
  Put("machine", record.machine, &json);
  Put("date", record.date, &json);
  if (record.others.is_object()) json.update(record.others);
  return Dump(json);
}

std::optional<UnitRecord> ReadRecord(std::string_view line) {
  Json json = TryParseOrderedJson(line);
  if (!json.is_object()) return {};
  for (const char* name : {"dataset", "method"}) {
    if (!json.contains(name) || !json[name].is_string()) return {};
  }
  if (!json.contains("split") || !json["split"].is_number_unsigned()) return {};
  UnitRecord record;
  record.split = json["split"].get<Index>();
  json.erase("split");
  Reader reader(std::move(json));
  reader.Take("study", &record.study);
  reader.Take("dataset", &record.dataset);
  reader.Take("method", &record.method);
  record.outcome = TakeOutcome(&reader);
  reader.Take("settings", &record.settings);
  if (HasSeed(record.settings)) {
    Json again;
    reader.Take("seed", &again);
  }
  reader.Take("cpu_seconds", &record.cpu_seconds);
  reader.Take("wall_seconds", &record.wall_seconds);
  reader.Take("peak_memory", &record.peak_memory);
  reader.Take("commit", &record.commit);
  reader.Take("machine", &record.machine);
  reader.Take("date", &record.date);
  if (!reader.good() || (!record.outcome.scores && !record.outcome.failure)) return {};
  record.others = std::move(reader).Rest();
  return record;
}

std::string WriteOutcome(const UnitOutcome& outcome) {
  Json json = Json::object();
  PutOutcome(outcome, &json);
  return Dump(json);
}

std::optional<UnitOutcome> ReadOutcome(std::string_view text) {
  Reader reader(TryParseOrderedJson(text));
  UnitOutcome outcome = TakeOutcome(&reader);
  if (!reader.good()) return {};
  return outcome;
}

nlohmann::json SettingsOf(const UnitRecord& record) {
  return record.settings.is_null() ? nlohmann::json::object() : nlohmann::json(record.settings);
}

std::string FirstDifference(const nlohmann::json& settings, const nlohmann::json& others) {
  const nlohmann::json difference = nlohmann::json::diff(settings, others);
  if (difference.empty()) return "";
  const auto path = difference[0]["path"].get<std::string>();
  return path.empty() ? "all of them" : path.substr(1);
}

}  // namespace fathom
