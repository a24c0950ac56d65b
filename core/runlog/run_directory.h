// The folder of a run: its name, the files in it, its creation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::runlog {

// Open-Sora's default name: local time and the config's path without "configs/" and its ending, '/' as '_': "250101_120000-diffusion_train_stage1".
std::string defaultRunName(const std::filesystem::path &configFile, double wallSeconds);

// Makes {outputs}/{name}; a name that is taken gets "-2", "-3", … Atomic: two launches at once get two folders. The name is a plain
// file name; one that is not ("a/b", "..", empty) is an error.
Result<std::filesystem::path> createRunFolder(const std::filesystem::path &outputs, const std::string &name);

// run.json.
struct RunIdentity {
    std::string id;                        // unique: 16 hexadecimal digits
    std::string name;                      // of the folder when the run was made
    std::string programVersion;
    std::vector<std::string> commandLine;  // as the worker was started
    std::string stageFile;                 // what the user opened; empty for a stage made in memory
    std::string configHash;                // XXH3-64 of config.yaml
    std::string datasetFingerprint;        // known once the data is open
    std::string device;                    // known once it is chosen
    double started = 0;                    // seconds since 1970
    std::string parent;                    // run folder that this one resumes, empty for a new run
    std::string loadedFrom;                // checkpoint that it started from, empty for none
    std::string host;
};
std::string newRunId();
Status writeIdentity(const std::filesystem::path &runFolder, const RunIdentity &identity);
Result<RunIdentity> readIdentity(const std::filesystem::path &runFolder);
bool isRunFolder(const std::filesystem::path &folder);     // has a run.json

// The three forms of the resolved config.
struct ConfigFiles {
    std::string yaml;                      // config.yaml: config::toYaml of the values
    std::string originsJson;               // origins.json
    std::string originalText;              // config.txt, as the original writes it (JSON, indent 4)
};
Status writeConfigFiles(const std::filesystem::path &runFolder, const ConfigFiles &files);

std::filesystem::path identityPath(const std::filesystem::path &runFolder);
std::filesystem::path configPath(const std::filesystem::path &runFolder);
std::filesystem::path originsPath(const std::filesystem::path &runFolder);
std::filesystem::path historyPath(const std::filesystem::path &runFolder);
std::filesystem::path badClipsPath(const std::filesystem::path &runFolder);        // bad_clips.jsonl: clips that could not be used (core/data/quarantine.h)
std::filesystem::path logPath(const std::filesystem::path &runFolder);
std::filesystem::path consolePath(const std::filesystem::path &runFolder);         // console.log: what the process and its libraries printed
std::filesystem::path tensorboardFolder(const std::filesystem::path &runFolder);

} // namespace stagewright::runlog
