#include "cli/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/toml.h"

namespace fathom::cli {

namespace {

constexpr const char* kConfig = "--config";

// CLI11 hands its arguments around last one first.
void Parse(std::vector<std::string> arguments, CLI::App* program) {
  std::reverse(arguments.begin(), arguments.end());
  program->parse(std::move(arguments));
}

// Parses what the user gave and requires nothing; the counts then say which settings may be added.
CLI::App* ParseLeniently(const std::vector<std::string>& arguments, CLI::App* program) {
  std::vector<CLI::Option*> required;
  for (CLI::App* command : program->get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_required()) required.push_back(option->required(false));
    }
  }
  const auto restore = [&] {
    for (CLI::Option* option : required) option->required();
  };
  try {
    Parse(arguments, program);
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return program->get_subcommands().front();
}

CLI::Option* FindOption(CLI::App* app, const std::string& key) {
  for (CLI::Option* option : app->get_options()) {
    if (SettingName(*option) == key) return option;
  }
  return nullptr;
}

std::vector<std::string> SettingNames(CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    if (!SettingName(*option).empty()) names.push_back(SettingName(*option));
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<TomlEntry> ReadConfig(const std::string& path, CLI::App* program) {
  const FileBytes bytes(path);
  std::vector<TomlEntry> entries = ParseToml(path, bytes.bytes());
  for (const TomlEntry& entry : entries) {
    const auto is_section = [&](const CLI::App* command) {
      return command->get_name() == entry.section;
    };
    const std::vector<CLI::App*> commands = program->get_subcommands({});
    if (!entry.section.empty() && std::none_of(commands.begin(), commands.end(), is_section))
      ThrowError(path, ": line ", entry.line, ": there is no command ", Quoted(entry.section),
                 DidYouMean(entry.section, CommandNames(*program)), " name one in the brackets");
  }
  return entries;
}

}  // namespace

std::string SettingName(const CLI::Option& option) {
  std::string name = option.get_positional() ? option.get_name(true) : "";
  if (!option.get_positional() && !option.get_lnames().empty()) name = option.get_lnames().front();
  name = name.substr(0, name.find('.'));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "help" || name == "config" ? "" : name;
}

namespace {

// CLI11's own search is noexcept but allocates: it would abort where memory is short.
CLI::Option* FindConfig(CLI::App* app) {
  for (CLI::Option* option : app->get_options()) {
    if (option->check_name(kConfig)) return option;
  }
  return nullptr;
}

}  // namespace

void AddConfig(CLI::App* app) {
  if (FindConfig(app) != nullptr) return;
  app->add_option(kConfig,
                  "Take options from this TOML file: 'steps = 500' is --steps 500; those on "
                  "the command line win")
      ->type_name("FILE");
}

void ParseWithConfig(const std::vector<std::string>& arguments, CLI::App* program) {
  const bool has_config =
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& word) {
        return word == kConfig || word.starts_with(std::string(kConfig) + "=");
      });
  if (!has_config) return Parse(arguments, program);

  CLI::App* app = ParseLeniently(arguments, program);
  const CLI::Option* config = FindConfig(app);
  const bool names_file =
      config != nullptr && config->count() > 0 && config->get_items_expected() > 0;
  if (!names_file) return Parse(arguments, program);
  const auto path = config->as<std::string>();
  std::vector<std::string> all = arguments;
  for (const TomlEntry& entry : ReadConfig(path, program)) {
    if (!entry.section.empty() && entry.section != app->get_name()) continue;
    const CLI::Option* option = FindOption(app, entry.key);
    if (option == nullptr) {
      ThrowError(path, ": line ", entry.line, ": 'fathom ", app->get_name(), "' has no option ",
                 Quoted(entry.key), DidYouMean(entry.key, SettingNames(app)), " its options are ",
                 QuotedList(SettingNames(app), 50));
    }
    if (option->count() > 0) continue;
    for (const std::string& value : entry.values) {
      if (option->get_positional()) {
        all.push_back(value);
      } else {
        all.push_back("--" + option->get_lnames().front() + "=" + value);
      }
    }
  }
  Parse(all, program);
}

std::map<std::string, std::vector<std::string>> Settings(const CLI::App& app) {
  std::map<std::string, std::vector<std::string>> settings;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = SettingName(*option);
    // Options that do not change the model are not kept in it.
    constexpr std::string_view kOfThisRun[] = {"json", "threads", "memory", "packed"};
    if (name.empty() || std::ranges::count(kOfThisRun, name) > 0) continue;
    std::vector<std::string> values = option->reduced_results();
    if (values.empty() && !option->get_default_str().empty()) values = {option->get_default_str()};
    if (!values.empty()) settings[name] = std::move(values);
  }
  return settings;
}

}  // namespace fathom::cli
