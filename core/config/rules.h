// The rules by subject; validate() runs them all. Each takes any value tree: what has the wrong type is rule values' affair, and the others pass over it.
#pragma once

#include "core/config/findings.h"
#include "core/config/validate.h"

namespace stagewright::config {

void checkKeys(const Stage &stage, Findings &findings);             // unknown, misplaced, of another type or plugin, not applicable
void checkValues(const Stage &stage, Findings &findings);           // types, choices, ranges, what is required
void checkHelpers(const Stage &stage, Findings &findings);          // variables that people take for options
void checkBuckets(const Stage &stage, Findings &findings);
void checkFrames(const Stage &stage, Findings &findings);           // frame counts against the autoencoder, gaps in their order
void checkMemory(const Stage &stage, Findings &findings);
void checkModel(const Stage &stage, Findings &findings);
void checkConditions(const Stage &stage, Findings &findings);
void checkTraining(const Stage &stage, Findings &findings);         // optimizer, schedule, resuming, saving
void checkData(const Stage &stage, Findings &findings);
void checkAcceleration(const Stage &stage, const Surroundings &surroundings, Findings &findings);
void checkPaths(const Stage &stage, const Surroundings &surroundings, Findings &findings);
void checkMachine(const Stage &stage, const Surroundings &surroundings, Findings &findings);

} // namespace stagewright::config
