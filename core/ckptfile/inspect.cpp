#include "core/ckptfile/inspect.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/finite.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/predecessor.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/soundness.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

bool existsIn(const fs::path &folder, std::string_view name)
{
    std::error_code ignored;
    return fs::exists(folder / name, ignored);
}

PathKind kindOfFolder(const fs::path &folder)
{
    if (existsIn(folder, kRunningStatesFile) || existsIn(folder, kManifestFile) || parseCheckpointFolderName(folder.filename().string()))
        return PathKind::Checkpoint;
    if (existsIn(folder, "adapter_config.json"))
        return PathKind::Lora;
    if (existsIn(folder, "run.json"))
        return PathKind::Run;
    std::error_code failed;
    bool shards = false, checkpoints = false;
    for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        shards = shards || globMatches("*.index.*json", name);
        checkpoints = checkpoints || parseCheckpointFolderName(name).has_value();
    }
    if (checkpoints)
        return PathKind::Run;
    return shards ? PathKind::ShardFolder : existsIn(folder, kModelFolder) ? PathKind::Checkpoint : PathKind::Unknown;
}

FileState stateOf(const Problem &problem)
{
    if (problem.code == "checkpoint.truncated")
        return FileState::Truncated;
    if (problem.code == "checkpoint.trailing-bytes")
        return FileState::TooLong;
    const bool lacksBytes = problem.code == "checkpoint.unfinished-save" || problem.code == "checkpoint.hole";
    return lacksBytes || problem.code.starts_with("checkpoint.missing") || problem.code == "env.missing-file" ? FileState::Missing : FileState::Damaged;
}

Badge badgeOf(const std::vector<InspectedFile> &files, const Problems &problems)
{
    bool missing = false, truncated = false, damaged = false;
    for (const InspectedFile &file : files) {
        missing = missing || file.state == FileState::Missing;
        truncated = truncated || file.state == FileState::Truncated;
        damaged = damaged || file.state == FileState::Damaged || file.state == FileState::TooLong;
    }
    for (const Problem &problem : problems) {
        if (problem.severity != Severity::Error)
            continue;
        const FileState state = stateOf(problem);
        missing = missing || state == FileState::Missing;
        truncated = truncated || state == FileState::Truncated;
        damaged = damaged || state == FileState::Damaged || state == FileState::TooLong;
    }
    return truncated ? Badge::Truncated : missing ? Badge::Incomplete : damaged ? Badge::Damaged : Badge::Complete;
}

class Inspector
{
public:
    Inspector(fs::path path, const InspectOptions &options) : m_options(options) { m_result.path = std::move(path); }

    Result<Inspection> run()
    {
        std::error_code failed;
        const auto status = fs::status(m_result.path, failed);
        if (!fs::exists(status))
            return ioError("inspect", m_result.path, failed ? failed.value() : ENOENT);
        Status done = fs::is_directory(status) ? inspectFolder() : inspectFile();
        if (!done)
            return done.error();
        std::stable_sort(m_result.problems.begin(), m_result.problems.end(), [](const Problem &a, const Problem &b) { return a.severity < b.severity; });
        for (const InspectedFile &file : m_result.files) {
            m_result.bytes += file.bytes;
            if (m_result.tensors == 0 || file.tensors > 0)
                m_result.tensors += file.tensors;
        }
        return std::move(m_result);
    }

private:
    Status inspectFolder()
    {
        m_result.kind = kindOfFolder(m_result.path);
        switch (m_result.kind) {
        case PathKind::Checkpoint: return inspectCheckpoint();
        case PathKind::Run: return inspectRun();
        case PathKind::ShardFolder: return inspectShards();
        case PathKind::Lora:
            problem(Severity::Warning, "checkpoint.lora", m_result.path.string() + " is a LoRA adapter, which is recognised but cannot be loaded yet");
            listFiles(m_result.path);
            m_result.badge = Badge::Foreign;
            return Done{};
        default:
            problem(Severity::Error, "checkpoint.unknown", m_result.path.string() + " holds no checkpoint, no run and no weights; give a folder like outputs/RUN or outputs/RUN/epoch0-global_step100");
            return Done{};
        }
    }

    Status inspectFile()
    {
        m_result.kind = m_result.path.extension() == ".safetensors" ? PathKind::Safetensors : PathKind::TorchArchive;
        InspectedFile file;
        file.path = m_result.path.filename().string();
        std::error_code ignored;
        file.bytes = static_cast<std::int64_t>(fs::file_size(m_result.path, ignored));
        Status whole = readOne(m_result.path, file);
        if (!whole)
            return whole.error();
        if (file.state != FileState::Good && m_result.kind == PathKind::TorchArchive && m_result.problems.back().message.find("not a torch.save archive") != std::string::npos)
            m_result.kind = PathKind::Unknown;
        m_result.files.push_back(std::move(file));
        conclude(Badge::Foreign);
        m_result.badge = m_result.complete ? (m_options.readEverything ? Badge::Verified : Badge::Complete) : m_result.badge;
        m_result.verified = m_result.complete && m_options.readEverything;
        return Done{};
    }

    // Header, and with readEverything the values. Only a cancel is an error; faults of the file become problems.
    Status readOne(const fs::path &path, InspectedFile &file)
    {
        std::vector<StoredTensor> tensors;
        std::optional<Error> fault;
        if (path.extension() == ".safetensors") {
            if (auto opened = tensorsOfFile(path))
                tensors = std::move(*opened);
            else
                fault = opened.error();
        } else {
            auto archive = TorchArchive::open(path);
            if (!archive)
                fault = archive.error();
            else if (Status entries = m_options.readEverything ? (*archive)->checkEverything() : Status(Done{}); !entries)
                fault = entries.error();
            else
                countTensors((*archive)->root(), file.tensors);
        }
        if (fault) {
            file.state = stateOf(fault->problem);
            file.sentence = fault->message();
            m_result.problems.push_back(fault->problem);
            return Done{};
        }
        if (!tensors.empty())
            file.tensors = static_cast<std::int64_t>(tensors.size());
        return m_options.readEverything ? lookAtValues(tensors) : Status(Done{});
    }
    static void countTensors(const PickleValue &value, std::int64_t &count)
    {
        count += value.kind == PickleValue::Kind::Tensor;
        for (const PickleValue &item : value.items)
            countTensors(item, count);
    }

    // NaN and infinities; only a cancel is an error.
    Status lookAtValues(const std::vector<const StoredTensor *> &tensors)
    {
        const auto found = findNotFinite(tensors, m_options.progress);
        if (!found && found.error().problem.code == cancelled(m_result.path).problem.code)
            return cancelled(m_result.path);
        if (!found) {
            m_result.problems.push_back(found.error().problem);
            return Done{};
        }
        for (const NotFinite &one : *found)
            m_result.problems.push_back(notFinite(one).problem);
        return Done{};
    }
    Status lookAtValues(const std::vector<StoredTensor> &tensors)
    {
        std::vector<const StoredTensor *> all;
        for (const StoredTensor &tensor : tensors)
            all.push_back(&tensor);
        return lookAtValues(all);
    }

    Status inspectCheckpoint()
    {
        if (const auto name = parseCheckpointFolderName(m_result.path.filename().string())) {
            m_result.epoch = name->epoch;
            m_result.step = name->step;
        }
        auto contents = openCheckpoint(m_result.path);
        if (!contents)
            return contents.error();
        if (contents->counters) {
            m_result.epoch = contents->counters->epoch;
            m_result.step = contents->counters->updates;
        }
        m_result.ours = contents->manifest.has_value();
        m_result.problems = contents->problems;
        if (m_result.ours) {
            if (Status compared = compareManifest(*contents->manifest); !compared)
                return compared;
        } else {
            listFiles(m_result.path);
            blameFiles();
        }
        countPerFile(*contents);
        warnWhenIdentical();
        if (m_options.readEverything) {
            if (Status values = readValues(*contents); !values)
                return values;
        }
        conclude(Badge::Foreign);
        if (m_result.ours && m_result.complete)
            concludeOurs(*contents->manifest);
        else if (m_result.ours && m_options.readEverything && m_options.remember)
            rememberDamage(*contents->manifest);
        else if (m_result.complete && m_options.readEverything)
            m_result.verified = true;
        return Done{};
    }

    Status compareManifest(const Manifest &manifest)
    {
        if (m_options.readEverything) {
            auto files = compareHashes(m_result.path, manifest, m_options.progress);
            if (!files)
                return files.error();
            m_result.files = std::move(*files);
        } else {
            m_result.files = compareSizes(m_result.path, manifest);
            m_last = lastComparison(m_result.path, manifest);
            recallDamage();
        }
        for (const InspectedFile &file : m_result.files) {
            if (file.state != FileState::Good) {
                const bool foreign = file.state == FileState::Foreign;
                const char *code = foreign ? "checkpoint.foreign-file" : file.state == FileState::Missing ? "checkpoint.missing-file"
                    : file.state == FileState::Truncated                                                  ? "checkpoint.truncated"
                                                                                                          : "checkpoint.damaged-file";
                problem(foreign ? Severity::Warning : Severity::Error, code, file.sentence, (m_result.path / file.path).string());
            }
        }
        return Done{};
    }

    // A read-only folder does not keep it, nor one that lacks a file: the latter shows at every look.
    void rememberDamage(const Manifest &manifest)
    {
        const auto fault = std::find_if(m_result.problems.begin(), m_result.problems.end(), [](const Problem &problem) { return problem.severity == Severity::Error; });
        if (fault != m_result.problems.end())
            (void)markDamaged(m_result.path, manifest, {fs::path(fault->file).lexically_relative(m_result.path).string(), fault->message});
    }

    // What a comparison of every byte found earlier.
    void recallDamage()
    {
        const auto &damage = m_last.damage;
        if (!damage)
            return;
        const auto file = std::find_if(m_result.files.begin(), m_result.files.end(), [&](const InspectedFile &one) { return one.path == damage->path; });
        if (file == m_result.files.end())
            return problem(Severity::Error, "checkpoint.damaged-file", damage->sentence);      // of the whole: values that are not finite
        if (file->state == FileState::Good) {
            file->state = FileState::Damaged;
            file->sentence = damage->sentence;
        }
    }

    void warnWhenIdentical()
    {
        if (const auto twin = identicalPredecessor(m_result.path, m_options.readEverything))
            problem(Severity::Warning, "checkpoint.identical", "its weights are bit for bit those of " + twin->filename().string() + ": nothing was learned in between (is the learning rate 0, or everything frozen?)");
    }

    void listFiles(const fs::path &folder)
    {
        std::error_code failed, ignored;
        for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, failed);
             !failed && entry != fs::recursive_directory_iterator() && m_result.files.size() < 100'000; entry.increment(failed)) {
            if (!entry->is_regular_file(ignored))
                continue;
            InspectedFile file;
            file.path = entry->path().lexically_relative(folder).string();
            file.bytes = static_cast<std::int64_t>(entry->file_size(ignored));
            m_result.files.push_back(std::move(file));
        }
        std::sort(m_result.files.begin(), m_result.files.end(), [](const InspectedFile &a, const InspectedFile &b) { return a.path < b.path; });
    }

    // Problems name their file; the file's entry gets the state, and a missing one an entry of its own.
    void blameFiles()
    {
        for (const Problem &fault : m_result.problems) {
            if (fault.severity != Severity::Error || fault.file.empty() || fault.file == m_result.path.string())
                continue;
            const std::string relative = fs::path(fault.file).lexically_relative(m_result.path).string();
            const auto found = std::find_if(m_result.files.begin(), m_result.files.end(), [&](const InspectedFile &file) { return file.path == relative; });
            InspectedFile &file = found != m_result.files.end() ? *found : m_result.files.emplace_back();
            file.path = relative;
            file.state = stateOf(fault);
            file.sentence = fault.message;
        }
    }

    void countPerFile(const Contents &contents)
    {
        std::map<std::string, std::int64_t> counts;
        const auto count = [&](const StoredTensor &tensor) { ++counts[tensor.file().lexically_relative(m_result.path).string()]; };
        for (const auto *part : {&contents.weights, &contents.ema, &contents.master, &contents.extras})
            std::for_each(part->begin(), part->end(), count);
        for (const auto &[index, entry] : contents.optimizer) {
            for (const auto *moment : {&entry.expAvg, &entry.expAvgSq}) {
                if (*moment)
                    count(**moment);
            }
            if (entry.step && entry.expAvg && entry.expAvg->file().extension() == ".safetensors")
                count(*entry.expAvg);        // `step` is a byte tensor of its own there
        }
        for (InspectedFile &file : m_result.files)
            file.tensors = counts[file.path];
    }

    Status readValues(const Contents &contents)
    {
        if (Status values = lookAtValues(valuesOf(contents)); !values)
            return values;
        if (m_result.ours)
            return Done{};
        for (InspectedFile &file : m_result.files) {
            const fs::path path = m_result.path / file.path;
            if (file.state != FileState::Good || !isTorchArchive(path))
                continue;
            if (Status whole = checkArchive(path); !whole) {
                file.state = stateOf(whole.error().problem);
                file.sentence = whole.error().message();
                m_result.problems.push_back(whole.error().problem);
            }
        }
        return Done{};
    }

    void concludeOurs(const Manifest &manifest)
    {
        if (m_options.readEverything) {
            m_result.verified = true;
            if (m_options.remember)
                (void)markVerified(m_result.path, manifest);     // a read-only folder is as good; then it is not remembered
        } else {
            m_result.verified = m_last.verified;
        }
        m_result.badge = m_result.verified ? Badge::Verified : Badge::Unverified;
    }

    void conclude(Badge whenWhole)
    {
        m_result.badge = badgeOf(m_result.files, m_result.problems);
        m_result.complete = m_result.badge == Badge::Complete;
        if (m_result.complete)
            m_result.badge = whenWhole;
    }

    Status inspectShards()
    {
        listFiles(m_result.path);
        auto tensors = tensorsOfShards(m_result.path);
        if (tensors) {
            m_result.tensors = static_cast<std::int64_t>(tensors->size());
            if (Status values = m_options.readEverything ? lookAtValues(*tensors) : Status(Done{}); !values)
                return values;
        } else {
            m_result.problems.push_back(tensors.error().problem);
            blameFiles();
        }
        conclude(Badge::Foreign);
        m_result.verified = m_result.complete && m_options.readEverything;
        return Done{};
    }

    Status inspectRun()
    {
        auto listed = listCheckpoints(m_result.path);
        if (!listed)
            return listed.error();
        bool any = false;
        for (const ListedCheckpoint &checkpoint : *listed) {
            m_result.checkpoints.push_back(checkpoint.path);
            const bool whole = checkpoint.badge == Badge::Verified || checkpoint.badge == Badge::Unverified || checkpoint.badge == Badge::Foreign || checkpoint.badge == Badge::Complete;
            InspectedFile file;
            file.path = checkpoint.path.filename().string();
            file.bytes = checkpoint.bytes;
            file.state = whole ? FileState::Good : checkpoint.badge == Badge::Truncated ? FileState::Truncated : checkpoint.badge == Badge::Incomplete ? FileState::Missing : FileState::Damaged;
            file.sentence = checkpoint.sentence;
            m_result.files.push_back(std::move(file));
            if (!whole)
                problem(Severity::Warning, "checkpoint.incomplete", checkpoint.path.string() + ": " + checkpoint.sentence);
            else if (!any) {
                any = true;
                m_result.step = checkpoint.step;
                m_result.epoch = checkpoint.epoch;
                m_result.verified = checkpoint.badge == Badge::Verified;
                m_result.ours = checkpoint.ours;
                m_result.badge = checkpoint.badge;
            }
        }
        m_result.complete = any;
        if (!any)
            problem(Severity::Warning, "checkpoint.none", m_result.path.string() + " has no whole checkpoint yet");
        return Done{};
    }

    void problem(Severity severity, const char *code, const std::string &message, const std::string &file = {})
    {
        Problem fault;
        fault.severity = severity;
        fault.code = code;
        fault.message = message;
        fault.file = file.empty() ? m_result.path.string() : file;
        m_result.problems.push_back(std::move(fault));
    }

    const InspectOptions &m_options;
    Inspection m_result;
    LastComparison m_last;               // of a checkpoint of ours that is not read whole now
};

} // namespace

Result<Inspection> inspect(const fs::path &path, const InspectOptions &options)
{
    return Inspector(path, options).run();
}

nlohmann::json toJson(const Inspection &inspection)
{
    nlohmann::json json{{"kind", kindName(inspection.kind)}, {"badge", badgeName(inspection.badge)}, {"complete", inspection.complete}, {"verified", inspection.verified},
        {"path", inspection.path.string()}, {"tensors", inspection.tensors}, {"bytes", inspection.bytes}, {"step", nullptr}, {"epoch", nullptr}, {"files", nlohmann::json::array()}};
    if (inspection.step)
        json["step"] = *inspection.step;
    if (inspection.epoch)
        json["epoch"] = *inspection.epoch;
    for (const InspectedFile &file : inspection.files)
        json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}, {"state", stateName(file.state)}});
    json["problems"] = stagewright::toJson(inspection.problems);
    return json;
}

} // namespace stagewright::ckptfile
