#include "ui/plots/picture_export.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTextStream>

#include "ui/plots/custom_plot.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;

static QString cannotWrite(const QString &file, const QString &why)
{
    return QCoreApplication::translate("PictureExport", "%1 cannot be written: %2").arg(file, why);
}

QString exportPicture(QCustomPlot *plot, const QString &file, const QString &title)
{
    const QString ending = QFileInfo(file).suffix().toLower();
    bool done = false;
    if (ending == "pdf"_L1) {
        done = plot->savePdf(file, 0, 0, QCP::epNoCosmetic, u"Stagewright"_s, title);
    } else if (ending == "svg"_L1) {
        QSvgGenerator generator;
        generator.setFileName(file);
        generator.setSize(plot->size());
        generator.setViewBox(QRect(QPoint(), plot->size()));
        QCPPainter painter;
        done = painter.begin(&generator);
        if (done) {
            painter.setMode(QCPPainter::pmVectorized);
            plot->toPainter(&painter, plot->width(), plot->height());
            done = painter.end();
        }
    } else {
        done = plot->savePng(file, 0, 0, 2.0);
    }
    return done ? QString() : QCoreApplication::translate("PictureExport", "%1 could not be written; is the folder there and writable?").arg(file);
}

static QString quoted(QString cell)
{
    if (!cell.contains(u',') && !cell.contains(u'"') && !cell.contains(u'\n'))
        return cell;
    return u'"' + cell.replace(u"\""_s, u"\"\""_s) + u'"';
}

QString exportRows(const QList<QStringList> &rows, const QString &file)
{
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return cannotWrite(file, out.errorString());
    QTextStream text(&out);
    for (const QStringList &row : rows) {
        for (qsizetype i = 0; i < row.size(); ++i)
            text << (i > 0 ? "," : "") << quoted(row[i]);
        text << '\n';
    }
    text.flush();
    return out.commit() ? QString() : cannotWrite(file, out.errorString());
}

} // namespace stagewright::plots
