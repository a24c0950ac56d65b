// Feeds changed configs to the readers, writers and editors of core/config for a bounded time: no crash, no hang, bounded memory, and
// what is accepted can be written and read back. Best built with -DSTAGEWRIGHT_SANITIZE=address,undefined.
//
//   STAGEWRIGHT_FUZZ_SECONDS   how long (default 5)
//   STAGEWRIGHT_FUZZ_SEED      another sequence (default 1)
//   config_fuzz FILE…          reads these files only, to look at a failure again
//
// The input that failed is left as fuzz-failure.py or .yaml in the working folder.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "core/base/files.h"
#include "core/config/comment_map.h"
#include "core/config/document.h"
#include "core/config/stage.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

constexpr unsigned kSecondsForOne = 20;         // far above what one input may take, sanitizers and a busy machine included
constexpr long kMostMegabytes = 3000;           // of resident memory, sanitizers included

std::string g_input;
const char *g_failureFile = "fuzz-failure.py";

// Async-signal-safe: only system calls.
void leaveInput()
{
    if (FILE *file = std::fopen(g_failureFile, "wb")) {
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

[[noreturn]] void fail(const std::string &what)
{
    leaveInput();
    std::fprintf(stderr, "%s; the input is in %s\n", what.c_str(), g_failureFile);
    std::exit(1);
}

int depthOf(const Value &value)
{
    int deepest = 0;
    if (value.isSequence()) {
        for (const Value &item : value.items())
            deepest = std::max(deepest, depthOf(item));
    } else if (value.isDict()) {
        for (const auto &[key, item] : value.dict())
            deepest = std::max(deepest, depthOf(item));
    }
    return deepest + 1;
}

void mustReadBack(const LoadedConfig &loaded)
{
    const Value all = Value::dict(loaded.values);
    const std::string spelled = toPython(all);
    if (depthOf(all) > 60 || spelled.size() > (1u << 20))
        return;
    const auto literal = parseLiteral(spelled);
    if (!literal || toPython(*literal) != spelled)
        fail("the Python spelling of the values does not read back: " + (literal ? toPython(*literal) : literal.error().message()).substr(0, 300));
    const auto yaml = loadDocumentText(toYaml(loaded.values), {}, Format::Yaml);
    if (!yaml || toPython(Value::dict(yaml->values)) != spelled)
        fail("the YAML of the values does not read back: " + (yaml ? toPython(Value::dict(yaml->values)) : yaml.error().message()).substr(0, 300));
}

void mustEdit(const std::string &text, const LoadedConfig &loaded, Format format, std::mt19937 &random)
{
    TextDocument document(text, format);
    if (document.text() != text)
        fail("an unedited text changed");
    if (loaded.values.empty())
        return;
    auto entry = loaded.values.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(random() % loaded.values.size()));
    std::string path = entry->first.text();
    if (entry->second.isDict() && !entry->second.dict().empty() && random() % 2)
        path += "." + entry->second.dict().begin()->first.text();
    switch (random() % 4) {
    case 0: (void)document.removeKey(path).ok(); break;
    case 1: (void)document.renameKey(path, "renamed_key").ok(); break;
    default: {
        if (!document.setValue(path, "(1, 'fresh')"))
            return;
        const auto again = loadDocumentText(document.text(), {}, format);
        if (!again)
            return;                              // a base that is missing here, or another value that needs the old one
        const Value *value = lookUp(again->values, path);
        const bool simplePath = path.find('.') == path.rfind('.') && entry->first.text().find('.') == std::string::npos;
        if (format == Format::Yaml && simplePath && value && toPython(*value) != "(1, 'fresh')")
            fail("an edit of `" + path + "` did not arrive");
    }
    }
}

void tryOne(const std::string &text, Format format, const std::filesystem::path &folder, std::mt19937 &random)
{
    g_input = text;
    g_failureFile = format == Format::Python ? "fuzz-failure.py" : "fuzz-failure.yaml";
    alarm(kSecondsForOne);
    const auto loaded = loadDocumentText(text, folder / (format == Format::Python ? "fuzzed.py" : "fuzzed.yaml"), format);
    if (loaded) {
        mustReadBack(*loaded);
        mustEdit(text, *loaded, format, random);
    } else if (loaded.error().message().empty() || loaded.error().message().find('\n') != std::string::npos) {
        fail("a refusal that is not one sentence: " + loaded.error().message());
    }
    (void)CommentMap::make(text, "fuzzed", format).ok();
    (void)TextDocument(text, format).lineOf("model.depth");
    if (text.size() < 200)
        (void)parseLiteral(text).ok();
    alarm(0);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss / 1024 > kMostMegabytes)
        fail("the program took " + std::to_string(usage.ru_maxrss / 1024) + " MiB of memory");
}

class Mutator
{
public:
    Mutator(std::vector<std::string> corpus, std::mt19937 &random) : m_corpus(std::move(corpus)), m_random(random) {}

    std::string next()
    {
        std::string text = pick(m_corpus);
        for (int i = 1 + below(6); i > 0 && text.size() < 100'000; --i)
            mutate(text);
        return text;
    }

private:
    int below(std::size_t limit) { return limit ? static_cast<int>(m_random() % limit) : 0; }
    const std::string &pick(const std::vector<std::string> &list) { return list[static_cast<std::size_t>(below(list.size()))]; }

    void mutate(std::string &text)
    {
        static const std::vector<std::string> words = {
            "(", ")", "[", "]", "{", "}", ":", ",", "=", "\n", "\r\n", " ", "\t", "#", "'", "\"", "\"\"\"", "'''", "\\", "f'{", "}'", "**", "*", "//", "%", "<<", ">>", "-", "~",
            "not ", " in ", " is ", " if ", " else ", " for x in ", " and ", "lambda:", "dict(", "range(", "len(", "sum(", "round(", "sorted(", "list(", "zip(", "int(", "str(",
            "_base_", "_base_ = ['root.py']\n", "{{_base_.lr}}", "{{ fileDirname }}", "{{$HOME:x}}", "{{", "}}", "_delete_", "None", "True", "9**9**9", "0x", "1e999", "1_0", "-0.0",
            "9223372036854775807", "9223372036854775808", "'a' * 99999", "[0] * 99999", "!tuple ", "!!str ", "&a ", "*a", "- ", "? ", "|\n", ">-\n", "---\n", "...\n", "%YAML 1.2\n", "<<: ",
            "~", ".inf", ".nan", "\xef\xbb\xbf", "\xff\xfe", std::string(1, '\0'), "\xc2\x85", "\xe2\x80\xa8", "\xee\x80\x80", "\xe5\xad\xa6", "import os\n", "del ", "+= 1", " = a = ", "; "};
        const auto at = static_cast<std::size_t>(below(text.size() + 1));
        const auto length = std::min<std::size_t>(static_cast<std::size_t>(below(24)), text.size() - at);
        switch (below(9)) {
        case 0: text.insert(at, pick(words)); break;
        case 1: text.insert(at, pick(words) + pick(words)); break;
        case 2: text.erase(at, length); break;
        case 3:
            if (!text.empty())
                text[std::min(at, text.size() - 1)] = static_cast<char>(below(256));
            break;
        case 4: text.insert(at, text.substr(at, length)); break;
        case 5: {
            const std::string &other = pick(m_corpus);
            const auto from = static_cast<std::size_t>(below(other.size() + 1));
            text.insert(at, other.substr(from, static_cast<std::size_t>(below(200))));
            break;
        }
        case 6: {
            std::string piece = pick(words), many;
            for (int i = 1 << below(13); i > 0; --i)
                many += piece;
            text.insert(at, many);
            break;
        }
        case 7: text.resize(at); break;
        default: text.replace(at, length, pick(words)); break;
        }
    }

    std::vector<std::string> m_corpus;
    std::mt19937 &m_random;
};

// The golden files, their values in YAML, and what is nasty by itself.
void fillCorpora(const std::filesystem::path &files, std::vector<std::string> &python, std::vector<std::string> &yaml)
{
    for (const auto &entry : std::filesystem::recursive_directory_iterator(files)) {
        if (entry.path().extension() != ".py")
            continue;
        if (const auto text = readFile(entry.path()))
            python.push_back(*text);
        if (const auto loaded = loadDocument(entry.path()))
            yaml.push_back(toYaml(loaded->values));
    }
    for (const char *text : {"x = [i * j for i in range(9) for j in [1, 2] if i % 2]\n", "x = f'{3:>5}|{0.5!r:>{3}}'\n", "a, *b = 1, 2, 3\nd = {'k': 1, **{'z': a}}\nd['k'] += 2\ndel d['z']\n",
             "x = 'a%s' % 3 + r'\\n' '''t\n''' \"\\u5b66\"\nx: int = -2 ** 63\n", "x = (1 if True else 2, not 0, 1 < 2 < 3, [1, 2][::-1], {}, ())\n", "x = 1; y = x // -3 % 2 ** 2 ** 1 << 2 | 3 & ~4 ^ 5\n"})
        python.push_back(text);
    for (const char *text : {"a: &a [1, 2]\nb: [*a, *a]\nc: {<<: {x: 1}, y: *a}\n", "x: |\n  text # no\n  more\ny: >-\n  folded\n  text\nz: 'it''s'\n", "? a\n: b\n\"k\": \"q\\u5b66\"\n- no\n",
             "{\"json\": [1, 2.5e-3, null, true, {\"a\": \"b\"}]}\n", "x: !tuple [1, !tuple [2]]\nf: 1e-5 # c\nr: {{_base_.lr}}\n", "deep:\n  - a: 1\n    b:\n    - 2\n    -\n  - {}\nn:\n"})
        yaml.push_back(text);
}

} // namespace

int main(int argc, char **argv)
{
    for (int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT})
        std::signal(signal, onSignal);
    const auto number = [](const char *name, double fallback) {
        const char *text = std::getenv(name);
        return text ? std::atof(text) : fallback;
    };
    std::mt19937 random(static_cast<unsigned>(number("STAGEWRIGHT_FUZZ_SEED", 1)));
    const auto files = support::goldenFolder("config") / "files";
    if (argc > 1) {
        for (int i = 1; i < argc; ++i) {
            const auto text = readFile(argv[i]);
            if (!text)
                return 1;
            tryOne(*text, formatOf(argv[i]), files, random);
        }
        return 0;
    }
    std::vector<std::string> python, yaml;
    fillCorpora(files, python, yaml);
    if (python.size() < 8 || yaml.size() < 8) {
        std::fprintf(stderr, "no seeds in %s\n", files.c_str());
        return 1;
    }
    for (const std::string &text : python)
        tryOne(text, Format::Python, files, random);
    for (const std::string &text : yaml)
        tryOne(text, Format::Yaml, files, random);
    Mutator pythons(python, random), yamls(yaml, random);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(number("STAGEWRIGHT_FUZZ_SECONDS", 5));
    long count = 0;
    while (std::chrono::steady_clock::now() < end) {
        tryOne(pythons.next(), Format::Python, files, random);
        tryOne(yamls.next(), Format::Yaml, files, random);
        count += 2;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%ld inputs, at most %ld MiB of memory\n", count, usage.ru_maxrss / 1024);
    return 0;
}
