// What is remembered between starts: look, language, window, recent stages, runs and folders. One INI file in stateFolder().
#pragma once

#include <QSettings>
#include <QStringList>

namespace stagewright::session {

// GUI thread only. Writes are gathered and made by QSettings when the event loop is idle.
class Preferences
{
public:
    Preferences();
    QVariant value(const QString &key, const QVariant &otherwise = {}) const { return m_settings.value(key, otherwise); }
    void set(const QString &key, const QVariant &value) { m_settings.setValue(key, value); }

    // Lists with the newest first, each at most kRecentCount long; what no longer exists is left out of the answer.
    enum class Recent { Stages, Runs, Folders };
    static constexpr int kRecentCount = 12;
    QStringList recent(Recent kind) const;
    void remember(Recent kind, const QString &path);

private:
    mutable QSettings m_settings;
};

} // namespace stagewright::session
