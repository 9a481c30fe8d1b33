#include "fathom/data/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/base/threads.h"
#include "fathom/data/read_columns.h"
#include "fathom/data/text_column.h"

namespace fathom {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
static_assert(std::endian::native == std::endian::little);

struct NpyArray {
  std::string type;  // as NumPy writes it: '<f8'
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::string_view numbers;
};

// Reads the header, a Python dictionary of three known entries such as
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(const std::string& source, std::string_view text) : source_(source), text_(text) {}

  NpyArray Parse() {
    NpyArray array;
    bool descr = false, order = false, shape = false;
    Expect('{');
    while (!Accept('}')) {
      const std::string key = ParseText();
      Expect(':');
      if (key == "descr" && !std::exchange(descr, true)) {
        array.type = ParseText();
      } else if (key == "fortran_order" && !std::exchange(order, true)) {
        array.fortran_order = ParseTruth();
      } else if (key == "shape" && !std::exchange(shape, true)) {
        array.shape = ParseShape();
      } else {
        Fail();
      }
      if (!Accept(',') && Peek() != '}') Fail();
    }
    if (!descr || !order || !shape || Peek() != 0) Fail();
    return array;
  }

 private:
  [[noreturn]] void Fail() const {
    ThrowError(source_, ": its NPY header is not usable; save the array with numpy.save");
  }
  char Peek() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
    return text_.empty() ? 0 : text_[0];
  }
  bool Accept(char c) {
    if (Peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Fail();
  }
  bool AcceptWord(std::string_view word) {
    Peek();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::string ParseText() {
    // A structured array has a list here instead of a type's name.
    if (Peek() == '[') ThrowError(source_, ": is a structured array; save a plain one of numbers");
    Expect('\'');
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) Fail();
    std::string text(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return text;
  }
  bool ParseTruth() {
    if (AcceptWord("True")) return true;
    if (!AcceptWord("False")) Fail();
    return false;
  }
  std::vector<std::uint64_t> ParseShape() {
    std::vector<std::uint64_t> shape;
    Expect('(');
    while (!Accept(')')) {
      Peek();
      std::uint64_t size = 0;
      const auto [stop, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (problem != std::errc() || shape.size() == 32) Fail();
      text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
      shape.push_back(size);
      if (!Accept(',') && Peek() != ')') Fail();
    }
    return shape;
  }

  const std::string& source_;
  std::string_view text_;
};

NpyArray ReadHeader(const std::string& source, std::string_view bytes) {
  const auto cut_off = [&] { ThrowError(source, ": the NPY file is cut off; copy it again"); };
  if (bytes.size() < 10) cut_off();
  const auto major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3) ThrowError(source, ": NPY version ", int{major}, " is not known");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (bytes.size() < start) cut_off();
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  if (bytes.size() - start < length) cut_off();
  NpyArray array = HeaderParser(source, bytes.substr(start, length)).Parse();
  array.numbers = bytes.substr(start + length);
  return array;
}

template <typename Number>
double Convert(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  return static_cast<double>(number);
}

struct NumberType {
  std::string_view name;
  std::size_t size;
  double (*convert)(const char*);
};

const NumberType& FindType(const std::string& source, const std::string& name) {
  static constexpr NumberType kTypes[] = {
      {"<f8", 8, Convert<double>},        {"<f4", 4, Convert<float>},
      {"<i8", 8, Convert<std::int64_t>},  {"<i4", 4, Convert<std::int32_t>},
      {"<i2", 2, Convert<std::int16_t>},  {"|i1", 1, Convert<std::int8_t>},
      {"<u8", 8, Convert<std::uint64_t>}, {"<u4", 4, Convert<std::uint32_t>},
      {"<u2", 2, Convert<std::uint16_t>}, {"|u1", 1, Convert<std::uint8_t>},
      {"|b1", 1, Convert<std::uint8_t>},
  };
  for (const NumberType& type : kTypes) {
    if (type.name == name) return type;
  }
  ThrowError(source, ": holds numbers of type ", Quoted(name),
             "; save float64, float32 or integers of this machine's order, for example with",
             " array.astype('<f8')");
}

void CheckShape(const std::string& source, const NpyArray& array, std::size_t number_size) {
  if (array.shape.size() != 2) {
    ThrowError(source, ": the array has ", array.shape.size(),
               array.shape.size() == 1 ? " axis" : " axes", "; save one with two, rows and columns",
               array.shape.size() == 1 ? " (array.reshape(-1, 1))" : "");
  }
  const std::uint64_t rows = array.shape[0], columns = array.shape[1];
  if (rows == 0 || columns == 0) ThrowError(source, ": the array is empty; save one with rows");
  const std::uint64_t cells = array.numbers.size() / number_size;
  // Divided, not multiplied: the product of two sizes of a hostile header may overflow.
  const bool fits =
      array.numbers.size() % number_size == 0 && cells % columns == 0 && cells / columns == rows;
  if (!fits) {
    ThrowError(source, ": has ", array.numbers.size(), " bytes of numbers where its header, ", rows,
               " rows of ", columns, " columns, needs another count; the file is damaged");
  }
}

}  // namespace

bool IsNpy(std::string_view bytes) { return bytes.starts_with(kMagic); }

namespace {

// An array whose header was read: its columns, and how its numbers are found.
struct OpenedNpy {
  NpyArray array;
  NumberType type;
  Index rows = 0, columns = 0;           // of the array
  std::vector<Index> destinations = {};  // [columns], see KeptColumns
  std::vector<char> text = {};           // [columns]: whether its numbers are names
  Table table = {};                      // without rows
};

OpenedNpy OpenNpy(const FileBytes& file, const ReadOptions& options) {
  NpyArray array = ReadHeader(file.name(), file.bytes());
  const NumberType& type = FindType(file.name(), array.type);
  CheckShape(file.name(), array, type.size);
  OpenedNpy npy{.array = std::move(array), .type = type};
  npy.rows = static_cast<Index>(npy.array.shape[0]);
  npy.columns = static_cast<Index>(npy.array.shape[1]);
  npy.table.source = file.name();
  npy.table.unnamed_columns = npy.columns;
  const std::vector<std::string> names =
      internal::UnnamedColumns(file.name(), static_cast<std::size_t>(npy.columns), options);
  npy.destinations = internal::KeptColumns(file.name(), names, options);
  for (Index c = 0; c < npy.columns; ++c) {
    if (npy.destinations[c] >= 0) npy.table.columns.push_back(names[c]);
  }
  npy.text.assign(names.size(), 0);
  internal::ApplyKinds(file.name(), names, options, &npy.text);
  return npy;
}

constexpr Index kRowsAtATime = 4096;

// Reads rows first, first + 1, ... into the rows of `to`.
void ReadRows(const OpenedNpy& npy, Index first, Eigen::Ref<Matrix> to) {
  const Index row_step = npy.array.fortran_order ? 1 : npy.columns;
  const Index column_step = npy.array.fortran_order ? npy.rows : 1;
  for (Index i = 0; i < to.rows(); ++i) {
    const Index n = first + i;
    for (Index c = 0; c < npy.columns; ++c) {
      if (npy.destinations[c] < 0) continue;
      const Index place = n * row_step + c * column_step;
      const double value = npy.type.convert(npy.array.numbers.data() +
                                            static_cast<std::size_t>(place) * npy.type.size);
      if (std::isinf(value)) {
        ThrowError(npy.table.source, ": row ", n + 1, ", column ", c + 1,
                   ": the number is infinite; use NaN if its value is unknown");
      }
      to(i, npy.destinations[c]) = value;
    }
  }
}

}  // namespace

Table ReadNpy(const FileBytes& file, const ReadOptions& options) {
  OpenedNpy npy = OpenNpy(file, options);
  Table table = std::move(npy.table);
  npy.table.source = table.source;
  table.values.resize(npy.rows, static_cast<Index>(table.columns.size()));
  const Index jobs = (npy.rows + kRowsAtATime - 1) / kRowsAtATime;
  const ThreadPool pool(jobs == 1 ? 1 : options.threads);
  pool.Run(jobs, [&](Index job) {
    const Index first = job * kRowsAtATime;
    ReadRows(npy, first, table.values.middleRows(first, std::min(kRowsAtATime, npy.rows - first)));
  });
  for (Index c = 0; c < npy.columns; ++c) {
    if (npy.destinations[c] >= 0 && npy.text[c]) NumbersToTexts(npy.destinations[c], &table);
  }
  return table;
}

Table StreamNpy(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                std::vector<LevelPlaces>* places) {
  const OpenedNpy npy = OpenNpy(file, options);
  const Index columns = std::ssize(npy.table.columns);
  if (npy.array.fortran_order || std::count(npy.text.begin(), npy.text.end(), 1) > 0) {
    ThrowError(file.name(), ": an array in the order of Fortran, or with numbers that are names of",
               " categories, must fit into memory; save numpy.ascontiguousarray(array), or a CSV");
  }
  places->assign(1, LevelPlaces(static_cast<std::size_t>(columns)));
  sink->Start(columns);
  const std::size_t row_bytes = static_cast<std::size_t>(npy.columns) * npy.type.size;
  Matrix rows;
  for (Index first = 0; first < npy.rows; first += kRowsAtATime) {
    rows.resize(std::min(kRowsAtATime, npy.rows - first), columns);
    ReadRows(npy, first, rows);
    sink->Add(rows);
    file.Release(npy.array.numbers.substr(static_cast<std::size_t>(first) * row_bytes,
                                          static_cast<std::size_t>(rows.rows()) * row_bytes));
  }
  return npy.table;
}

}  // namespace fathom
