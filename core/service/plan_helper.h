// The planning helper: answers one JSON object a line with one a line (core/events/plan.h), until its input ends.
#pragma once

#include "core/base/exit_code.h"
#include "core/events/plan.h"
#include "core/plan/calibration.h"
#include "core/plan/planner.h"

namespace stagewright::service {

// Answers one request; errors become the answer's problem. Never throws.
events::PlanAnswer answerPlanRequest(plan::Planner &planner, plan::MeasurementFile &measurements, const events::PlanRequest &request, const plan::Cancelled &cancelled);

// Reads requests from `input` on a thread of its own and answers them in order on `output`. A request that is cancelled while it waits or is worked
// on is answered with a problem (memory.plan-cancelled). Returns when the input ends or nobody reads the answers.
ExitCode runPlanHelper(int input, int output);

// What the worker's `plan` task does: keeps standard output for answers alone (whatever libraries print goes to standard error).
ExitCode runPlanTask();

} // namespace stagewright::service
