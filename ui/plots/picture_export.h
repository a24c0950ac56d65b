// Plots and tables as files.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

class QCustomPlot;

namespace stagewright::plots {

// .png, .pdf or .svg by the file's ending. Each returns an error sentence, empty where it worked.
QString exportPicture(QCustomPlot *plot, const QString &file, const QString &title);
QString exportRows(const QList<QStringList> &rows, const QString &file);     // CSV (RFC 4180), UTF-8

} // namespace stagewright::plots
