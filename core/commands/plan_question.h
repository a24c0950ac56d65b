// What plan, fit, sweep and check --fit-device share: a stage that may be planned, a question to the planning helper, and its words.
#pragma once

#include <string>
#include <vector>

#include "core/client/plan_helper.h"
#include "core/commands/command.h"

namespace CLI {
class Option;
}

namespace stagewright::commands {

// The flags that plan, fit and sweep have in common, and the question that they make.
struct PlanFlags {
    std::string device, bucket;
    std::int64_t world = 0;
    std::vector<std::string> vary;                                         // as typed

    void declare(CLI::App &app, const std::string &purpose);               // --fit-device, --world-size; purpose: "Device to plan for"
    void declareBucket(CLI::App &app);                                     // --bucket
    CLI::Option *declareVary(CLI::App &app, const std::string &help);      // --vary
    events::PlanRequest request(const char *ask) const;                    // without vary, which only planned() reads
};

// Asks with the stage, until an answer, the helper's end, or Ctrl-C.
Result<events::PlanAnswer> askPlanner(client::PlanHelper &helper, const config::Stage &stage, events::PlanRequest request);

struct PlannedStage {
    config::Stage stage;
    events::PlanAnswer answer;
};
// The stage of the command line and what a helper of its own answers about it. --vary and the words behind the stage name options: "model.depth=1,2" or
// "model.depth"; commas inside brackets and quotes belong to a value. Errors: a --vary that cannot be read; a stage with errors (Usage, they are in output
// then; what is wrong with data and paths does not matter here); those of askPlanner().
Result<PlannedStage> planned(const char *ask, const PlanFlags &flags, const Invocation &invocation, Output &output);

// {path: value}, a value as JSON has it.
nlohmann::json valuesJson(const std::vector<events::PlanValue> &values);
std::string valuesText(const std::vector<events::PlanValue> &values);

std::string bucketText(const events::PlannedBucket &bucket);               // "256px, 129 frames of 192×336, batch 6"
// A problem for every bucket that does not fit, at its place in the stage.
Problems unfitting(const events::Plan &plan, const config::Stage &stage);

} // namespace stagewright::commands
