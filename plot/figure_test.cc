#include "plot/figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "plot/color_map.h"
#include "plot/figure_layout.h"
#include "tests/support/xml_check.h"

namespace fathom {
namespace {

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string MessageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Vector Three(double a, double b, double c) { return (Vector(3) << a, b, c).finished(); }

// All kinds of layers, with text that needs escaping.
Figure Mixed() {
  Figure figure({.title = "a < b & \"c\""});
  figure.AddHeatMap(0, 0,
                    {.title = "heat & more", .x_label = "x", .y_label = "y", .color_scale = "v"},
                    {.x = {0, 1}, .y = {0, 2}, .values = Matrix::Random(4, 5)});
  figure.AddScatter(0, 0, {},
                    {.x = Three(0, 0.5, 1), .y = Three(0, 1, 2), .value = Three(-9, 0, 9)});
  figure.AddBand(1, 1, {.title = "band <1>"},
                 {.x = Three(0, 1, 2),
                  .mean = Three(1, 2, 3),
                  .low = Three(0, 1, 2),
                  .high = Three(2, 3, 4),
                  .label = "mean & 95 %"});
  figure.AddCurve(1, 1, {}, {.x = Three(0, 1, 2), .y = Three(1, 1, 1), .label = "truth"});
  figure.AddScatter(1, 1, {}, {.x = Three(0, 1, 2), .y = Three(1, 1, 1), .label = "data"});
  return figure;
}

TEST(Figure, IsWellFormedWithAllItsTexts) {
  const std::string svg = Mixed().Svg();
  EXPECT_EQ(WhatIsWrongWithXml(svg), "");
  for (const char* text : {"<title>a &lt; b &amp; &quot;c&quot;</title>", ">heat &amp; more<",
                           ">band &lt;1&gt;<", ">mean &amp; 95 %<", ">truth<", ">data<"}) {
    EXPECT_EQ(Count(svg, text), 1u) << text;
  }
}

TEST(Figure, SameCallsSameBytes) {
  Figure a, b;
  for (Figure* figure : {&a, &b}) {
    figure->AddScatter(0, 0, {.title = "t"}, {.x = Three(1, 2, 3), .y = Three(1, 2, 3)});
  }
  EXPECT_EQ(a.Svg(), b.Svg());
}

TEST(Figure, HeatMapPaintsEachCellOnceWithRowsGoingUp) {
  Figure figure;
  figure.AddHeatMap(
      0, 0, {},
      {.x = {0, 1}, .y = {0, 1}, .values = (Matrix(2, 3) << 0, 0, 1, 1, 1, 1).finished()});
  const std::string svg = figure.Svg();
  const std::string low = RampColor(0.5 / 128).Hex();
  const std::string high = RampColor(127.5 / 128).Hex();
  // The first row of values is the lower one: two low cells, then a high one below the upper row of
  // three.
  EXPECT_EQ(Count(svg, "<path stroke=\"" + low + "\" d=\"m0 1h2\"/>"), 1u);
  EXPECT_EQ(Count(svg, "<path stroke=\"" + high + "\" d=\"m0 0h3m-1 1h1\"/>"), 1u);
}

TEST(Figure, PanelsOfOneScaleShareItsColours) {
  const auto draw = [](const std::string& second_scale) {
    Figure figure;
    figure.AddScatter(0, 0, {.color_scale = "value"},
                      {.x = Three(1, 2, 3), .y = Three(1, 2, 3), .value = Three(0, 1, 1)});
    figure.AddScatter(0, 1, {.color_scale = second_scale},
                      {.x = Three(1, 2, 3), .y = Three(1, 2, 3), .value = Three(0, 2, 4)});
    return figure.Svg();
  };
  const std::string top = "fill=\"" + RampColor(127.5 / 128).Hex() + "\"";
  EXPECT_EQ(Count(draw("value"), top), 1u);  // only the 4
  EXPECT_EQ(Count(draw("other"), top), 3u);  // the 4 and both 1s
  EXPECT_EQ(Count(draw(""), top), 3u);
}

TEST(Figure, GivenColourRangeCutsOff) {
  Figure figure;
  figure.AddScatter(0, 0, {.color_range = AxisRange{0, 1}},
                    {.x = Three(1, 2, 3), .y = Three(1, 2, 3), .value = Three(-5, 5, 50)});
  EXPECT_EQ(Count(figure.Svg(), "fill=\"" + RampColor(127.5 / 128).Hex() + "\""), 2u);
}

// So that several figures of one page have no name in common.
TEST(Figure, HasNamesOnlyForColours) {
  Figure figure;
  figure.AddCurve(0, 0, {}, {.x = Vector{{0, 1}}, .y = Vector{{0, 1}}});
  EXPECT_EQ(figure.Svg().find(" id="), std::string::npos);
}

TEST(Figure, PointsBeyondTheAxesAreLeftOut) {
  Figure figure;
  figure.AddScatter(0, 0, {.x_range = AxisRange{0, 1}, .y_range = AxisRange{0, 1}},
                    {.x = Three(0, 0.5, 2), .y = Three(0, 1.5, 0.5)});
  EXPECT_EQ(Count(figure.Svg(), "<circle"), 1u);
}

TEST(Figure, ErrorBarsHaveAHueOfTheirOwnAndNamesBesideTheAxis) {
  Figure figure;
  const auto bars = [](double shift, const std::string& label) {
    return ErrorBars{.x = Three(1, 2, 3).array() + shift,
                     .y = Three(0, 1, 2),
                     .low = Three(0, 2, 2).array() + shift,
                     .high = Three(2, 2, 4).array() + shift,
                     .label = label};
  };
  figure.AddErrorBars(0, 0, {.y_ticks = {{0, "first"}, {1, "second"}, {2, "third"}}},
                      bars(0, "ours"));
  figure.AddErrorBars(0, 0, {}, bars(5, "theirs"));
  const std::string svg = figure.Svg();
  EXPECT_EQ(WhatIsWrongWithXml(svg), "");
  for (const char* text : {">first<", ">second<", ">third<", ">ours<", ">theirs<"})
    EXPECT_EQ(Count(svg, text), 1U) << text;
  EXPECT_EQ(Count(svg, "<circle"), 8U) << "six points and two in the legend";
  for (const std::size_t hue : {0U, 1U})
    EXPECT_EQ(Count(svg, "fill=\"" + CurveColor(hue).Hex()), 4U) << hue;
  EXPECT_NE(MessageOf([&] {
              ErrorBars short_one = bars(0, "");
              short_one.high.resize(2);
              figure.AddErrorBars(0, 0, {}, short_one);
            }).find("panel (0, 0), error bars: high has 2 values"),
            std::string::npos);
}

TEST(Figure, DegenerateDataStillDraw) {
  Figure figure;
  figure.AddHeatMap(0, 0, {}, {.x = {0, 1}, .y = {0, 1}, .values = Matrix::Constant(1, 1, 7)});
  figure.AddScatter(0, 1, {}, {.x = Three(3, 3, 3), .y = Three(0, 0, 0)});
  figure.AddScatter(1, 0, {}, {.label = "no points"});
  figure.AddCurve(1, 1, {}, {});
  figure.AddBand(2, 0, {}, {});
  figure.AddScatter(2, 1, {}, {.x = Three(1e99, -1e99, 0), .y = Three(1e-99, 2e-99, 0)});
  figure.AddScatter(2, 2, {}, {.x = Three(1e9, 1e9 + 1e-6, 1e9), .y = Three(1e9, 1e9 + 5, 1e9)});
  const std::string svg = figure.Svg();
  EXPECT_EQ(WhatIsWrongWithXml(svg), "");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Figure, RefusesBadDataByNameAndPlace) {
  Figure figure;
  EXPECT_EQ(
      MessageOf([&] { figure.AddScatter(0, 1, {}, {.x = Three(1, 2, 3), .y = Vector::Zero(2)}); }),
      "figure, panel (0, 1), scatter: y has 2 values but x has 3; give one for each x");
  const std::string nan = MessageOf([&] {
    figure.AddHeatMap(2, 0, {}, {.values = (Matrix(1, 2) << 0, std::nan("")).finished()});
  });
  EXPECT_NE(nan.find("panel (2, 0), heat map: values(0, 1) is nan"), std::string::npos) << nan;
  EXPECT_NE(MessageOf([&] {
              figure.AddCurve(0, 0, {}, {.x = Three(1, 3, 2), .y = Three(1, 1, 1)});
            }).find("sort the points by x"),
            std::string::npos);
  EXPECT_THROW(figure.AddHeatMap(0, 0, {}, {.x = {1, 1}, .values = Matrix::Zero(2, 2)}), Error);
  EXPECT_THROW(figure.AddHeatMap(0, 0, {}, {}), Error);
  EXPECT_THROW(figure.AddScatter(-1, 0, {}, {}), Error);
  EXPECT_THROW(figure.AddScatter(0, 0, {.x_range = AxisRange{2, 1}}, {}), Error);
  EXPECT_THROW(Figure({.panel_width = 3}), Error);
  EXPECT_THROW(figure.Svg(), Error);  // nothing was added by the failed calls
}

TEST(Figure, ManyCellsStayUnderAMegabyte) {
  Figure figure;
  const Matrix points = HeatMapPoints({-1, 1}, {-1, 1}, 160, 110);
  Matrix values(110, 160);
  for (Index k = 0; k < points.rows(); ++k) {
    values.data()[k] = std::sin(5 * points(k, 0)) * std::cos(4 * points(k, 1));
  }
  for (Index row = 0; row < 3; ++row) {
    for (Index column = 0; column < 2; ++column) {
      figure.AddHeatMap(row, column, {}, {.x = {-1, 1}, .y = {-1, 1}, .values = values});
    }
  }
  EXPECT_LT(figure.Svg().size(), 1000000u);
}

TEST(Figure, SaveWritesTheFigureAndNothingElse) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fathom_figure_test";
  std::filesystem::remove_all(folder);
  EXPECT_NE(MessageOf([&] { Mixed().Save(folder / "a.svg"); }).find("cannot write"),
            std::string::npos);
  std::filesystem::create_directory(folder);
  const Figure figure = Mixed();
  figure.Save(folder / "a.svg");
  figure.Save(folder / "a.svg");  // replaces
  std::ostringstream text;
  text << std::ifstream(folder / "a.svg").rdbuf();
  EXPECT_EQ(text.str(), figure.Svg());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::create_directory(folder / "b.svg");
  EXPECT_THROW(figure.Save(folder / "b.svg"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  std::filesystem::remove_all(folder);
}

TEST(HeatMapPoints, AreCellCentresRowByRow) {
  const Matrix expected = (Matrix(4, 2) << 0.5, 15, 1.5, 15, 0.5, 25, 1.5, 25).finished();
  EXPECT_EQ(HeatMapPoints({0, 2}, {10, 30}, 2, 2), expected);
  EXPECT_THROW(HeatMapPoints({0, 2}, {10, 30}, 0, 2), Error);
}

TEST(LayOut, PanelsAreAlignedApartAndInside) {
  const FigureOptions options{.title = "t", .panel_width = 200, .panel_height = 100};
  Figure::Panels panels;
  for (Index row = 0; row < 2; ++row) {
    for (Index column = 0; column < 3; ++column) {
      panels[{row, column}].layers = {
          Scatter{.x = Three(0, 1, 2), .y = std::pow(10, column) * Three(1, 2, 3)}};
    }
  }
  panels[{0, 1}].options = {.title = "title", .x_label = "x", .y_label = "y", .color_label = "c"};
  panels[{0, 1}].layers = {
      Scatter{.x = Three(0, 1, 2), .y = Three(0, 1, 2), .value = Three(0, 1, 2)}};
  const FigureLayout layout = LayOut(options, panels);
  const auto at = [&](Index row, Index column) { return layout.panels.at({row, column}); };
  for (Index k = 0; k < 3; ++k) {
    EXPECT_EQ(at(0, k).left, at(1, k).left);
    EXPECT_EQ(at(0, k).top, at(0, 0).top);
    EXPECT_EQ(at(1, k).title_rise, at(1, 0).title_rise);
  }
  EXPECT_GT(at(0, 0).left, 20);
  EXPECT_GT(at(0, 1).left, at(0, 0).left + 200 + 20);
  EXPECT_GT(at(0, 2).left - at(0, 1).left,
            at(0, 1).left - at(0, 0).left);  // room for the colour bar
  EXPECT_GT(at(1, 0).top, at(0, 0).top + 100 + 20);
  EXPECT_GT(layout.width, at(0, 2).left + 200);
  EXPECT_GT(layout.height, at(1, 0).top + 100 + 10);
}

TEST(LayOut, LongLegendWrapsWithinThePanel) {
  const FigureOptions options{.panel_width = 200};
  Figure::Panels panels;
  for (int k = 0; k < 4; ++k)
    panels[{0, 0}].layers.emplace_back(Curve{.label = "a label of length 24 ..."});
  const PanelLayout layout = LayOut(options, panels).panels.at({0, 0});
  ASSERT_EQ(layout.legend.size(), 4u);
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_EQ(layout.legend[k].x, 0);
    EXPECT_EQ(layout.legend[k].y, layout.legend[k - 1].y + kLegendLine);
  }
}

TEST(FittingSize, ShrinksOnlyWhatIsTooWide) {
  EXPECT_EQ(FittingSize("short", 13, 200), 13);
  const std::string text(40, 'x');
  const double size = FittingSize(text, 13, 200);
  EXPECT_NEAR(TextWidth(text, size), 200, 1e-9);
  EXPECT_EQ(FittingSize(std::string(1000, 'x'), 13, 200), 7);
  EXPECT_EQ(TextWidth("−²", 10), TextWidth("ab", 10));
}

}  // namespace
}  // namespace fathom
