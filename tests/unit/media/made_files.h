// Media files that the ffmpeg program makes for a test. Tests that need it skip with a reason where it is not installed.
#pragma once

#include <QtCore/QProcess>
#include <QtCore/QStandardPaths>
#include <QtCore/QStringList>

namespace stagewright::tests {

inline bool haveFfmpegProgram() { return !QStandardPaths::findExecutable(QStringLiteral("ffmpeg")).isEmpty(); }

// ffmpeg -v error -y ARGUMENTS; false where it fails or takes more than a minute.
inline bool ffmpeg(const QString &arguments)
{
    QProcess process;
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(QStringLiteral("ffmpeg"), QStringList{QStringLiteral("-v"), QStringLiteral("error"), QStringLiteral("-y")} + QProcess::splitCommand(arguments));
    return process.waitForFinished(60'000) && process.exitCode() == 0;
}

} // namespace stagewright::tests
