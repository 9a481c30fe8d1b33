// Draws what figure.h has collected, at the places that figure_layout.h has found.
#ifndef FATHOM_PLOT_FIGURE_DRAWING_H_
#define FATHOM_PLOT_FIGURE_DRAWING_H_

#include <string>

#include "plot/figure.h"

namespace fathom {

std::string DrawFigure(const FigureOptions& options, const Figure::Panels& panels);

}  // namespace fathom

#endif  // FATHOM_PLOT_FIGURE_DRAWING_H_
