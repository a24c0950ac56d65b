#include "core/ckptfile/quick_look.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/ckptfile/input_file.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/safetensors.h"
#include "core/ckptfile/states.h"
#include "core/ckptfile/writer_log.h"
#include "core/ckptfile/zip_reader.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

void reject(ListedCheckpoint &checkpoint, Badge badge, const std::string &sentence)
{
    checkpoint.badge = badge;
    checkpoint.sentence = sentence;
}

void lookAtOurs(ListedCheckpoint &checkpoint)
{
    checkpoint.ours = true;
    auto manifest = readManifest(checkpoint.path);
    if (!manifest)
        return reject(checkpoint, Badge::Damaged, manifest.error().message());
    checkpoint.run = manifest->run;
    checkpoint.bytes = manifest->totalBytes();
    checkpoint.modified = manifest->created;
    checkpoint.step = manifest->step;
    checkpoint.epoch = manifest->epoch;
    for (const ManifestFile &file : manifest->files) {
        struct stat info {};
        if (::stat((checkpoint.path / file.path).c_str(), &info) != 0)
            return reject(checkpoint, Badge::Incomplete, file.path + " is missing");
        if (info.st_size != file.bytes)
            return reject(checkpoint, info.st_size < file.bytes ? Badge::Truncated : Badge::Damaged,
                          file.path + " has " + std::to_string(info.st_size) + " bytes, " + std::to_string(file.bytes) + " were written");
    }
    const auto last = lastComparison(checkpoint.path, *manifest);
    if (last.damage)
        return reject(checkpoint, Badge::Damaged, last.damage->sentence);
    checkpoint.badge = last.verified ? Badge::Verified : Badge::Unverified;
}

// Whether a safetensors file is as long as its header says, from the header's last data_offsets: writers put tensors in rising order. A
// header in another order makes this look wrong; then the full header is read.
std::string tailFault(const fs::path &path)
{
    auto input = InputFile::open(path);
    if (!input)
        return input.error().message();
    std::uint64_t length = 0;
    if ((*input)->size() < 8 || !(*input)->readAt(0, &length, 8) || length > static_cast<std::uint64_t>((*input)->size()) - 8)
        return path.filename().string() + " was cut short";
    const std::int64_t end = 8 + static_cast<std::int64_t>(length), piece = std::min<std::int64_t>(static_cast<std::int64_t>(length), 256);
    auto tail = (*input)->textAt(end - piece, piece);
    if (!tail)
        return tail.error().message();
    const std::size_t bracket = tail->rfind(']'), comma = bracket == std::string::npos ? bracket : tail->rfind(',', bracket);
    if (comma != std::string::npos && std::atoll(tail->c_str() + comma + 1) + end == (*input)->size())
        return {};
    auto whole = SafetensorsFile::open(path);
    return whole ? std::string() : whole.error().message();
}

// File names of the form *.safetensors or *.bin that an index text mentions, without parsing its thousands of entries.
std::set<std::string> shardsNamedIn(const std::string &index)
{
    std::set<std::string> names;
    for (const char *extension : {".safetensors\"", ".bin\""}) {
        for (std::size_t at = index.find(extension); at != std::string::npos; at = index.find(extension, at + 1)) {
            const std::size_t begin = index.rfind('"', at);
            if (begin != std::string::npos && index.find('/', begin) > at)
                names.insert(index.substr(begin + 1, at + std::string_view(extension).size() - begin - 2));
        }
    }
    return names;
}

std::string shardFault(const fs::path &folder)
{
    std::vector<fs::path> indexes;
    std::error_code failed;
    for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        if (globMatches("*.index.*json", entry->path().filename().string()))
            indexes.push_back(entry->path());
    }
    if (indexes.size() != 1)
        return folder.filename().string() + "/ has " + std::to_string(indexes.size()) + " index files instead of one";
    auto text = readFile(indexes[0], 256 << 20);
    if (!text)
        return text.error().message();
    if (trimmed(*text).empty() || trimmed(*text).back() != '}')
        return indexes[0].filename().string() + " was cut short";
    for (const std::string &shard : shardsNamedIn(*text)) {
        std::error_code ignored;
        if (!fs::exists(folder / shard, ignored))
            return folder.filename().string() + "/" + shard + " is missing";
        if (shard.ends_with(".safetensors")) {
            if (std::string fault = tailFault(folder / shard); !fault.empty())
                return fault;
        } else if (auto input = InputFile::open(folder / shard); !input || !ZipReader::open(*input)) {
            return folder.filename().string() + "/" + shard + " was cut short";
        }
    }
    return {};
}

void addSizes(ListedCheckpoint &checkpoint)
{
    std::error_code failed, ignored;
    for (auto entry = fs::recursive_directory_iterator(checkpoint.path, fs::directory_options::skip_permission_denied, failed);
         !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        if (entry->is_regular_file(ignored))
            checkpoint.bytes += static_cast<std::int64_t>(entry->file_size(ignored));
    }
}

void lookAtForeign(ListedCheckpoint &checkpoint)
{
    addSizes(checkpoint);
    std::error_code ignored;
    if (fs::exists(checkpoint.path / kOwnFolder, ignored))
        return reject(checkpoint, Badge::Incomplete, "stagewright/manifest.json is missing");
    if (checkpoint.bytes == 0)
        return reject(checkpoint, Badge::Incomplete, "the folder is empty");
    if (fs::exists(checkpoint.path / kLoraFolder, ignored) && !fs::exists(checkpoint.path / kModelFolder, ignored))
        return reject(checkpoint, Badge::Incomplete, "it is a LoRA checkpoint (lora/), which cannot be loaded yet; merge it into full weights with the program that wrote it");
    auto text = readFile(checkpoint.path / kRunningStatesFile, 1 << 20);
    if (!text)
        return reject(checkpoint, Badge::Incomplete, "running_states.json is missing or unreadable; its weights alone load with --model.from_pretrained");
    auto counters = parseRunningStates(*text, "running_states.json");
    if (!counters)
        return reject(checkpoint, Badge::Damaged, counters.error().message());
    checkpoint.step = counters->updates;
    checkpoint.epoch = counters->epoch;
    const Problems unfinished = unfinishedSave(checkpoint.path);
    if (const auto error = std::find_if(unfinished.begin(), unfinished.end(), [](const Problem &problem) { return problem.severity == Severity::Error; }); error != unfinished.end())
        return reject(checkpoint, Badge::Incomplete, error->message);
    for (const std::string_view part : {kModelFolder, kOptimizerFolder}) {
        if (!fs::exists(checkpoint.path / part, ignored)) {
            if (part == kModelFolder && !fs::exists(checkpoint.path / "model.safetensors", ignored) && !fs::exists(checkpoint.path / "model.pt", ignored))
                return reject(checkpoint, Badge::Incomplete, "there is no model/");
            continue;
        }
        if (std::string fault = shardFault(checkpoint.path / part); !fault.empty())
            return reject(checkpoint, fault.find("missing") != std::string::npos ? Badge::Incomplete : Badge::Truncated, fault);
    }
    for (const std::string_view file : {kMasterFile, kEmaFile}) {
        if (fs::exists(checkpoint.path / file, ignored)) {
            if (std::string fault = tailFault(checkpoint.path / file); !fault.empty())
                return reject(checkpoint, Badge::Truncated, fault);
        }
    }
    checkpoint.badge = Badge::Foreign;
}

} // namespace

ListedCheckpoint quickLook(const fs::path &path, CheckpointName name)
{
    ListedCheckpoint checkpoint;
    checkpoint.path = path;
    checkpoint.epoch = name.epoch;
    checkpoint.step = name.step;
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0)
        checkpoint.modified = static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) * 1e-9;
    if (hasManifest(path))
        lookAtOurs(checkpoint);
    else
        lookAtForeign(checkpoint);
    return checkpoint;
}

} // namespace stagewright::ckptfile
