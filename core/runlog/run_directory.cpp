#include "core/runlog/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <random>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"

namespace stagewright::runlog {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxNameBytes = 200;             // leaves room for "-2" and for the names of temporary files within 255
constexpr int kMaxSuffix = 10'000;

void removeAll(std::string &text, std::string_view part)
{
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
}

// The part of a config's path that names a run. The original is always called with a path relative to its clone; a path that is not below
// the current folder contributes what follows "configs/", or else its file name.
std::string namingPart(const fs::path &configFile)
{
    if (configFile.is_relative())
        return configFile.generic_string();
    std::error_code failed;
    const fs::path here = fs::current_path(failed);
    const fs::path below = failed ? fs::path() : configFile.lexically_relative(here);
    if (!below.empty() && *below.begin() != "..")
        return below.generic_string();
    const std::string whole = configFile.generic_string();
    const auto at = whole.rfind("/configs/");
    return at == std::string::npos ? configFile.filename().string() : whole.substr(at + 1);
}

} // namespace

void fields(events::Is<RunIdentity> auto &r, auto &visit)
{
    visit("id", r.id);
    visit("name", r.name);
    visit("program_version", r.programVersion);
    visit("command_line", r.commandLine);
    visit("stage_file", r.stageFile);
    visit("config_hash", r.configHash);
    visit("dataset_fingerprint", r.datasetFingerprint);
    visit("device", r.device);
    visit("started", r.started);
    visit("parent", r.parent);
    visit("loaded_from", r.loadedFrom);
    visit("host", r.host);
}

std::string defaultRunName(const fs::path &configFile, double wallSeconds)
{
    const auto seconds = static_cast<std::time_t>(wallSeconds);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%y%m%d_%H%M%S", &local);

    std::string name = namingPart(configFile);
    for (const char *part : {"configs/", ".py", ".yaml", ".yml"})
        removeAll(name, part);
    while (name.rfind("./", 0) == 0)
        name.erase(0, 2);
    for (char &c : name) {
        if (c == '/')
            c = '_';
    }
    const std::string whole = std::string(stamp) + "-" + name;
    return whole.size() <= kMaxNameBytes ? whole : std::string(stamp) + "-" + name.substr(name.size() - (kMaxNameBytes - 20));
}

Result<fs::path> createRunFolder(const fs::path &outputs, const std::string &name)
{
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
        return Error(ExitCode::Usage, "run.bad-name", "\"" + name + "\" cannot be the name of a run folder; set exp_name to a plain name without '/'");
    if (name.size() > kMaxNameBytes)
        return Error(ExitCode::Usage, "run.bad-name", "the run's name is longer than " + std::to_string(kMaxNameBytes) + " bytes; set a shorter exp_name");
    if (auto made = ensureFolder(outputs); !made)
        return made.error();
    for (int suffix = 1; suffix < kMaxSuffix; ++suffix) {
        const fs::path folder = outputs / (suffix == 1 ? name : name + "-" + std::to_string(suffix));
        if (::mkdir(folder.c_str(), 0777) == 0)
            return fs::absolute(folder).lexically_normal();
        if (errno != EEXIST)
            return ioError("create the run folder", folder, errno);
    }
    return Error(ExitCode::InputOutput, "run.no-name-left",
                 "there are " + std::to_string(kMaxSuffix) + " runs named " + name + " in " + outputs.string() + "; set another exp_name or outputs folder");
}

std::string newRunId()
{
    std::random_device device;
    char text[17];
    std::snprintf(text, sizeof text, "%08x%08x", device(), device());
    return text;
}

Status writeIdentity(const fs::path &runFolder, const RunIdentity &identity)
{
    return replaceFile(identityPath(runFolder), nlohmann::ordered_json::parse(events::toJsonObject(identity)).dump(2) + "\n");
}

Result<RunIdentity> readIdentity(const fs::path &runFolder)
{
    const fs::path file = identityPath(runFolder);
    auto text = readFile(file, 1 << 20);
    if (!text)
        return text.error();
    RunIdentity identity;
    if (const auto wrong = events::fromJsonObject(*text, identity)) {
        return Error(ExitCode::InputOutput, "run.bad-identity",
                     file.string() + " does not describe a run: " + *wrong + "; the run's other files can still be read", file.string());
    }
    return identity;
}

bool isRunFolder(const fs::path &folder)
{
    std::error_code ignored;
    return fs::is_regular_file(identityPath(folder), ignored);
}

Status writeConfigFiles(const fs::path &runFolder, const ConfigFiles &files)
{
    for (const auto &[path, text] : {std::pair{configPath(runFolder), &files.yaml}, {originsPath(runFolder), &files.originsJson},
                                     {runFolder / "config.txt", &files.originalText}}) {
        if (auto written = replaceFile(path, *text); !written)
            return written;
    }
    return Done{};
}

fs::path identityPath(const fs::path &runFolder) { return runFolder / "run.json"; }
fs::path configPath(const fs::path &runFolder) { return runFolder / "config.yaml"; }
fs::path originsPath(const fs::path &runFolder) { return runFolder / "origins.json"; }
fs::path historyPath(const fs::path &runFolder) { return runFolder / "events.jsonl"; }
fs::path badClipsPath(const fs::path &runFolder) { return runFolder / "bad_clips.jsonl"; }
fs::path logPath(const fs::path &runFolder) { return runFolder / "train.log"; }
fs::path consolePath(const fs::path &runFolder) { return runFolder / "console.log"; }
fs::path tensorboardFolder(const fs::path &runFolder) { return runFolder / "tensorboard"; }

} // namespace stagewright::runlog
