// Whether the desktop is dark, and when it changes: by the desktop portal where there is one, else by the palette at the start.
#pragma once

#include <QDBusVariant>
#include <QObject>

namespace stagewright::look {

class SystemScheme : public QObject
{
    Q_OBJECT
public:
    explicit SystemScheme(QObject *parent = nullptr);      // before the application's palette is replaced
    bool isDark() const { return m_dark; }

Q_SIGNALS:
    void changed();

private Q_SLOTS:
    void takeSetting(const QString &space, const QString &key, const QDBusVariant &value);

private:
    bool m_dark = false;
};

} // namespace stagewright::look
