#include "core/config/problem_codes.h"

#include <algorithm>

#include "core/config/problem_code_tables.h"

namespace stagewright::config {

const std::vector<ProblemCode> &problemCodes()
{
    static const std::vector<ProblemCode> codes = [] {
        std::vector<ProblemCode> all;
        for (const auto *part : {&checkpointCodes(), &configCodes(), &dataCodes(), &machineCodes(), &runCodes()})
            all.insert(all.end(), part->begin(), part->end());
        std::sort(all.begin(), all.end(), [](const ProblemCode &a, const ProblemCode &b) { return a.code < b.code; });
        return all;
    }();
    return codes;
}

} // namespace stagewright::config
