#include "ui/session/preferences.h"

#include <QFileInfo>

#include "core/base/paths.h"

namespace stagewright::session {

using namespace Qt::StringLiterals;

static QString keyOf(Preferences::Recent kind)
{
    switch (kind) {
    case Preferences::Recent::Stages: return u"recent/stages"_s;
    case Preferences::Recent::Runs: return u"recent/runs"_s;
    case Preferences::Recent::Folders: return u"recent/folders"_s;
    }
    return {};
}

Preferences::Preferences() : m_settings(QString::fromStdString((stateFolder() / "studio.ini").string()), QSettings::IniFormat) {}

QStringList Preferences::recent(Recent kind) const
{
    QStringList there;
    for (const auto &path : m_settings.value(keyOf(kind)).toStringList())
        if (QFileInfo::exists(path))
            there.append(path);
    return there;
}

void Preferences::remember(Recent kind, const QString &path)
{
    QStringList list = m_settings.value(keyOf(kind)).toStringList();
    list.removeAll(path);
    list.prepend(path);
    m_settings.setValue(keyOf(kind), list.mid(0, kRecentCount));
}

} // namespace stagewright::session
