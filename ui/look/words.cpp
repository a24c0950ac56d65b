#include "ui/look/words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <cmath>

#include "core/base/units.h"

namespace stagewright::look {
namespace {

using namespace Qt::StringLiterals;

QString inWords(const char *text, int n = -1) { return QCoreApplication::translate("Words", text, nullptr, n); }

} // namespace

QString q(const std::filesystem::path &path) { return QString::fromStdString(path.string()); }
std::filesystem::path pathOf(const QString &text) { return std::filesystem::path(text.toStdString()); }

QString bytes(double count) { return q(formatBytes(count)); }
QString gib(double bytes) { return QString::number(bytes / kGiB, 'f', 1); }
QString count(std::int64_t number) { return q(formatCount(number)); }
QString duration(double seconds) { return std::isfinite(seconds) ? q(formatDuration(seconds)) : u"—"_s; }

QString figure(double value, int significant)
{
    if (!std::isfinite(value))
        return u"—"_s;
    if (value != 0 && (std::fabs(value) < 1e-3 || std::fabs(value) >= 1e6))
        return QString::number(value, 'e', 1);
    const int whole = value == 0 ? 1 : std::max(1, int(std::floor(std::log10(std::fabs(value)))) + 1);
    return QString::number(value, 'f', std::max(0, significant - std::max(whole, std::fabs(value) < 1 ? 0 : whole)));
}

QString elapsed(double seconds)
{
    const auto total = std::int64_t(std::floor(seconds));
    const auto h = total / 3600, m = total / 60 % 60, sec = total % 60;
    if (h > 0)
        return u"%1:%2:%3"_s.arg(h).arg(m, 2, 10, QLatin1Char('0')).arg(sec, 2, 10, QLatin1Char('0'));
    return u"%1:%2"_s.arg(m).arg(sec, 2, 10, QLatin1Char('0'));
}

QString ago(double wallSeconds, double now)
{
    const double past = now - wallSeconds;
    if (past < 10)
        return inWords(QT_TRANSLATE_NOOP("Words", "just now"));
    if (past < 60)
        return inWords(QT_TRANSLATE_NOOP("Words", "%1 s ago")).arg(int(past));
    if (past < 3600)
        return inWords(QT_TRANSLATE_NOOP("Words", "%1 min ago")).arg(int(past / 60));
    if (past < 86400)
        return inWords(QT_TRANSLATE_NOOP("Words", "%1 h ago")).arg(int(past / 3600));
    if (past < 30 * 86400.0)
        return inWords(QT_TRANSLATE_NOOP("Words", "%1 d ago")).arg(int(past / 86400));
    return QDateTime::fromSecsSinceEpoch(qint64(wallSeconds)).toString(u"yyyy-MM-dd"_s);
}

QString clock(double wallSeconds) { return QDateTime::fromMSecsSinceEpoch(qint64(wallSeconds * 1000)).toString(u"HH:mm:ss"_s); }

} // namespace stagewright::look
