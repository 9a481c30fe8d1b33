#include "report/html.h"

#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "plot/svg.h"

namespace fathom::report {

namespace {

std::string EscapeHtml(std::string_view text) { return EscapeXml(Visible(text)); }

}  // namespace

HtmlWriter::HtmlWriter(std::string_view title, std::string_view style) {
  out_ =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"/>\n";
  open_.push_back("html");
  Text("title", title);
  out_ += SvgText("<style>", style, "</style>\n</head>\n");
  Open("body");
}

void HtmlWriter::Open(const char* tag, std::string_view css_class) {
  out_ += SvgText("<", tag);
  if (!css_class.empty()) out_ += SvgText(" class=\"", EscapeXml(css_class), "\"");
  out_ += ">\n";
  open_.push_back(tag);
}

void HtmlWriter::Close() {
  FATHOM_CHECK(!open_.empty());
  out_ += SvgText("</", open_.back(), ">\n");
  open_.pop_back();
}

void HtmlWriter::Text(const char* tag, std::string_view text, std::string_view css_class) {
  out_ += SvgText("<", tag);
  if (!css_class.empty()) out_ += SvgText(" class=\"", EscapeXml(css_class), "\"");
  out_ += SvgText(">", EscapeHtml(text), "</", tag, ">\n");
}

void HtmlWriter::Add(const HtmlTable& table) {
  const auto kind = [&](std::size_t column) {
    return std::string_view{table.columns}.substr(column, 1);
  };
  Open("table");
  if (!table.header.empty()) {
    Open("thead");
    Open("tr");
    for (std::size_t c = 0; c < table.header.size(); ++c) Text("th", table.header[c], kind(c));
    Close();
    Close();
  }
  Open("tbody");
  for (const std::vector<std::string>& row : table.rows) {
    Open("tr");
    for (std::size_t c = 0; c < row.size(); ++c)
      Text(kind(c) == "h" || kind(c) == "k" ? "th" : "td", row[c], kind(c));
    Close();
  }
  Close();
  Close();
}

void HtmlWriter::AddFigure(std::string_view svg, std::string_view title, std::string_view caption) {
  svg.remove_prefix(svg.find("<svg"));  // the declaration of a document of its own
  Open("figure");
  Text("h3", title);
  out_ += svg;
  Text("figcaption", caption);
  Close();
}

std::string HtmlWriter::Finish() && {
  while (!open_.empty()) Close();
  return std::move(out_);
}

}  // namespace fathom::report
