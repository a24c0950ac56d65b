// A demo stage, an own state folder and the English language for a test of the window, all below one folder that is also the working one.
#pragma once

#include <QDir>
#include <QTemporaryDir>

#include "core/demo/demo_stage.h"
#include "ui/look/language.h"
#include "ui/look/words.h"

namespace stagewright::tests {

// Sets `stage` to the demo stage's file. Returns what went wrong, empty where nothing did.
inline QString makeDemoPlace(const QTemporaryDir &folder, QString &stage)
{
    if (!folder.isValid())
        return folder.errorString();
    qputenv("XDG_STATE_HOME", folder.path().toUtf8() + "/state");
    qputenv("STAGEWRIGHT_DEMO", folder.path().toUtf8() + "/demo");
    if (!QDir::setCurrent(folder.path()))
        return QStringLiteral("%1 cannot be the working folder").arg(folder.path());
    const auto made = demo::makeDemoStage(demo::defaultDemoFolder());
    if (!made)
        return look::q(made.error().message());
    stage = look::q(made->stage);
    look::language().set(look::LanguageId::English);
    return {};
}

} // namespace stagewright::tests
