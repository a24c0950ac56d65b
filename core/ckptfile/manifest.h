// stagewright/manifest.json: the list of a checkpoint's files with sizes and hashes. Its presence, whole, says that every byte was written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::ckptfile {

inline constexpr int kManifestVersion = 1;

struct ManifestFile {
    std::string path;                    // relative, '/' between parts
    std::int64_t bytes = 0;
    std::string hash;                    // XXH3-128 of the content, 32 hex digits
    bool operator==(const ManifestFile &) const = default;
};

struct Manifest {
    int version = kManifestVersion;
    std::string program;                 // "stagewright 0.1.0"
    double created = 0;                  // seconds since 1970
    std::string run;                     // run id
    std::int64_t step = 0, epoch = 0;    // updates; running epoch
    std::string dtype;
    int worldSize = 1;
    std::string datasetFingerprint;
    std::int64_t tensors = 0;            // in all safetensors files of the checkpoint
    std::string checksum;                // of the text it was read from; empty for one made in memory
    std::vector<ManifestFile> files;     // without the manifest itself and verified.json
    std::int64_t totalBytes() const;
};

std::string toJsonText(const Manifest &manifest);        // ends with a checksum over the rest
// Error (exit Checkpoint): missing, cut short, altered, or of a newer version.
Result<Manifest> parseManifest(const std::string &text, const std::string &file);
Result<Manifest> readManifest(const std::filesystem::path &checkpoint);
bool hasManifest(const std::filesystem::path &checkpoint);

// verified.json: how the last comparison of every byte came out. It names the manifest's checksum and each file's size and modification
// time, so a file that was touched later makes it void.
struct RecordedDamage {
    std::string path, sentence;          // of the first file that was not as written
};
Status markVerified(const std::filesystem::path &checkpoint, const Manifest &manifest);
Status markDamaged(const std::filesystem::path &checkpoint, const Manifest &manifest, const RecordedDamage &damage);
struct LastComparison {
    bool verified = false;
    std::optional<RecordedDamage> damage;
};
LastComparison lastComparison(const std::filesystem::path &checkpoint, const Manifest &manifest);        // neither where it is void, or there was none
bool isMarkedVerified(const std::filesystem::path &checkpoint, const Manifest &manifest);

std::string hashOf(std::string_view bytes);              // XXH3-128, 32 hex digits

} // namespace stagewright::ckptfile
