// The parts of the reference of problem codes, one for each family.
#pragma once

#include "core/config/problem_codes.h"

namespace stagewright::config {

const std::vector<ProblemCode> &checkpointCodes();
const std::vector<ProblemCode> &configCodes();
const std::vector<ProblemCode> &dataCodes();
const std::vector<ProblemCode> &machineCodes();        // env. and memory.
const std::vector<ProblemCode> &runCodes();

} // namespace stagewright::config
