#include "ui/look/kind_colors.h"

#include <QCoreApplication>

namespace stagewright::look {
namespace {

constexpr QRgb kWeights = 0xff0072B2, kGradients = 0xffE69F00, kOptimizer = 0xff009E73, kEma = 0xffCC79A7, kActivations = 0xffD55E00,
               kCheckpointed = 0xff56B4E9, kEncoders = 0xff8C6BB1, kWorkspace = 0xff9AA0A6;

QString kindWord(const char *text) { return QCoreApplication::translate("Kinds", text); }

} // namespace

QColor colorOf(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Parameter: return QColor(kWeights);
    case MemoryKind::Gradient: return QColor(kGradients);
    case MemoryKind::Optimizer: return QColor(kOptimizer);
    case MemoryKind::Ema: return QColor(kEma);
    case MemoryKind::Activation: return QColor(kActivations);
    case MemoryKind::CheckpointedInput: return QColor(kCheckpointed);
    case MemoryKind::Encoder: return QColor(kEncoders);
    case MemoryKind::Workspace: return QColor(kWorkspace);
    }
    return QColor(kWorkspace);
}

// A phase has the colour of the memory that it is about.
QColor colorOf(Phase phase)
{
    switch (phase) {
    case Phase::Load: return QColor(kWeights);
    case Phase::Data: return QColor(kWorkspace);
    case Phase::Encode: return QColor(kEncoders);
    case Phase::Forward: return QColor(kCheckpointed);
    case Phase::Backward: return QColor(kActivations);
    case Phase::Optimizer: return QColor(kOptimizer);
    case Phase::Ema: return QColor(kEma);
    case Phase::Save: return QColor(kGradients);
    case Phase::Idle: break;
    }
    return QColor(0x70757c);
}

QColor colorOf(HostKind kind)
{
    switch (kind) {
    case HostKind::PinnedActivations: return QColor(kCheckpointed);
    case HostKind::DataCache: return QColor(kWorkspace);
    case HostKind::CheckpointStaging: return QColor(kGradients);
    case HostKind::Other: break;
    }
    return QColor(kEncoders);
}

QColor colorOfSavePhase(std::string_view phase)
{
    if (phase == "stage")
        return QColor(kGradients);
    if (phase == "write")
        return QColor(kWeights);
    if (phase == "flush")
        return QColor(kEma);
    if (phase == "commit")
        return QColor(kEncoders);
    if (phase == "failed")
        return QColor(0xc4261d);
    return QColor(kOptimizer);                         // verify, done
}

QString wordOf(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Parameter: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Weights"));
    case MemoryKind::Gradient: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Gradients"));
    case MemoryKind::Optimizer: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Optimizer"));
    case MemoryKind::Ema: return kindWord(QT_TRANSLATE_NOOP("Kinds", "EMA"));
    case MemoryKind::Activation: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Activations"));
    case MemoryKind::CheckpointedInput: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Checkpointed inputs"));
    case MemoryKind::Encoder: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Encoders"));
    case MemoryKind::Workspace: return kindWord(QT_TRANSLATE_NOOP("Kinds", "Workspace"));
    }
    return {};
}

QString wordOf(Phase phase)
{
    switch (phase) {
    case Phase::Load: return kindWord(QT_TRANSLATE_NOOP("Kinds", "load"));
    case Phase::Data: return kindWord(QT_TRANSLATE_NOOP("Kinds", "data"));
    case Phase::Encode: return kindWord(QT_TRANSLATE_NOOP("Kinds", "encode"));
    case Phase::Forward: return kindWord(QT_TRANSLATE_NOOP("Kinds", "forward"));
    case Phase::Backward: return kindWord(QT_TRANSLATE_NOOP("Kinds", "backward"));
    case Phase::Optimizer: return kindWord(QT_TRANSLATE_NOOP("Kinds", "optimizer"));
    case Phase::Ema: return kindWord(QT_TRANSLATE_NOOP("Kinds", "EMA update"));
    case Phase::Save: return kindWord(QT_TRANSLATE_NOOP("Kinds", "save"));
    case Phase::Idle: return kindWord(QT_TRANSLATE_NOOP("Kinds", "idle"));
    }
    return {};
}

QString wordOf(HostKind kind)
{
    switch (kind) {
    case HostKind::PinnedActivations: return kindWord(QT_TRANSLATE_NOOP("Kinds", "pinned activations"));
    case HostKind::DataCache: return kindWord(QT_TRANSLATE_NOOP("Kinds", "data cache"));
    case HostKind::CheckpointStaging: return kindWord(QT_TRANSLATE_NOOP("Kinds", "checkpoint staging"));
    case HostKind::Other: return kindWord(QT_TRANSLATE_NOOP("Kinds", "other"));
    }
    return {};
}

QString wordOfSavePhase(std::string_view phase)
{
    if (phase == "stage")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "stage"));
    if (phase == "write")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "write"));
    if (phase == "flush")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "flush"));
    if (phase == "commit")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "commit"));
    if (phase == "verify")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "verify"));
    if (phase == "done")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "verified"));
    if (phase == "failed")
        return kindWord(QT_TRANSLATE_NOOP("Kinds", "failed"));
    return QString::fromUtf8(phase.data(), qsizetype(phase.size()));
}

} // namespace stagewright::look
