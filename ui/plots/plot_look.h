// How the plots of memory look: axes in the theme's colours, tick labels that never overlap, a device's line.
#pragma once

#include <QStringList>

#include "ui/plots/custom_plot.h"

namespace stagewright::plots {

void embed(QCustomPlot *plot, QWidget *owner);          // fills its owner, which has the focus and sees the plot's events first
void dress(QCustomPlot *plot);                         // background, axes, grid, labels
// Labels at 0, 1, 2 …, as many as `room` pixels hold.
QSharedPointer<QCPAxisTickerText> thinned(const QStringList &labels, int room, bool vertical);
// Draws soon, or when the plot is shown: a hidden one may have no size.
void replotSoon(QCustomPlot *plot);
// A limit far above everything that is drawn would flatten it: then it is named instead of drawn.
inline bool isLimitDrawn(double limit, double highest) { return limit > 0 && highest > 0.4 * limit; }
QList<QColor> curveColors();                           // safe for colour-blind eyes, in the order of use

} // namespace stagewright::plots
