// Everything that users hand to the program and that it cannot take, or takes with a note: the one
// list behind tests/bad_inputs_cli_test.cc and docs/errors.md.
#ifndef FATHOM_TESTS_SUPPORT_BAD_INPUTS_H_
#define FATHOM_TESTS_SUPPORT_BAD_INPUTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

enum class Stdout { kFile, kFull, kClosed };

struct BadInput {
  std::string what;               // for people
  std::string content;            // of bad.csv; empty: the command reads other files
  std::string command;            // without 'fathom', words separated by blanks
  std::vector<std::string> told;  // what the message must name: place, value, cure
  int code = 2;
  Stdout out = Stdout::kFile;
  long most_bytes = -1;  // that a file may have, as on a full disk; -1: any number
};

struct BadInputSection {
  std::string title, about;
  std::vector<BadInput> inputs;
};

inline std::string FitBad(const std::string& more = "") {
  return "fit bad.csv --target y -o new.fathom --steps 3 --inducing 5" +
         (more.empty() ? "" : " " + more);
}

inline std::string FitTrain(const std::string& more) {
  return "fit train.csv --target y -o new.fathom --steps 3 --inducing 5 " + more;
}

// `rows` lines made by `line(n)` under a header.
template <typename Line>
std::string Rows(const std::string& header, int rows, const Line& line) {
  std::string text = header + "\n";
  for (int n = 0; n < rows; ++n) text += std::string(line(n)) + "\n";
  return text;
}

// A table with so many input columns.
inline std::string WideTable(int columns, int rows) {
  std::string header;
  for (int c = 0; c < columns; ++c) header += "c" + std::to_string(c) + ",";
  return Rows(header + "y", rows, [&](int n) {
    std::string line;
    for (int c = 0; c < columns; ++c)
      line += std::to_string((7919L * n * n + 104729L * (c + 1) * (n + 1)) % 1000003) + ",";
    return line + std::to_string(n % 4);
  });
}

// An NPY file with this description in its header and no numbers.
inline std::string NpyHeader(std::string description) {
  description.append(118 - description.size(), ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + description;
}

inline BadInputSection BadFiles() {
  const auto sheet = [](std::string_view start) {
    return std::string(start) + "\x01 rest of the file";
  };
  return {"Files",
          "What is no table at all.",
          {{"there is no such file",
            "",
            "fit nowhere.csv --target y -o new.fathom",
            {"nowhere.csv", "No such file"}},
           {"a folder",
            "",
            "fit folder --target y -o new.fathom",
            {"folder", "directory", "name a file in it"}},
           {"an empty file", "", "fit empty.csv --target y -o new.fathom", {"empty.csv", "empty"}},
           {"nothing but blank lines", "\n \n\n", FitBad(), {"bad.csv", "empty"}},
           {"a header alone", "x,y\n", FitBad(), {"bad.csv", "no rows", "add rows"}},
           {"zero bytes in it",
            std::string("x,y\n1,\0\n", 8),
            FitBad(),
            {"bad.csv", "not a text file", "CSV"}},
           {"an Excel workbook", sheet("PK\x03\x04"), FitBad(), {"bad.csv", "Excel", "CSV"}},
           {"a Parquet file", sheet("PAR1"), FitBad(), {"bad.csv", "Parquet", "CSV"}},
           {"text in UTF-16", sheet("\xff\xfe"), FitBad(), {"bad.csv", "UTF-16", "UTF-8"}},
           {"packed by xz",
            sheet(std::string_view("\xfd"
                                   "7zXZ\0",
                                   6)),
            FitBad(),
            {"bad.csv", "compressed", "gzip"}},
           {"damaged gzip data", sheet("\x1f\x8b\x08"), FitBad(), {"bad.csv", "gzip", "damaged"}},
           {"lines that end as on old Macs",
            "x,y\r1,2\r3,4\r",
            FitBad(),
            {"bad.csv", "carriage return", "line feeds"}},
           {"an NPY file cut off",
            std::string("\x93NUMPY\x01\x00", 8),
            FitBad(),
            {"bad.csv", "cut off"}},
           {"an NPY array with three axes",
            NpyHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }"),
            FitBad(),
            {"bad.csv", "3 axes", "rows and columns"}},
           {"an NPY array of texts",
            NpyHeader("{'descr': '<U5', 'fortran_order': False, 'shape': (2, 2), }"),
            FitBad(),
            {"bad.csv", "'<U5'", "astype"}},
           {"an NPY file shorter than its header says",
            NpyHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 9), }"),
            FitBad("--target 1"),
            {"bad.csv", "1000000000", "damaged"}},
           {"a model where a table belongs",
            "",
            "predict model.fathom model.fathom",
            {"model.fathom", "not a text file"}}}};
}

inline BadInputSection BadCells() {
  return {
      "Cells",
      "The line is the line of the file, counted from 1.",
      {{"too few cells", "x,y\n1,2\n3\n", FitBad(), {"bad.csv", "line 3", "1 field", "2 columns"}},
       {"too many cells",
        "x,y\n1,2\n3,4,5\n",
        FitBad(),
        {"bad.csv", "line 3", "3 fields", "decimal point"}},
       {"a blank line between rows", "x,y\n1,2\n\n3,4\n", FitBad(), {"bad.csv", "line 3", "blank"}},
       {"a word among numbers",
        "x,y\n1,2\n2,3\nred,4\n",
        FitBad(),
        {"bad.csv", "line 4", "'x'", "'red'", "leave the cell empty"}},
       {"a word in the target",
        "x,y\n1,2\n2,high\n",
        FitBad(),
        {"bad.csv", "line 3", "'y'", "'high'"}},
       {"an infinite number",
        "x,y\n1,2\n2,inf\n",
        FitBad(),
        {"bad.csv", "line 3", "'y'", "'inf'", "finite"}},
       {"a number too large for a double",
        "x,y\n1,2\n1e999,3\n",
        FitBad(),
        {"bad.csv", "line 3", "'x'", "'1e999'", "finite"}},
       {"decimal commas",
        "x;y\n1,5;2\n2,5;3\n",
        FitBad(),
        {"bad.csv", "line 2", "'x'", "'1,5'", "decimal point"}},
       {"points between thousands",
        "x;y\n1.000.000;2\n2.000.000;3\n",
        FitBad(),
        {"bad.csv", "'x'", "1.000.000"}},
       {"a quote that is never closed",
        "x,y\n\"1,2\n2,3\n",
        FitBad(),
        {"bad.csv", "line 2", "'x'", "never closed"}},
       {"text behind a quote",
        "x,y\n\"1\"2,3\n",
        FitBad(),
        {"bad.csv", "line 2", "'x'", "closing quote"}},
       {"dates",
        "day,y\n2024-05-31,1\n2024-06-01,2\n",
        FitBad(),
        {"bad.csv", "'day'", "'2024-05-31'", "days since a start", "--ignore day"}},
       {"an id in every row",
        Rows("id,y", 30, [](int n) { return "k" + std::to_string(n) + "," + std::to_string(n); }),
        FitBad(),
        {"bad.csv", "'id'", "nearly every row", "--ignore id"}},
       {"more than 100 categories",
        Rows("town,y", 303,
             [](int n) { return "t" + std::to_string(n % 101) + "," + std::to_string(n); }),
        FitBad(),
        {"bad.csv", "'town'", "101", "--ignore town"}},
       {"a category that is not UTF-8",
        "c,y\nr\xf6t,1\nred,2\n",
        FitBad(),
        {"bad.csv", "'c'", "UTF-8"}}}};
}

inline BadInputSection BadColumns() {
  const std::string abc = "a,b,y\n1,2,3\n2,4,5\n";
  const std::string weighted = "x,w,y\n1,1,2\n2,";
  return {
      "Columns",
      "What the columns are for, in training.",
      {{"a column without a name", "x,,y\n1,2,3\n", FitBad(), {"bad.csv", "column 2", "no name"}},
       {"a name that is not UTF-8", "\xe4,y\n1,2\n", FitBad(), {"bad.csv", "column 1", "UTF-8"}},
       {"two columns with one name",
        "x,x,y\n1,2,3\n",
        FitBad(),
        {"bad.csv", "columns 1 and 2", "'x'", "name of its own"}},
       {"a target name that stands for two columns",
        "x,y,y\n1,2,3\n",
        FitBad(),
        {"bad.csv", "columns 2 and 3", "'y'"}},
       {"a target that is not there",
        "",
        "fit train.csv --target Y2 -o new.fathom",
        {"train.csv", "'Y2'", "did you mean 'y'?", "'colour'"}},
       {"a target number that is not there",
        "",
        "fit train.csv --target 9 -o new.fathom",
        {"train.csv", "'9'", "'colour'"}},
       {"a target named twice", "", FitTrain("--target y"), {"'y'", "twice", "name it once"}},
       {"a target that is ignored too", abc, FitBad("--ignore y"), {"bad.csv", "'y'"}},
       {"a target of texts where numbers are asked for",
        "",
        "fit train.csv --target colour -o new.fathom --task regress",
        {"train.csv", "'colour'"}},
       {"one class alone",
        "x,y\n1,yes\n2,yes\n",
        FitBad(),
        {"bad.csv", "'y'", "'yes'", "another class"}},
       {"classes for two targets",
        "x,y,z\n1,no,2\n2,yes,3\n",
        FitBad("--target z"),
        {"bad.csv", "'y'", "one target alone"}},
       {"numbers that are no classes",
        "",
        FitTrain("--task classify"),
        {"train.csv", "'y'", "nearly every row", "choose another target"}},
       {"a likelihood for another number of classes",
        "x,y\n1,a\n2,b\n3,c\n",
        FitBad("--likelihood probit"),
        {"bad.csv", "'probit'", "'y'", "softmax"}},
       {"counts that are none",
        "x,y\n1,2\n2,2.5\n",
        FitBad("--likelihood poisson"),
        {"bad.csv", "row 2", "'y'", "2.5", "whole number"}},
       {"no row with a target", "x,y\n1,\n2,NA\n", FitBad(), {"bad.csv", "'y'", "fill in"}},
       {"a column to ignore that is not there",
        abc,
        FitBad("--ignore z"),
        {"bad.csv", "'z'", "'b'"}},
       {"one column", "y\n1\n2\n", FitBad(), {"bad.csv", "'y'", "no input columns", "add columns"}},
       {"one row", "x,y\n1,2\n", FitBad(), {"bad.csv", "no two different values", "add rows"}},
       {"inputs that never vary",
        "a,b,y\n1,7,2\n1,7,3\n",
        FitBad(),
        {"bad.csv", "no two different values"}},
       {"a negative weight",
        weighted + "-1,3\n",
        FitBad("--weights w"),
        {"bad.csv", "row 2", "'w'", "negative"}},
       {"a missing weight",
        weighted + ",3\n",
        FitBad("--weights w"),
        {"bad.csv", "row 2", "'w'", "missing"}},
       {"a weight of text",
        weighted + "heavy,3\n",
        FitBad("--weights w"),
        {"bad.csv", "line 3", "'w'", "'heavy'"}},
       {"weights that are all 0",
        "x,w,y\n1,0,2\n2,0,3\n",
        FitBad("--weights w"),
        {"bad.csv", "'w'", "weight 0"}},
       {"weights that are the target too",
        abc,
        FitBad("--weights y"),
        {"bad.csv", "'y'", "one of the two"}},
       {"input-std of a column that is not there",
        abc,
        FitBad("--input-std z=1"),
        {"bad.csv", "'z'", "'a'"}},
       {"a negative input-std", abc, FitBad("--input-std a=-1"), {"'a'", "-1", "from 0 on"}},
       {"an input-std that is neither number nor file",
        abc,
        FitBad("--input-std a=wide"),
        {"--input-std", "'a=wide'"}},
       {"input-std of a category",
        "",
        FitTrain("--input-std colour=1"),
        {"'colour'", "categories"}},
       {"an input-std table with other rows",
        "a\n1\n2\n",
        FitTrain("--input-std bad.csv"),
        {"bad.csv", "2 rows", "40 rows", "train.csv"}},
       {"an input-std table with a negative cell",
        "a\n" + Rows("1", 38, [](int) { return "1"; }) + "-2\n",
        FitTrain("--input-std bad.csv"),
        {"bad.csv", "row 40", "'a'", "-2"}},
       {"folds that do not exist",
        "",
        "cv train.csv --target y --fold-column split",
        {"train.csv", "'split'", "'colour'"}},
       {"more folds than rows",
        "",
        "cv train.csv --target y --folds 50",
        {"train.csv", "rows (40)", "50"}}}};
}

inline BadInputSection TakenWithANote() {
  return {"What is taken, if need be with a note",
          "No errors: the work is done, and a line on standard error says what was left out, if "
          "anything.",
          {{"a constant column",
            "a,b,y\n1,7,2\n2,7,3\n3,7,4\n",
            FitBad(),
            {"bad.csv", "'b'", "same value"},
            0},
           {"a column that repeats another",
            "a,b,y\n1,1,2\n2,2,3\n3,3,4\n",
            FitBad(),
            {"bad.csv", "'b'", "repeats"},
            0},
           {"a column without values",
            "a,b,y\n1,,2\n2,NA,3\n3,,4\n",
            FitBad(),
            {"bad.csv", "'b'", "no cell"},
            0},
           {"a row without a target", "x,y\n1,2\n2,\n3,4\n", FitBad(), {"bad.csv", "1 row"}, 0},
           {"a row of weight 0",
            "x,w,y\n1,1,2\n2,0,3\n3,2,4\n",
            FitBad("--weights w"),
            {"bad.csv", "weight 0"},
            0},
           {"more columns than rows", WideTable(30, 5), FitBad(), {}, 0},
           {"10,000 columns", WideTable(10'000, 4), FitBad(), {}, 0},
           {"a category that the training has not seen",
            "a,b,colour\n1,2,mauve\n",
            "predict model.fathom bad.csv",
            {"bad.csv", "'colour'", "'mauve'", "missing"},
            0}}};
}

inline BadInputSection BadRowsForModel() {
  return {"Tables for a model",
          "What is wrong at prediction; the model was fitted to columns a, b and colour.",
          {{"a column is missing",
            "a,b,Color\n1,2,red\n",
            "predict model.fathom bad.csv",
            {"bad.csv", "'colour'", "did you mean 'Color'?"}},
           {"several columns are missing",
            "q,b\n1,2\n",
            "predict model.fathom bad.csv",
            {"bad.csv", "'a'", "'colour'", "'b'"}},
           {"texts where the model has learnt numbers",
            "a,b,colour\nlow,2,red\n",
            "predict model.fathom bad.csv",
            {"bad.csv", "line 2", "'a'", "'low'"}},
           {"no header",
            "1,2,3\n",
            "predict model.fathom bad.csv",
            {"bad.csv", "no header", "--no-header"}},
           {"another number of columns without names",
            "1,2\n",
            "predict model.fathom bad.csv --no-header",
            {"bad.csv", "2 columns", "3"}},
           {"no target to compare with",
            "a,b,colour\n1,2,red\n",
            "evaluate model.fathom bad.csv",
            {"bad.csv", "'y'", "fathom predict"}},
           {"no row with a target",
            "a,b,colour,y\n1,2,red,NA\n",
            "evaluate model.fathom bad.csv",
            {"bad.csv", "target"}},
           {"parameters so large that the prediction overflows",
            "a,b,colour\n1,2,red\n",
            "predict overflow.fathom bad.csv",
            {"bad.csv", "finite"},
            3}}};
}

inline BadInputSection BadOptions() {
  return {
      "Options",
      "",
      {{"no command", "", "", {"'fit', 'resume', 'predict'", "--help"}},
       {"a command that is not there",
        "",
        "fitt train.csv",
        {"'fitt'", "did you mean 'fit'?", "'resume'"}},
       {"an option that is not there",
        "",
        FitTrain("--stpes 3"),
        {"'--stpes'", "did you mean '--steps'?", "--help"}},
       {"an argument too many", "", FitTrain("more.csv"), {"'more.csv'", "too many"}},
       {"an option that is missing", "", "fit train.csv -o new.fathom", {"--target", "--help"}},
       {"alpha out of range", "", FitTrain("--alpha 2"), {"alpha", "between 0 and 1", "2"}},
       {"steps that are no whole number", "", FitTrain("--steps 1.5"), {"--steps", "1.5"}},
       {"negative steps", "", FitTrain("--steps -1"), {"steps", "-1"}},
       {"a width that is no number",
        "",
        FitTrain("--hidden 2,x"),
        {"--hidden", "'x'", "whole number"}},
       {"too many numbers of pseudo-points",
        "",
        FitTrain("--inducing 5,5,5,5"),
        {"inducing", "one number per layer"}},
       {"a kernel that is not known", "", FitTrain("--kernel rbf"), {"'rbf'", "se_ard"}},
       {"a likelihood that is not known",
        "",
        FitTrain("--likelihood normal"),
        {"'normal'", "gaussian"}},
       {"a task that is not known", "", FitTrain("--task rank"), {"--task", "rank", "classify"}},
       {"a learning rate that is not a number",
        "",
        FitTrain("--learning-rate nan"),
        {"learning rate", "nan"}},
       {"a negative seed", "", FitTrain("--seed -1"), {"--seed", "'-1'"}},
       {"too many threads", "", FitTrain("--threads 99999"), {"--threads", "99999"}},
       {"a time budget in words",
        "",
        FitTrain("--time-budget soon"),
        {"--time-budget", "'soon'", "90s"}},
       {"a separator of two signs",
        "",
        FitTrain("--separator ::"),
        {"--separator", "'::'", "'tab'"}},
       {"a quantile out of range",
        "",
        "predict model.fathom train.csv --quantiles 0.5,1",
        {"--quantiles", "'1'", "between 0 and 1"}},
       {"a quantile named twice",
        "",
        "predict model.fathom train.csv --quantiles 0.5,0.5",
        {"--quantiles", "'0.5'", "twice"}},
       {"a chunk of no rows", "", "predict model.fathom train.csv --chunk 0", {"--chunk", "0"}},
       {"one fold", "", "cv train.csv --target y --folds 1", {"--folds", "1"}},
       {"a format that is not there",
        "",
        "export model.fathom --format python",
        {"--format", "python", "json"}},
       {"a config file that is not there", "", FitTrain("--config no.toml"), {"no.toml"}},
       {"a config key that is not there",
        "steps = 3\nstpes = 4\n",
        FitTrain("--config bad.csv"),
        {"bad.csv", "line 2", "'stpes'", "did you mean 'steps'?"}},
       {"a config line without =",
        "steps 3\n",
        FitTrain("--config bad.csv"),
        {"bad.csv", "line 1", "'='"}},
       {"a config text without quotes",
        "kernel = se_ard\n",
        FitTrain("--config bad.csv"),
        {"bad.csv", "line 1", "quotes"}},
       {"a config section that is no command",
        "[fitt]\nsteps = 3\n",
        FitTrain("--config bad.csv"),
        {"bad.csv", "line 2", "'fitt'", "did you mean 'fit'?"}}}};
}

inline BadInputSection BadModels() {
  const auto predict = [](const std::string& model) {
    return "predict " + model + ".fathom train.csv";
  };
  return {
      "Model files",
      "Nothing in a model file runs, and nothing in it is believed before it is checked.",
      {{"there is no such file", "", predict("nowhere"), {"nowhere.fathom", "No such file"}},
       {"an empty file", "", predict("empty"), {"empty.fathom", "anew"}},
       {"a table where a model belongs",
        "",
        "predict train.csv train.csv",
        {"train.csv", "'a,b,colo'", "anew"}},
       {"random bytes", "", predict("random"), {"random.fathom", "anew"}},
       {"a header that claims 2^60 bytes", "", predict("huge"), {"huge.fathom"}},
       {"cut off in the header", "", predict("header_cut"), {"header_cut.fathom"}},
       {"cut off in the numbers", "", predict("cut"), {"cut.fathom"}},
       {"of a future version", "", predict("future"), {"future.fathom", "newer fathom", "upgrade"}},
       {"a parameter that is NaN", "", predict("nan"), {"nan.fathom", "finite"}},
       {"shapes that do not fit each other", "", predict("shapes"), {"shapes.fathom", "shape"}},
       {"arrays, but no model",
        "",
        predict("other"),
        {"other.fathom", "not those of a fathom model"}},
       {"a model without a checkpoint to resume",
        "",
        "resume model.fathom",
        {"model.fathom", "finished", "--steps"}}}};
}

inline BadInputSection BadOutputs() {
  return {"Where results go",
          "A file is written whole or not at all; what was there before stays until the new one is "
          "complete.",
          {{"a folder that is not there",
            "",
            "fit train.csv --target y -o no/such/new.fathom",
            {"no/such/new.fathom", "No such file"}},
           {"a file where a folder should be",
            "",
            "fit train.csv --target y -o train.csv/new.fathom",
            {"train.csv/new.fathom", "Not a directory"}},
           {"a folder", "", "fit train.csv --target y -o folder", {"folder", "name a file in it"}},
           {"a device", "", "fit train.csv --target y -o /dev/null", {"/dev/null", "regular file"}},
           {"a model to standard output",
            "",
            "fit train.csv --target y -o -",
            {"standard output", "name a file"}},
           {"a file that is read too",
            "",
            "fit train.csv --target y -o train.csv",
            {"train.csv", "overwritten", "another file"}},
           {"a full disk under a model",
            "",
            FitTrain("--hidden 1"),
            {"new.fathom"},
            2,
            Stdout::kFile,
            1000},
           {"a full disk under predictions",
            "",
            "predict model.fathom train.csv -o new.csv",
            {"new.csv"},
            2,
            Stdout::kFile,
            1000},
           {"a full standard output",
            "",
            "predict model.fathom train.csv",
            {"standard output", "No space left"},
            2,
            Stdout::kFull},
           {"a reader that has gone away",
            "",
            "predict model.fathom train.csv",
            {},
            0,
            Stdout::kClosed}}};
}

inline BadInputSection BadStudies() {
  const std::string bench = "bench bad.csv --data folder --out new";
  const std::string one = "datasets = [\"one\"]\n";
  return {
      "Studies and their results",
      "What `fathom bench` and `fathom tables` cannot take. All is checked before the first unit "
      "runs.",
      {{"a study that is not there",
        "",
        "bench ucii --data folder --out new",
        {"'ucii'", "did you mean 'uci'?", "'quick'", "name a file"}},
       {"no data", "", "bench uci --out new", {"--data", "'boston'"}},
       {"a data folder that is not there",
        "",
        "bench uci --data nowhere --out new",
        {"nowhere", "no such folder"}},
       {"a dataset that is not there",
        "",
        "bench uci --data folder --out new",
        {"folder", "'boston'", "data.csv", "test_indices.txt"}},
       {"a dataset that one must bring",
        "",
        "bench year --data folder --out new",
        {"'year'", "docs/experiments.md"}},
       {"a dataset that the study has not",
        "",
        "bench uci --data folder --out new --datasets bostn",
        {"'bostn'", "did you mean 'boston'?"}},
       {"a method that the study has not",
        "",
        "bench uci --data folder --out new --methods dpg",
        {"'dpg'", "it has 'dgp'"}},
       {"splits that are no numbers",
        "",
        "bench uci --data folder --out new --splits first",
        {"--splits", "'first'", "0-4"}},
       {"a study without datasets", "[gp]\n", bench, {"bad.csv", "datasets ="}},
       {"a study without methods", one, bench, {"bad.csv", "no method", "[gp]"}},
       {"a key that a study has not",
        "dataset = \"one\"\n[gp]\n",
        bench,
        {"bad.csv", "line 1", "'dataset'", "did you mean 'datasets'?"}},
       {"an option that a method has not",
        one + "[gp]\nstpes = 3\n",
        bench,
        {"bad.csv", "line 2", "'gp'", "'stpes'", "did you mean 'steps'?"}},
       {"a value that an option cannot have",
        one + "[gp]\nalpha = 7\n",
        bench,
        {"bad.csv", "line 2", "'gp'", "alpha", "7"}},
       {"a kind of method that is not known",
        one + "[gp]\nmethod = \"deep_gb\"\n",
        bench,
        {"bad.csv", "line 2", "'deep_gb'", "did you mean 'deep_gp'?"}},
       {"two methods with one name", one + "[gp]\n[gp]\n", bench, {"bad.csv", "line 3", "'gp'"}},
       {"a method on a dataset that the study has not",
        one + "[gp]\ndatasets = [\"two\"]\n",
        bench,
        {"bad.csv", "line 3", "'two'"}},
       {"a split of no rows",
        one + "[gp]\n",
        "bench bad.csv --data data --out new",
        {"data/one/test_indices.txt", "line 2", "no row to test on"}},
       {"results that are something else",
        "datasets = [\"mountain_car\"]\n[gp]\n",
        "bench bad.csv --out folder",
        {"folder/results.jsonl", "line 1", "no result", "another folder"}},
       {"tables of no results", "", "tables data", {"data", "no results", "fathom bench"}},
       {"tables of something else",
        "",
        "tables folder",
        {"folder/results.jsonl", "line 1", "no result"}}}};
}

inline std::vector<BadInputSection> ListBadInputs() {
  return {BadFiles(),   BadCells(),  BadColumns(), TakenWithANote(), BadRowsForModel(),
          BadOptions(), BadModels(), BadOutputs(), BadStudies()};
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_BAD_INPUTS_H_
