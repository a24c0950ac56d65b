// See README.md.
#include <algorithm>
#include <iostream>

#include "core/base/log.h"
#include "core/base/version.h"
#include "core/runhost/run_host.h"
#include "tests/support/fake_worker/synthetic_run.h"

using namespace stagewright;

namespace {

int complain(const Error &error)
{
    std::cerr << oneLine(error.problem) << std::endl;
    return static_cast<int>(error.exit);
}

int beARun(const fake::Behaviour &behaviour)
{
    if (behaviour.refuseStart > 0) {
        std::cerr << "the fake worker was told not to begin" << std::endl;
        return static_cast<int>(behaviour.refuseStart);
    }
    runhost::RunHost::Options options;
    options.folder = behaviour.runFolder;
    if (auto known = runlog::readIdentity(behaviour.runFolder))
        options.identity = *known;
    options.identity.device = "cpu";
    auto host = runhost::RunHost::start(std::move(options));
    if (!host)
        return complain(host.error());
    const fake::Outcome outcome = fake::runSynthetic(behaviour, **host);
    (*host)->finish(outcome.summary, outcome.sentence);
    return outcome.summary.exit;
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto says = [&](const char *word) { return std::find(arguments.begin(), arguments.end(), word) != arguments.end(); };
    if (says("--version")) {
        std::cout << "stagewright-fake-worker " << programVersion() << std::endl;
        return 0;
    }
    if (says("probe")) {
        std::cout << R"({"devices":[{"device":"cpu","name":"fake device","total_bytes":17179869184,"available":true,"reason":""}],)"
                  << R"("auto":"cpu","auto_reason":"a fake worker trains nowhere"})" << std::endl;
        return 0;
    }
    const auto behaviour = fake::behaviourFrom(arguments);
    if (!behaviour)
        return complain(behaviour.error());
    if (!says("train") || behaviour->runFolder.empty()) {
        std::cerr << "usage: stagewright-fake-worker train --run-folder FOLDER [OPTIONS], see tests/support/fake_worker/README.md" << std::endl;
        return static_cast<int>(ExitCode::Usage);
    }
    return beARun(*behaviour);
}
