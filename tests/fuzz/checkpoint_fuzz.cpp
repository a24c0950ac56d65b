// Feeds changed checkpoint files to the readers of core/ckptfile: alone, and as a part of a folder that is inspected, verified and planned to be resumed.
#include <filesystem>
#include <fstream>

#include "core/base/scratch_folder.h"
#include "core/ckptfile/inspect.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/own_state.h"
#include "core/ckptfile/pickle_reader.h"
#include "core/ckptfile/pickle_writer.h"
#include "core/ckptfile/quick_look.h"
#include "core/ckptfile/resume_plan.h"
#include "core/ckptfile/states.h"
#include "core/ckptfile/stored_tensor.h"
#include "tests/fuzz/harness.h"
#include "tests/support/golden.h"
#include "tests/unit/ckptfile/small_checkpoint.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kLargestTensor = 1 << 20;      // bytes; larger ones are read in part

void write(const fs::path &path, const std::string &bytes) { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; }

void readTensors(const fs::path &file)
{
    const auto tensors = tensorsOf(file);
    if (!tensors)
        return fuzz::mustBeSentence(tensors.error());
    for (const StoredTensor &tensor : *tensors) {
        std::string part(static_cast<std::size_t>(std::min(tensor.bytes(), kLargestTensor)), '\0');
        const Status read = tensor.read(0, part.data(), static_cast<std::int64_t>(part.size()));
        if (!read)
            fuzz::mustBeSentence(read.error());
    }
}

void readPickleBytes(const std::string &bytes)
{
    const auto value = readPickle(bytes, "fuzzed.pkl");
    if (!value)
        return fuzz::mustBeSentence(value.error());
    if (const auto state = parseScheduler(*value, "fuzzed.pkl"); !state)
        fuzz::mustBeSentence(state.error());
    if (const auto state = parseSampler(*value, "fuzzed.pkl"); !state)
        fuzz::mustBeSentence(state.error());
    if (const auto state = parseParamGroups(*value, "fuzzed.pkl"); !state)
        fuzz::mustBeSentence(state.error());
}

void readText(const std::string &text)
{
    if (const auto counters = parseRunningStates(text, "fuzzed.json"); !counters)
        fuzz::mustBeSentence(counters.error());
    if (const auto own = parseOwnState(text, "fuzzed.json"); !own)
        fuzz::mustBeSentence(own.error());
    if (const auto manifest = parseManifest(text, "fuzzed.json"); !manifest)
        fuzz::mustBeSentence(manifest.error());
}

// A folder with one of its files changed; the others stay whole.
class FuzzedFolder
{
public:
    explicit FuzzedFolder(const fs::path &folder) : m_folder(folder)
    {
        for (const auto &entry : fs::recursive_directory_iterator(folder))
            if (entry.is_regular_file())
                m_files.push_back({entry.path(), fuzz::bytesOf(entry.path())});
        std::sort(m_files.begin(), m_files.end(), [](const File &a, const File &b) { return a.path < b.path; });
    }

    void read(const std::string &bytes, fuzz::Random &random)
    {
        const File &changed = m_files[random() % m_files.size()];
        // Half of the time the bytes are one of the folder's own files with the fuzzed text spliced in, so that most of it is still right.
        std::string content = bytes;
        if (random() % 2 && !changed.bytes.empty()) {
            content = changed.bytes;
            content.replace(random() % content.size(), bytes.size() % 64, bytes.substr(0, 64));
        }
        write(changed.path, content);
        lookAtAll();
        write(changed.path, changed.bytes);
    }

private:
    struct File { fs::path path; std::string bytes; };

    void lookAtAll()
    {
        InspectOptions options;
        options.readEverything = true;
        options.remember = false;
        if (const auto inspection = inspect(m_folder, options); !inspection)
            fuzz::mustBeSentence(inspection.error());
        if (const auto plan = resumePlan(m_folder.string(), nullptr); !plan)
            fuzz::mustBeSentence(plan.error());
        (void)quickLook(m_folder, parseCheckpointFolderName(m_folder.filename().string()).value_or(CheckpointName{}));
    }

    fs::path m_folder;
    std::vector<File> m_files;
};

std::vector<std::string> filesOf(const fs::path &folder, const std::string &ending)
{
    std::vector<std::string> all;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.file_size() < 200'000 && entry.path().string().ends_with(ending))
            all.push_back(fuzz::bytesOf(entry.path()));
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

int main(int argc, char **argv)
{
    const auto scratch = ScratchFolder::make("checkpoint-fuzz");
    if (!scratch)
        return 1;
    tests::SmallCheckpoint what;
    what.ema = true;
    FuzzedFolder folder(tests::writeSmallCheckpoint(scratch->path(), what));

    const auto throughFile = [&](const char *name) {
        return [file = scratch->path() / name](const std::string &bytes, fuzz::Random &) {
            write(file, bytes);
            readTensors(file);
        };
    };
    const fs::path golden = support::goldenFolder("ckpt");
    std::vector<std::string> pickles = {pickle2(paramGroups({}, 3)), pickle2(schedulerDict({})), pickle2(samplerDict({1, 2, 3})), pickledInt4(7)};
    std::vector<std::string> texts = filesOf(scratch->path(), ".json");
    for (const std::string &text : filesOf(golden, ".json"))
        texts.push_back(text);
    const std::vector<std::string> jsonWords = {"{", "}", "[", "]", ":", ",", "\"", "null", "true", "-1", "1e999", "9223372036854775808", "\"\\ud800\"", "\"path\":\"../../x\"", "[[[[[[[[", "\xff", std::string(1, '\0')};
    std::vector<std::string> headerWords = jsonWords;
    for (const char *word : {"\"__metadata__\"", "\"data_offsets\":[0,4]", "\"shape\":[4611686018427387904,4]", "\"dtype\":\"BF16\"", "\"F8_E4M3\"", "module."})
        headerWords.push_back(word);
    const std::vector<std::string> opcodes = {"\x80\x02", "\x80\x05", "(", ".", "0", "1", "2", "}", "]", ")", "l", "d", "t", "\x85", "\x86", "\x87", "s", "u", "e", "a", "R", "Q", "b", "q\x01", "h\x01", "r\xff\xff\xff\x7f", "j\x01\x02\x03\x04",
                                             "ccollections\nOrderedDict\n", "cos\nsystem\n", "ctorch._utils\n_rebuild_tensor_v2\n", "ctorch\nFloatStorage\n", "X\x04\x00\x00\x00" "abcd", "X\xff\xff\xff\xff", "\x8b\xff\xff\xff\xff", "\x8a\x08", "I99\n", "G", "K\x07", "N", "\x88", "\x89",
                                             "\x95\x10\x00\x00\x00\x00\x00\x00\x00", "\x8c\x05shape", "\x94", "\x93"};
    return fuzz::run(argc, argv, {{"safetensors", filesOf(golden, ".safetensors"), headerWords, throughFile("fuzzed.safetensors")},
                                  {"pt", filesOf(golden, ".pt"), opcodes, throughFile("fuzzed.pt")},
                                  {"pkl", pickles, opcodes, [](const std::string &bytes, fuzz::Random &) { readPickleBytes(bytes); }},
                                  {"json", texts, jsonWords, [](const std::string &text, fuzz::Random &) { readText(text); }},
                                  {"folder", texts, jsonWords, [&](const std::string &bytes, fuzz::Random &random) { folder.read(bytes, random); }, 20'000}});
}
