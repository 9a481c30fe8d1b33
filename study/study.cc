#include "study/study.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "fathom/base/error.h"
#include "fathom/base/option_text.h"
#include "fathom/base/text.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/toml.h"
#include "study/embedded.h"
#include "study/made_data.h"

namespace fathom {

namespace {

const std::vector<std::string> kStudyKeys = {"datasets", "splits", "budget",      "task",
                                             "ignore",   "bits",   "categorical", "source"};

template <typename Value>
bool Contains(const std::vector<Value>& values, const Value& value) {
  return std::count(values.begin(), values.end(), value) > 0;
}

std::string Joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

// Reads the description in two parts: what holds for the study, and a section for each method.
class StudyReader {
 public:
  StudyReader(std::string source, std::string name, std::string_view text,
              const std::vector<MethodKind>& kinds)
      : source_(std::move(source)), kinds_(kinds) {
    study_.name = std::move(name);
    std::vector<TomlSection> sections;
    const std::vector<TomlEntry> entries = ParseToml(source_, text, &sections);
    for (const TomlSection& section : sections) AddMethod(section);
    for (const TomlEntry& entry : entries) {
      if (entry.section.empty()) {
        ReadStudyEntry(entry);
      } else {
        ReadMethodEntry(entry);
      }
    }
  }

  Study Read() && {
    if (study_.datasets.empty())
      ThrowError(source_, ": names no datasets; add, for example, datasets = [\"boston\"]");
    if (drafts_.empty())
      ThrowError(source_, ": names no method; add a section such as [gp] with its options");
    for (const Draft& draft : drafts_) {
      StudyMethod method = Finish(draft);
      RequireOnce(draft, method);
      study_.methods.push_back(std::move(method));
    }
    return std::move(study_);
  }

 private:
  struct Draft {
    int line;
    std::string section;
    StudyMethod method;
    std::string kind = {};
    std::vector<MethodOption> options = {};
  };

  [[noreturn]] void Fail(int line, const std::string& what) const {
    ThrowError(source_, ": line ", line, ": ", what);
  }
  // Calls `read`, and adds the line to what it complains of.
  template <typename Read>
  auto InLine(int line, const Read& read) const {
    try {
      return read();
    } catch (const Error& error) {
      Fail(line, error.what());
    }
  }

  void ReadStudyEntry(const TomlEntry& entry) {
    const std::string text = Joined(entry.values);
    if (entry.key == "datasets") {
      study_.datasets = entry.values;
      for (const std::string& name : entry.values) {
        if (std::count(entry.values.begin(), entry.values.end(), name) > 1)
          Fail(entry.line, "dataset " + Quoted(name) + " is named twice");
      }
    } else if (entry.key == "splits") {
      splits_ = InLine(entry.line, [&] { return ParseSplitNumbers("splits", text); });
    } else if (entry.key == "budget") {
      study_.budget = InLine(entry.line, [&] { return ParseDuration("budget", text); });
    } else if (entry.key == "task") {
      if (text != "classify" && text != "regress")
        Fail(entry.line, "task: " + Quoted(text) + " is neither 'regress' nor 'classify'");
      study_.data.roles.task = text == "classify" ? Task::kClassify : Task::kRegress;
    } else if (entry.key == "ignore") {
      study_.data.roles.ignore = entry.values;
    } else if (entry.key == "categorical") {
      study_.data.roles.categorical = entry.values;
    } else if (entry.key == "bits") {
      study_.data.bits = entry.values;
    } else if (entry.key == "source") {
      study_.source = text;
    } else {
      Fail(entry.line, "a study has no " + Quoted(entry.key) + DidYouMean(entry.key, kStudyKeys) +
                           " before the first method stand " + QuotedList(kStudyKeys));
    }
  }

  void AddMethod(const TomlSection& section) {
    for (const Draft& other : drafts_) {
      if (other.section == section.name)
        Fail(section.line, "there are two methods called " + Quoted(section.name));
    }
    drafts_.push_back(
        {.line = section.line, .section = section.name, .method = {.name = section.name}});
  }

  void ReadMethodEntry(const TomlEntry& entry) {
    Draft& draft = *std::find_if(drafts_.begin(), drafts_.end(), [&](const Draft& other) {
      return other.section == entry.section;
    });
    const std::string text = Joined(entry.values);
    if (entry.key == "method") {
      draft.kind = text;
    } else if (entry.key == "as") {
      draft.method.name = text;
    } else if (entry.key == "datasets") {
      draft.method.datasets = entry.values;
      for (const std::string& name : entry.values) {
        if (!Contains(study_.datasets, name))
          Fail(entry.line, "the study has no dataset " + Quoted(name) +
                               DidYouMean(name, study_.datasets) + " add it to those on top");
      }
    } else if (entry.key == "splits") {
      draft.method.splits = InLine(entry.line, [&] { return ParseSplitNumbers("splits", text); });
    } else {
      draft.options.push_back({entry.key, text});
    }
  }

  // Sections that share a name by 'as' share no unit.
  void RequireOnce(const Draft& draft, const StudyMethod& method) const {
    for (const StudyMethod& other : study_.methods) {
      if (other.name != method.name) continue;
      for (const std::string& dataset : method.datasets) {
        const bool apart = std::none_of(other.splits.begin(), other.splits.end(), [&](Index split) {
          return Contains(method.splits, split);
        });
        const bool all = other.splits.empty() || method.splits.empty();
        if (Contains(other.datasets, dataset) && (all || !apart))
          Fail(draft.line, "two sections describe " + Quoted(method.name) + " on dataset " +
                               Quoted(dataset) + "; give each datasets of its own");
      }
    }
  }

  StudyMethod Finish(const Draft& draft) const {
    StudyMethod method = draft.method;
    if (method.datasets.empty()) method.datasets = study_.datasets;
    if (method.splits.empty()) method.splits = splits_;
    method.method = InLine(draft.line, [&]() -> std::shared_ptr<const Method> {
      try {
        return MakeMethod(kinds_, draft.kind, draft.options);
      } catch (const Error& error) {
        ThrowError("method ", Quoted(method.name), ": ", error.what());
      }
    });
    return method;
  }

  std::string source_;
  const std::vector<MethodKind>& kinds_;
  Study study_;
  std::vector<Index> splits_;
  std::vector<Draft> drafts_;
};

bool IsStudy(const EmbeddedFile& file) { return file.path.find('/') == std::string_view::npos; }

std::string NameOf(std::string_view path) { return std::filesystem::path(path).stem().string(); }

template <typename Item, typename Name>
void Keep(const std::vector<std::string>& wanted, const char* what, const Name& name_of,
          std::vector<Item>* items) {
  if (wanted.empty()) return;
  std::vector<std::string> names;
  for (const Item& item : *items) {
    // Sections that share a name by `as` are one method.
    if (!Contains(names, name_of(item))) names.push_back(name_of(item));
  }
  for (const std::string& name : wanted) {
    if (!Contains(names, name))
      ThrowError("the study has no ", what, " ", Quoted(name), DidYouMean(name, names), " it has ",
                 QuotedList(names, 50));
  }
  std::erase_if(*items, [&](const Item& item) { return !Contains(wanted, name_of(item)); });
}

}  // namespace

Study LoadStudy(const std::string& study, const std::vector<MethodKind>& kinds) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!IsStudy(file)) continue;
    names.push_back(NameOf(file.path));
    if (names.back() == study)
      return StudyReader("experiments/" + std::string(file.path), study, file.text, kinds).Read();
  }
  if (!std::filesystem::exists(study)) {
    ThrowError("there is no study ", Quoted(study), DidYouMean(study, names), " the studies are ",
               QuotedList(names), ", or name a file");
  }
  const FileBytes file(study);
  return StudyReader(study, NameOf(study), file.bytes(), kinds).Read();
}

SplitData LoadStudyData(const Study& study, const std::string& folder, const std::string& dataset) {
  if (folder.empty() && !CanMakeData(dataset))
    ThrowError("dataset ", Quoted(dataset), " is read from a folder, but none is named");
  try {
    return LoadSplitData(folder, dataset, study.data);
  } catch (const Error& error) {
    if (study.source.empty()) throw;
    ThrowError(error.what(), "; ", study.source);
  }
}

std::vector<Index> ParseSplitNumbers(const std::string& name, const std::string& text) {
  std::vector<Index> splits;
  for (const std::string& part : SplitLists({text})) {
    const std::size_t dash = part.find('-');
    Index first = -1;
    Index last = -1;
    const auto parse = [&](std::string_view number, Index* value) {
      const auto [end, problem] =
          std::from_chars(number.data(), number.data() + number.size(), *value);
      return problem == std::errc() && end == number.data() + number.size() && *value >= 0;
    };
    const std::string_view view = part;
    const bool is_good = parse(view.substr(0, dash), &first) &&
                         parse(dash == std::string::npos ? view : view.substr(dash + 1), &last);
    if (!is_good || last < first || last > 9999)
      ThrowError(name, ": ", Quoted(part), " names no splits; write 0-4 or 0,3");
    for (Index split = first; split <= last; ++split) splits.push_back(split);
  }
  std::sort(splits.begin(), splits.end());
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  return splits;
}

void Narrow(const std::vector<std::string>& datasets, const std::vector<std::string>& methods,
            const std::vector<Index>& splits, Study* study) {
  const auto itself = [](const std::string& name) { return name; };
  Keep(datasets, "dataset", itself, &study->datasets);
  Keep(
      methods, "method", [](const StudyMethod& method) { return method.name; }, &study->methods);
  // What is left of a method that runs on none of the splits would, with no splits, be all.
  std::erase_if(study->methods, [&](StudyMethod& method) {
    std::erase_if(method.datasets,
                  [&](const std::string& name) { return !Contains(study->datasets, name); });
    if (splits.empty()) return false;
    if (method.splits.empty()) method.splits = splits;
    std::erase_if(method.splits, [&](Index split) {
      return std::count(splits.begin(), splits.end(), split) == 0;
    });
    return method.splits.empty();
  });
}

}  // namespace fathom
