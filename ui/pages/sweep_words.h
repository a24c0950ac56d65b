// Axes, points and fits of a sweep in words, for labels, tables and files.
#pragma once

#include <QStringList>
#include <map>

#include "ui/session/measure_session.h"
#include "ui/session/plan_sweep.h"

namespace stagewright::pages {

using MeasuredPoints = std::map<int, session::MeasuredPoint>;      // by cell

inline bool hasFigures(const session::MeasuredPoint &point) { return point.sentence.isEmpty() && point.outcome.peakBytes > 0; }

QString axisName(const session::PlanAxis &axis);
QStringList axisLabels(const session::PlanAxis &axis);             // its values, short
QString valuesWords(const std::vector<events::PlanValue> &values); // "path = value, path = value"
QString pointWords(const session::PlanSweep &sweep, const MeasuredPoints &measured, int cell);
QString fitWords(const session::PlanSweep &sweep);                 // empty where none was asked for
// The fastest of the measured points that fit, and how much longer `cell` took; empty with fewer than two of them.
QString bestMeasuredWords(const session::PlanSweep &sweep, const MeasuredPoints &measured, int cell);
// The header first. Memory in GiB, deviation in percent of the prediction, times in seconds.
QList<QStringList> sweepRows(const session::PlanSweep &sweep, const MeasuredPoints &measured);

} // namespace stagewright::pages
