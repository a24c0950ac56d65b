#include "core/config/validate.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/paths.h"
#include "core/config/rules.h"

namespace stagewright::config {

namespace {

// NVIDIA's kernel driver lists its devices here; neither a library nor a process is needed to count them.
int gpusOfThisMachine()
{
    std::error_code code;
    int count = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", code)) {
        (void)entry;
        ++count;
    }
    return count;
}

int worldSizeOfThisProcess()
{
    const char *text = std::getenv("WORLD_SIZE");
    const int size = text ? std::atoi(text) : 1;
    return size > 0 ? size : 1;
}

} // namespace

Surroundings surroundingsOfThisMachine(const Stage &stage)
{
    Surroundings surroundings;
    surroundings.checkPaths = true;
    surroundings.hostAvailableBytes = hostAvailableBytes();
    surroundings.gpuCount = gpusOfThisMachine();
    surroundings.worldSize = worldSizeOfThisProcess();
    const Value &outputs = stage.at("outputs");
    if (outputs.type() == Type::String) {
        if (const auto free = freeDiskBytes(expandUser(outputs.string())))
            surroundings.freeDiskBytes = *free;
    }
    return surroundings;
}

Problems validate(const Stage &stage, const Surroundings &surroundings)
{
    Findings findings(stage);
    checkKeys(stage, findings);
    checkValues(stage, findings);
    checkHelpers(stage, findings);
    checkModel(stage, findings);
    checkConditions(stage, findings);
    checkBuckets(stage, findings);
    checkFrames(stage, findings);
    checkMemory(stage, findings);
    checkTraining(stage, findings);
    checkData(stage, findings);
    checkAcceleration(stage, surroundings, findings);
    checkPaths(stage, surroundings, findings);
    checkMachine(stage, surroundings, findings);

    Problems problems = stage.problems();
    for (Problem &problem : findings.finish())
        problems.push_back(std::move(problem));
    std::stable_sort(problems.begin(), problems.end(), [](const Problem &a, const Problem &b) {
        const auto place = [](const Problem &problem) { return std::tuple(static_cast<int>(problem.severity), problem.line == 0, problem.file, problem.line); };
        return place(a) < place(b);
    });
    return problems;
}

} // namespace stagewright::config
