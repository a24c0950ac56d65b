// What every fuzzer shares: changed inputs for a bounded time, no crash, no hang, bounded memory, and the input that failed is left behind.
// Best built with -DSTAGEWRIGHT_SANITIZE=address,undefined.
//
//   STAGEWRIGHT_FUZZ_SECONDS   how long (default 5)
//   STAGEWRIGHT_FUZZ_SEED      another sequence (default 1)
//   NAME_fuzz FILE…            reads these files only, to look at a failure again; the target is chosen by the file's ending
//
// The input that failed is left as fuzz-failure.ENDING in the working folder.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::fuzz {

using Random = std::mt19937;

// One kind of input and what reads it.
struct Target {
    std::string ending;                        // "safetensors"; distinct among the targets of a program
    std::vector<std::string> seeds;            // at least one; each is also read unchanged
    std::vector<std::string> words;            // pieces that mean something in the format
    std::function<void(const std::string &bytes, Random &random)> read;
    std::size_t mostBytes = 100'000;           // inputs are not grown beyond
};

// A finding: leaves the input and ends the program with 1.
[[noreturn]] void fail(const std::string &what);
// A refusal must be one sentence, in UTF-8, of bounded length: it is shown to people.
void mustBeSentence(const Error &error);

int run(int argc, char **argv, const std::vector<Target> &targets);

std::string bytesOf(const std::string &file);  // of a seed; ends the program with a sentence where it cannot be read

} // namespace stagewright::fuzz
