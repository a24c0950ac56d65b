#include "tests/support/fake_worker/behaviour.h"

#include <charconv>
#include <cstdlib>
#include <map>

#include "core/base/text.h"

namespace stagewright::fake {

Result<Behaviour> behaviourFrom(const std::vector<std::string> &arguments)
{
    std::vector<std::string> words;
    if (const char *set = std::getenv("STAGEWRIGHT_FAKE")) {
        for (const std::string &word : split(set, ' ')) {
            if (!word.empty())
                words.push_back(word);
        }
    }
    words.insert(words.end(), arguments.begin(), arguments.end());

    Behaviour b;
    const std::map<std::string, std::int64_t *> numbers{
        {"--steps", &b.steps}, {"--step-ms", &b.stepMs}, {"--startup-ms", &b.startupMs}, {"--checkpoint-every", &b.checkpointEvery},
        {"--save-ms", &b.saveMs}, {"--fail-save", &b.failSave}, {"--exit-at", &b.exitAt}, {"--exit", &b.exit}, {"--abort-at", &b.abortAt},
        {"--kill-at", &b.killAt}, {"--segv-at", &b.segvAt}, {"--suspend-at", &b.suspendAt}, {"--stall-at", &b.stallAt}, {"--stall-ms", &b.stallMs},
        {"--flood-at", &b.floodAt}, {"--flood", &b.flood}, {"--refuse-start", &b.refuseStart}, {"--nonfinite-at", &b.nonfiniteAt}, {"--seed", &b.seed}};
    for (std::size_t at = 0; at < words.size(); ++at) {
        const bool hasValue = at + 1 < words.size();
        if (const auto found = numbers.find(words[at]); found != numbers.end()) {
            const std::string text = hasValue ? words[++at] : std::string();
            if (std::from_chars(text.data(), text.data() + text.size(), *found->second).ptr != text.data() + text.size() || text.empty())
                return Error(ExitCode::Usage, "run.bad-option", "the fake worker's " + found->first + " needs a whole number, not \"" + text + "\"");
        } else if (words[at] == "--run-folder" && hasValue) {
            b.runFolder = words[++at];
        }
    }
    return b;
}

} // namespace stagewright::fake
