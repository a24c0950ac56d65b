// Small SVG plots for the HTML report: lines, stacked areas and spans over one x axis. Output is self-contained text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stagewright::commands {

struct SvgSeries {
    std::string title;
    std::string colour;                            // "#0072B2"
    std::vector<double> x, y;                      // equal lengths, x ascending; NaN breaks the line
};

struct SvgPlot {
    std::string title;                             // also the text alternative
    std::string xTitle;
    std::function<std::string(double)> yText;      // how a value of the y axis is written
    std::vector<SvgSeries> lines;
    std::vector<SvgSeries> stacked;                // areas, first at the bottom; all with the same x
    bool yFromZero = false;
};

// <figure> with the plot, its legend and a text alternative. Series longer than ~2,000 points are thinned, keeping every minimum and maximum.
std::string toHtml(const SvgPlot &plot);

std::string htmlEscaped(std::string_view text);

} // namespace stagewright::commands
