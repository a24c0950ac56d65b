// The fixed colours of memory kinds, phases and the parts of a save (Okabe and Ito's, safe for colour-blind eyes), and their names.
#pragma once

#include <QColor>
#include <QString>
#include <string_view>

#include "core/base/memory_kind.h"

namespace stagewright::look {

QColor colorOf(MemoryKind kind);
QColor colorOf(Phase phase);
QColor colorOf(HostKind kind);
QColor colorOfSavePhase(std::string_view phase);       // stage, write, flush, commit, verify, done, failed

QString wordOf(MemoryKind kind);                       // translated
QString wordOf(Phase phase);
QString wordOf(HostKind kind);
QString wordOfSavePhase(std::string_view phase);

// The order in which kinds are stacked: what stays at the bottom, what comes and goes on top.
inline constexpr MemoryKind kStackOrder[] = {MemoryKind::Parameter, MemoryKind::Encoder, MemoryKind::Ema, MemoryKind::Optimizer,
    MemoryKind::Gradient, MemoryKind::CheckpointedInput, MemoryKind::Activation, MemoryKind::Workspace};

} // namespace stagewright::look
