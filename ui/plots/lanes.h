// The lanes of the run plot, from top to bottom.
#pragma once

#include <QString>
#include <array>

namespace stagewright::plots {

enum class Lane { Memory, Phases, Buckets, Saves, StepTime, Host, Loss, LearningRate, GradNorm, Throughput };
inline constexpr std::array kLanes{Lane::Memory, Lane::Phases, Lane::Buckets, Lane::Saves, Lane::StepTime,
                                   Lane::Host, Lane::Loss, Lane::LearningRate, Lane::GradNorm, Lane::Throughput};

QString titleOf(Lane lane);                        // "Device memory by kind", for the check boxes
QString shortTitleOf(Lane lane);                   // "phase", beside or over the lane; with %1 for the unit where the lane is in bytes
const char *keyOf(Lane lane);                      // for preferences and CSV
inline bool isStrip(Lane lane) { return lane == Lane::Phases || lane == Lane::Buckets || lane == Lane::Saves; }

} // namespace stagewright::plots
