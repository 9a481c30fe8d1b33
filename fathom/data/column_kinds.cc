#include "fathom/data/column_kinds.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "fathom/base/text.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/read_columns.h"
#include "fathom/data/written_date.h"
#include "fathom/data/written_number.h"
#include "fathom/io/text_encoding.h"

namespace fathom::internal {
namespace {

using Kind = CellFormat::Kind;

constexpr std::size_t kSampleBytes = 1 << 20;
constexpr Index kSampleRows = 1000;

// Calls visit(fields) for the rows of the evidence that have as many cells as the file has columns;
// the others are reported when their turn comes.
template <typename Visitor>
void ForEachRow(const FileBytes& file, std::string_view body, Evidence evidence,
                const CsvLayout& layout, const Visitor& visit) {
  std::string_view part = body;
  if (evidence == Evidence::kFirstLines && body.size() > kSampleBytes) {
    const std::size_t last = body.substr(0, kSampleBytes).rfind('\n');
    part = body.substr(0, last == body.npos ? body.find('\n') : last);
  }
  const char* p = part.data();
  const char* const end = p + part.size();
  const char* passed = p;  // up to here the text was given back
  for (Index n = 0; p != end && (n < kSampleRows || evidence == Evidence::kEverything); ++n) {
    const std::vector<CsvField> row = FieldsOfRow(p, end, layout.separator);
    p = row.back().next;
    if (p != end) ++p;
    if (row.size() == layout.names.size()) visit(row);
    if (p - passed < static_cast<std::ptrdiff_t>(kSampleBytes)) continue;
    file.Release({passed, static_cast<std::size_t>(p - passed)});
    passed = p;
  }
}

// 1.234 or 1.234.567: points that may stand between thousands.
bool PointsMayBeGroups(std::string_view text) {
  WrittenNumber number;
  return ReadWrittenNumber(text, ',', &number) && number.affix.empty();
}

// What one pass over the cells tells about a column.
struct Balance {
  Index numbers = 0, words = 0;  // plain numbers and others
  Index commas = 0;              // numbers but for a comma in them
  bool points = false, grouped = true;
  bool odd() const { return words + commas > 0; }

  void See(std::string_view cell) {
    if (!IsNumber(cell)) {
      ++(IsNumberWithComma(cell) ? commas : words);
      return;
    }
    ++numbers;
    if (cell.find('.') == cell.npos || !grouped) return;
    points = true;
    grouped = PointsMayBeGroups(cell);
  }
};

// The formats in which the cells of a column can be read, out of a list that is tried on each.
class Candidates {
 public:
  // `expected` decides where several fit, `decimal` which of the two signs may be the decimal one;
  // 0: both.
  Candidates(const CellFormat& expected, char decimal)
      : expected_(expected), affix_(expected.affix), has_affix_(expected.kind == Kind::kNumber) {
    const bool any = expected.kind == Kind::kPlain;
    if (any || expected.kind == Kind::kNumber) {
      for (const char sign : {'.', ','}) {
        if (decimal == 0 || decimal == sign)
          formats_.push_back({{.kind = Kind::kNumber, .decimal = sign}});
      }
    }
    if (any || expected.kind == Kind::kTime) formats_.push_back({{.kind = Kind::kTime}});
    if (any || expected.kind == Kind::kDate) {
      for (const bool day_first : {false, true})
        formats_.push_back({{.kind = Kind::kDate, .day_first = day_first}});
    }
  }

  void See(std::string_view cell) {
    ++cells_;
    if (example_.empty() || (IsNumber(example_) && !IsNumber(cell))) example_ = cell;
    // A cell without a digit may be a word for a missing one; another is written differently.
    const bool word = cell.find_first_of("0123456789") == cell.npos;
    for (Tried& tried : formats_) {
      if (Fits(tried.format, cell)) {
        written_ = written_ || !IsNumber(cell);
      } else {
        ++(word ? tried.words : tried.misses);
      }
    }
  }

  // The sign before the fraction if the cells leave no choice, else 0.
  char Decimal() const {
    bool fits[2] = {false, false};
    for (const auto& [format, misses, words] : formats_) {
      if (format.kind == Kind::kNumber && misses == 0) fits[format.decimal == ',' ? 1 : 0] = true;
    }
    return fits[0] == fits[1] ? 0 : fits[0] ? '.' : ',';
  }

  // The format in which all cells can be read or, if there is none, most: so that a wrong
  // cell is told and not taken for the name of a category. Where several fit, `decimal` and `order`
  // choose. Dates come first: "1 May 2024" is not one of something called "May 2024".
  std::optional<CellFormat> Choose(char decimal, DateOrder order) const {
    const bool day_first =
        order == DateOrder::kDayFirst ||
        (order == DateOrder::kDetect &&
         (expected_.kind == Kind::kDate ? expected_.day_first : example_.find('.') < 3));
    const auto rank = [&](const CellFormat& format) {
      if (format.kind == Kind::kDate) return format.day_first == day_first ? 0 : 1;
      if (format.kind == Kind::kTime) return 1;
      return format.decimal == decimal ? 2 : 3;
    };
    const auto best =
        std::min_element(formats_.begin(), formats_.end(), [&](const Tried& a, const Tried& b) {
          return a.misses != b.misses ? a.misses < b.misses : rank(a.format) < rank(b.format);
        });
    // One of ten cells may be written differently, and half of them may be words, as among plain
    // numbers.
    if (best == formats_.end() || 10 * best->misses > cells_ || 2 * best->words > cells_) return {};
    const bool all = best->misses + best->words == 0;
    if (!all && !written_) return {};  // plain numbers, and words among them
    CellFormat format = best->format;
    if (format.kind == Kind::kNumber) format.affix = affix_;
    return format;
  }
  const CellFormat& expected() const { return expected_; }
  std::string_view example() const { return example_; }  // the first cell that is no plain number

 private:
  struct Tried {
    CellFormat format;
    Index misses = 0, words = 0;  // cells that cannot be read so
  };

  bool Fits(const CellFormat& format, std::string_view cell) {
    double ignored = 0;
    if (format.kind != Kind::kNumber) return ReadCell(format, cell, &ignored);
    WrittenNumber number;
    if (!ReadWrittenNumber(cell, format.decimal, &number)) return false;
    // The first number shows the unit. All others have it, too, unless a model knows it already.
    if (!has_affix_) affix_ = number.affix;
    has_affix_ = true;
    return number.affix == affix_ || (expected_.kind == Kind::kNumber && number.affix.empty());
  }

  CellFormat expected_;
  std::vector<Tried> formats_;
  std::string affix_;
  bool has_affix_;
  Index cells_ = 0;
  bool written_ = false;  // some cell is no plain number and yet can be read
  std::string_view example_;
};

// All that is found out about the columns of a file.
class KindFinder {
 public:
  KindFinder(const ReadOptions& options, const FileBytes& file, std::string_view body,
             Evidence evidence, CsvLayout* layout)
      : options_(options), file_(file), body_(body), evidence_(evidence), layout_(*layout) {
    const std::size_t columns = layout->names.size();
    layout->text.assign(columns, 0);
    layout->formats.assign(columns, {});
    layout->anything.assign(columns, 0);
    Balances();
    ApplyKinds(layout->source, layout->names, options, &layout->text);
    ApplyExpected();
  }

  void Find(std::vector<Note>* notes) {
    TryFormats();
    const char shown = FindDecimal();
    const char decimal = shown != 0 ? shown : layout_.separator == ',' ? '.' : ',';
    for (auto& [c, candidates] : candidates_) {
      const std::optional<CellFormat> format = candidates.Choose(decimal, options_.date_order);
      if (!format) continue;
      layout_.text[c] = 0;
      layout_.formats[c] = *format;
      if (*format != candidates.expected() && !IsNumber(candidates.example()))
        notes->push_back(Describe(c, candidates.example()));
    }
    if (shown != ',') return;
    for (std::size_t c = 0; c < balances_.size(); ++c) {
      const Balance& balance = balances_[c];
      if (layout_.destinations[c] < 0 || layout_.text[c] != 0 || balance.odd()) continue;
      if (!balance.points || !balance.grouped) continue;
      layout_.formats[c] = {.kind = Kind::kNumber, .decimal = ','};
      notes->push_back(Describe(c, FirstCellWithPoint(c)));
    }
  }

 private:
  void Balances() {
    balances_.resize(layout_.names.size());
    ForEachRow(file_, body_, evidence_, layout_, [&](const std::vector<CsvField>& row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (layout_.destinations[c] < 0 || row[c].problem != nullptr) continue;
        const std::string_view cell = row[c].text;
        if (!layout_.missing.InText(cell)) balances_[c].See(cell);
      }
    });
    for (std::size_t c = 0; c < balances_.size(); ++c)
      layout_.text[c] = balances_[c].words > balances_[c].numbers + balances_[c].commas ? 1 : 0;
  }

  // What a model expects of its columns, and which are declared to be strings.
  void ApplyExpected() {
    std::unordered_map<std::string_view, const ReadOptions::Column*> expected;
    for (const ReadOptions::Column& column : options_.only) expected.emplace(column.name, &column);
    declared_text_.assign(layout_.names.size(), 0);
    for (const std::string& name : options_.text)
      declared_text_[FindColumn(layout_.source, layout_.names, name)] = 1;
    for (std::size_t c = 0; c < layout_.names.size(); ++c) {
      if ((c == 0 && layout_.has_index) || options_.faulty_cells_are_missing)
        layout_.anything[c] = 1;
      const auto found = expected.find(layout_.names[c]);
      if (found == expected.end()) continue;
      declared_text_[c] = found->second->text ? 1 : 0;
      layout_.formats[c] = found->second->format;
      if (found->second->may_hold_anything) layout_.anything[c] = 1;
    }
  }

  // Columns of plain numbers have no candidates: most files have no others.
  void TryFormats() {
    for (std::size_t c = 0; c < balances_.size(); ++c) {
      const bool asked = layout_.destinations[c] >= 0 && !declared_text_[c];
      if (asked && (balances_[c].odd() || layout_.formats[c].kind != Kind::kPlain))
        candidates_.emplace_back(c, Candidates(layout_.formats[c], options_.decimal));
    }
    if (candidates_.empty()) return;
    ForEachRow(file_, body_, evidence_, layout_, [&](const std::vector<CsvField>& row) {
      for (auto& [c, candidates] : candidates_) {
        const std::string_view cell = row[c].text;
        if (row[c].problem == nullptr && !layout_.missing.InNumbers(cell)) candidates.See(cell);
      }
    });
    // Only words for missing cells stand among the numbers: the column is plain.
    std::erase_if(candidates_, [](const auto& entry) { return entry.second.example().empty(); });
  }

  // The sign before fractions, or 0 if the file leaves it open.
  char FindDecimal() const {
    if (options_.decimal != 0) return options_.decimal;
    Index commas = 0, points = 0;
    for (const auto& [c, candidates] : candidates_) {
      commas += candidates.Decimal() == ',' ? 1 : 0;
      points += candidates.Decimal() == '.' ? 1 : 0;
    }
    for (const ReadOptions::Column& column : options_.only)
      commas += commas + points == 0 && column.format.decimal == ',' ? 1 : 0;
    return commas > points ? ',' : points > 0 ? '.' : 0;
  }

  std::string_view FirstCellWithPoint(std::size_t c) const {
    std::string_view found;
    ForEachRow(file_, body_, evidence_, layout_, [&](const std::vector<CsvField>& row) {
      if (found.empty() && row[c].text.find('.') != std::string_view::npos) found = row[c].text;
    });
    return found;
  }

  Note Describe(std::size_t c, std::string_view example) const {
    const CellFormat& format = layout_.formats[c];
    double value = 0;
    ReadCell(format, example, &value);
    char digits[32];
    const std::string number(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
    return {"format", 1,
            layout_.source + ": column " + Quoted(layout_.names[c]) + ": read as " +
                DescribeFormat(format) + ": " + Quoted(ToUtf8(example)) + " is " +
                (format.kind == Kind::kDate ? DateText(value) : number)};
  }

  const ReadOptions& options_;
  const FileBytes& file_;
  std::string_view body_;
  Evidence evidence_;
  CsvLayout& layout_;
  std::vector<Balance> balances_;    // [names]
  std::vector<char> declared_text_;  // [names]
  std::vector<std::pair<std::size_t, Candidates>> candidates_;
};

}  // namespace

void FindKinds(const ReadOptions& options, const FileBytes& file, std::string_view body,
               Evidence evidence, CsvLayout* layout, std::vector<Note>* notes) {
  KindFinder(options, file, body, evidence, layout).Find(notes);
  layout->written.clear();
  for (const CellFormat& format : layout->formats)
    layout->written.push_back(format.kind == Kind::kPlain ? 0 : 1);
}

std::optional<CellFormat> FormatOfTexts(std::span<const std::string_view> cells) {
  Candidates candidates({}, 0);
  for (const std::string_view cell : cells) candidates.See(cell);
  if (candidates.example().empty() || IsNumber(candidates.example())) return {};
  const char shown = candidates.Decimal();
  const auto format = candidates.Choose(shown != 0 ? shown : '.', DateOrder::kDetect);
  double value = 0;
  const auto fits = [&](std::string_view cell) { return ReadCell(*format, cell, &value); };
  return format && std::all_of(cells.begin(), cells.end(), fits) ? format : std::nullopt;
}

}  // namespace fathom::internal
