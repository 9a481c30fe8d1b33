#include "cli/data_options.h"

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/data/csv.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::json;

// A parser of the data options alone.
std::unique_ptr<CLI::App> DataParser(DataOptions* options) {
  auto app = std::make_unique<CLI::App>();
  app->set_help_flag("");
  AddDataOptions(app.get(), options);
  return app;
}

}  // namespace

void AddDataOptions(CLI::App* app, DataOptions* options) {
  const auto add_list = [app](const char* name, std::vector<std::string>* list, const char* text) {
    return app->add_option(name, *list, text)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->type_name("NAME");
  };
  add_list("--target", &options->targets,
           "Column to predict, by name or number; repeat it or give a,b for several")
      ->required();
  add_list("--ignore", &options->ignore, "Column to leave out; repeat it or give a,b");
}

Dataset ReadData(const DataOptions& options, int threads) {
  const Table table =
      ReadCsv(options.table, {.threads = threads, .ignore = SplitLists(options.ignore)});
  return MakeDataset(table, SplitLists(options.targets));
}

std::string DescribeData(const CLI::App& app, const std::string& table) {
  DataOptions unused;
  const std::unique_ptr<CLI::App> parser = DataParser(&unused);
  Json words = Json::array();
  for (const CLI::Option* known : parser->get_options()) {
    for (const std::string& value : app.get_option(known->get_name())->results())
      words.push_back(known->get_name() + "=" + value);
  }
  return Json{{"table", table}, {"options", words}}.dump(-1, ' ', false,
                                                         Json::error_handler_t::replace);
}

DataOptions DataFromDescription(const std::string& description) {
  DataOptions options;
  try {
    const Json json = Json::parse(description);
    json.at("table").get_to(options.table);
    auto words = json.at("options").get<std::vector<std::string>>();
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    DataParser(&options)->parse(words);
  } catch (const Json::exception&) {
    ThrowError("how its table was read is not known");
  } catch (const CLI::ParseError& error) {
    ThrowError("how its table was read is not known: ", error.what());
  }
  return options;
}

}  // namespace fathom::cli
