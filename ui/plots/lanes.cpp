#include "ui/plots/lanes.h"

#include <QCoreApplication>

namespace stagewright::plots {

static QString laneWord(const char *text) { return QCoreApplication::translate("Lanes", text); }

QString titleOf(Lane lane)
{
    switch (lane) {
    case Lane::Memory: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Device memory by kind"));
    case Lane::Phases: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Phases"));
    case Lane::Buckets: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Buckets"));
    case Lane::Saves: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Saves"));
    case Lane::StepTime: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Step time"));
    case Lane::Host: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Host memory"));
    case Lane::Loss: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Loss"));
    case Lane::LearningRate: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Learning rate"));
    case Lane::GradNorm: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Gradient norm"));
    case Lane::Throughput: return laneWord(QT_TRANSLATE_NOOP("Lanes", "Throughput"));
    }
    return {};
}

QString shortTitleOf(Lane lane)
{
    switch (lane) {
    case Lane::Memory: return laneWord(QT_TRANSLATE_NOOP("Lanes", "device memory, %1"));
    case Lane::Phases: return laneWord(QT_TRANSLATE_NOOP("Lanes", "phase"));
    case Lane::Buckets: return laneWord(QT_TRANSLATE_NOOP("Lanes", "bucket"));
    case Lane::Saves: return laneWord(QT_TRANSLATE_NOOP("Lanes", "save"));
    case Lane::StepTime: return laneWord(QT_TRANSLATE_NOOP("Lanes", "seconds a step; bars: waiting for a save, for data"));
    case Lane::Host: return laneWord(QT_TRANSLATE_NOOP("Lanes", "host memory, %1"));
    case Lane::Loss: return laneWord(QT_TRANSLATE_NOOP("Lanes", "loss"));
    case Lane::LearningRate: return laneWord(QT_TRANSLATE_NOOP("Lanes", "learning rate"));
    case Lane::GradNorm: return laneWord(QT_TRANSLATE_NOOP("Lanes", "gradient norm"));
    case Lane::Throughput: return laneWord(QT_TRANSLATE_NOOP("Lanes", "clips per second"));
    }
    return {};
}

const char *keyOf(Lane lane)
{
    switch (lane) {
    case Lane::Memory: return "memory";
    case Lane::Phases: return "phases";
    case Lane::Buckets: return "buckets";
    case Lane::Saves: return "saves";
    case Lane::StepTime: return "step_time";
    case Lane::Host: return "host";
    case Lane::Loss: return "loss";
    case Lane::LearningRate: return "lr";
    case Lane::GradNorm: return "grad_norm";
    case Lane::Throughput: return "throughput";
    }
    return "";
}

} // namespace stagewright::plots
