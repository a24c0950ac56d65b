#include "tests/fuzz/harness.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/text.h"

namespace stagewright::fuzz {

namespace {

constexpr unsigned kSecondsForOne = 20;         // far above what one input may take, sanitizers and a busy machine included
constexpr long kMostMegabytes = 3000;           // of resident memory, sanitizers included

std::string g_input, g_failureFile;             // the file's name is set before any input is read

// Async-signal-safe: only system calls.
void leaveInput()
{
    if (FILE *file = std::fopen(g_failureFile.c_str(), "wb")) {
        std::fwrite(g_input.data(), 1, g_input.size(), file);
        std::fclose(file);
    }
}

void onSignal(int signal)
{
    leaveInput();
    const char *text = signal == SIGALRM ? "an input took too long; it is in the working folder\n" : "an input crashed the program; it is in the working folder\n";
    if (write(2, text, std::strlen(text)) < 0) { }
    std::signal(signal, SIG_DFL);
    raise(signal == SIGALRM ? SIGABRT : signal);
}

long residentMegabytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

void tryOne(const Target &target, const std::string &bytes, Random &random)
{
    g_input = bytes;
    g_failureFile = "fuzz-failure." + target.ending;
    alarm(kSecondsForOne);
    target.read(bytes, random);
    alarm(0);
    if (residentMegabytes() > kMostMegabytes)
        fail("the program took " + std::to_string(residentMegabytes()) + " MiB of memory");
}

class Mutator
{
public:
    Mutator(const Target &target, Random &random) : m_target(target), m_random(random) {}

    std::string next()
    {
        std::string bytes = pick(m_target.seeds);
        for (int i = 1 + below(6); i > 0 && bytes.size() < m_target.mostBytes; --i)
            mutate(bytes);
        return bytes;
    }

private:
    int below(std::size_t limit) { return limit ? static_cast<int>(m_random() % limit) : 0; }
    const std::string &pick(const std::vector<std::string> &list) { return list[static_cast<std::size_t>(below(list.size()))]; }
    std::string word() { return m_target.words.empty() ? std::string(1, static_cast<char>(below(256))) : pick(m_target.words); }

    void mutate(std::string &bytes)
    {
        const auto at = static_cast<std::size_t>(below(bytes.size() + 1));
        const auto length = std::min<std::size_t>(static_cast<std::size_t>(below(24)), bytes.size() - at);
        switch (below(10)) {
        case 0: bytes.insert(at, word()); break;
        case 1: bytes.insert(at, word() + word()); break;
        case 2: bytes.erase(at, length); break;
        case 3:
            if (!bytes.empty())
                bytes[std::min(at, bytes.size() - 1)] = static_cast<char>(below(256));
            break;
        case 4: bytes.insert(at, bytes.substr(at, length)); break;
        case 5: {
            const std::string &other = pick(m_target.seeds);
            const auto from = static_cast<std::size_t>(below(other.size() + 1));
            bytes.insert(at, other.substr(from, static_cast<std::size_t>(below(200))));
            break;
        }
        case 6: {
            const std::string piece = word();
            std::string many;
            for (int i = 1 << below(13); i > 0; --i)
                many += piece;
            bytes.insert(at, many);
            break;
        }
        case 7: bytes.resize(at); break;
        case 8:                                  // a number of the file, bit by bit
            if (!bytes.empty())
                bytes[std::min(at, bytes.size() - 1)] ^= static_cast<char>(1 << below(8));
            break;
        default: bytes.replace(at, length, word()); break;
        }
    }

    const Target &m_target;
    Random &m_random;
};

double numberFrom(const char *name, double fallback)
{
    const char *text = std::getenv(name);
    return text ? std::atof(text) : fallback;
}

int readAgain(int argc, char **argv, const std::vector<Target> &targets, Random &random)
{
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        const auto target = std::find_if(targets.begin(), targets.end(), [&](const Target &t) { return name.ends_with("." + t.ending); });
        if (target == targets.end()) {
            std::fprintf(stderr, "%s has the ending of no input of this program\n", argv[i]);
            return 1;
        }
        tryOne(*target, bytesOf(name), random);
    }
    return 0;
}

} // namespace

void fail(const std::string &what)
{
    leaveInput();
    std::fprintf(stderr, "%s; the input is in %s\n", what.c_str(), g_failureFile.c_str());
    std::exit(1);
}

void mustBeSentence(const Error &error)
{
    const std::string &text = error.message();
    if (text.empty() || text.find('\n') != std::string::npos || text.size() > kLongestSentence || text.find('\0') != std::string::npos)
        fail("a refusal that is not one sentence: " + text.substr(0, 300));
}

std::string bytesOf(const std::string &file)
{
    auto bytes = readFile(file);
    if (!bytes) {
        std::fprintf(stderr, "%s\n", bytes.error().message().c_str());
        std::exit(1);
    }
    return std::move(*bytes);
}

int run(int argc, char **argv, const std::vector<Target> &targets)
{
    g_failureFile.reserve(200);
    for (int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT})
        std::signal(signal, onSignal);
    Random random(static_cast<unsigned>(numberFrom("STAGEWRIGHT_FUZZ_SEED", 1)));
    if (argc > 1)
        return readAgain(argc, argv, targets, random);
    for (const Target &target : targets) {
        if (target.seeds.empty()) {
            std::fprintf(stderr, "no seeds for %s\n", target.ending.c_str());
            return 1;
        }
        for (const std::string &seed : target.seeds)
            tryOne(target, seed, random);
    }
    std::vector<Mutator> mutators;
    for (const Target &target : targets)
        mutators.emplace_back(target, random);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(numberFrom("STAGEWRIGHT_FUZZ_SECONDS", 5));
    long count = 0;
    while (std::chrono::steady_clock::now() < end)
        for (std::size_t i = 0; i < targets.size(); ++i, ++count)
            tryOne(targets[i], mutators[i].next(), random);
    std::printf("%ld inputs, at most %ld MiB of memory\n", count, residentMegabytes());
    return 0;
}

} // namespace stagewright::fuzz
