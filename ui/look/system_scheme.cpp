#include "ui/look/system_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QGuiApplication>
#include <QPalette>

namespace stagewright::look {

using namespace Qt::StringLiterals;

// org.freedesktop.appearance color-scheme: 0 no preference, 1 dark, 2 light. Asked without waiting; the answer may come late or never.
SystemScheme::SystemScheme(QObject *parent) : QObject(parent)
{
    m_dark = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
    if (qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS"))
        return;
    auto bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    const QString service = u"org.freedesktop.portal.Desktop"_s, path = u"/org/freedesktop/portal/desktop"_s, settings = u"org.freedesktop.portal.Settings"_s;
    bus.connect(service, path, settings, u"SettingChanged"_s, this, SLOT(takeSetting(QString,QString,QDBusVariant)));
    auto message = QDBusMessage::createMethodCall(service, path, settings, u"Read"_s);
    message << u"org.freedesktop.appearance"_s << u"color-scheme"_s;
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(message, 2000), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher *call) {
        const QDBusPendingReply<QDBusVariant> reply = *call;
        if (!reply.isError())
            takeSetting(u"org.freedesktop.appearance"_s, u"color-scheme"_s, reply.value());
        call->deleteLater();
    });
}

void SystemScheme::takeSetting(const QString &space, const QString &key, const QDBusVariant &value)
{
    if (space != "org.freedesktop.appearance"_L1 || key != "color-scheme"_L1)
        return;
    QVariant inner = value.variant();
    if (inner.canConvert<QDBusVariant>())
        inner = inner.value<QDBusVariant>().variant();
    const bool dark = inner.toUInt() == 1;
    if (inner.toUInt() == 0 || dark == m_dark)
        return;
    m_dark = dark;
    Q_EMIT changed();
}

} // namespace stagewright::look
