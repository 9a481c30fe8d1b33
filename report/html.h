// Writes an HTML page element by element. Tags are closed by the writer and all texts are escaped:
// whatever the names in a table hold, they cannot become markup.
#ifndef FATHOM_REPORT_HTML_H_
#define FATHOM_REPORT_HTML_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom::report {

struct HtmlTable {
  std::vector<std::string> header = {};
  std::vector<std::vector<std::string>> rows = {};
  // A letter per column: 'l' for words, 'r' for numbers, 'h' for a name that heads its row,
  // 'k' for one of ours, which is short.
  std::string columns = {};
};

class HtmlWriter {
 public:
  // `style` is CSS of our own, without '<' and '&'.
  HtmlWriter(std::string_view title, std::string_view style);

  void Open(const char* tag, std::string_view css_class = "");
  void Close();
  void Text(const char* tag, std::string_view text, std::string_view css_class = "");
  void Add(const HtmlTable& table);
  // A drawing as plot/ makes it, with a text that explains it.
  void AddFigure(std::string_view svg, std::string_view title, std::string_view caption);

  // Closes what is open and hands over the page.
  std::string Finish() &&;

 private:
  std::string out_;
  std::vector<const char*> open_;
};

}  // namespace fathom::report

#endif  // FATHOM_REPORT_HTML_H_
