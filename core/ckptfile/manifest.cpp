#include "core/ckptfile/manifest.h"

#include <sys/stat.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/ckptfile/layout.h"

namespace stagewright::ckptfile {

namespace {

constexpr const char *kFormat = "stagewright-checkpoint";
constexpr std::string_view kChecksumKey = "\"checksum\": \"";

Error badManifest(const std::string &file, const std::string &what)
{
    return Error(ExitCode::Checkpoint, "checkpoint.bad-manifest", file + ": " + what, file);
}

// A relative path that stays inside: it comes from a file that anybody may have written.
bool isInside(const std::string &path)
{
    if (path.empty() || path.front() == '/')
        return false;
    for (const auto &part : std::filesystem::path(path)) {
        if (part == "..")
            return false;
    }
    return true;
}

} // namespace

std::int64_t Manifest::totalBytes() const
{
    std::int64_t total = 0;
    for (const ManifestFile &file : files)
        total += file.bytes;
    return total;
}

namespace {

// Everything in front of the checksum's own line.
std::string textBeforeChecksum(const Manifest &manifest)
{
    nlohmann::ordered_json json;
    json["format"] = kFormat;
    json["version"] = manifest.version;
    json["program"] = manifest.program;
    json["created"] = manifest.created;
    json["run"] = manifest.run;
    json["step"] = manifest.step;
    json["epoch"] = manifest.epoch;
    json["dtype"] = manifest.dtype;
    json["world_size"] = manifest.worldSize;
    json["dataset_fingerprint"] = manifest.datasetFingerprint;
    json["tensors"] = manifest.tensors;
    json["total_bytes"] = manifest.totalBytes();
    json["files"] = nlohmann::ordered_json::array();
    for (const ManifestFile &file : manifest.files)
        json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}, {"xxh3_128", file.hash}});
    std::string text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
    text.resize(text.size() - 2);            // the closing "\n}"
    return text + ",\n ";
}

} // namespace

std::string toJsonText(const Manifest &manifest)
{
    const std::string text = textBeforeChecksum(manifest);
    return text + std::string(kChecksumKey) + hashOf(text) + "\"\n}\n";
}

Result<Manifest> parseManifest(const std::string &text, const std::string &file)
{
    const std::size_t checksumAt = text.rfind(kChecksumKey);
    if (checksumAt == std::string::npos || text.size() < checksumAt + kChecksumKey.size() + 32)
        return badManifest(file, "the manifest has no checksum; it was cut short");
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
        return badManifest(file, "the manifest is not valid JSON; it was cut short or edited");
    Manifest manifest;
    try {
        if (json.at("format") != kFormat)
            return badManifest(file, "this is not a manifest of Stagewright's");
        manifest.version = json.at("version");
        if (manifest.version > kManifestVersion)
            return badManifest(file, "the checkpoint has version " + std::to_string(manifest.version) + ", this program reads up to "
                                         + std::to_string(kManifestVersion) + "; use a newer Stagewright");
        if (text.compare(checksumAt + kChecksumKey.size(), 32, hashOf(std::string_view(text).substr(0, checksumAt))) != 0)
            return badManifest(file, "the manifest does not match its own checksum; it was edited or damaged");
        manifest.checksum = text.substr(checksumAt + kChecksumKey.size(), 32);
        manifest.program = json.at("program");
        manifest.created = json.at("created");
        manifest.run = json.at("run");
        manifest.step = json.at("step");
        manifest.epoch = json.at("epoch");
        manifest.dtype = json.at("dtype");
        manifest.worldSize = json.at("world_size");
        manifest.datasetFingerprint = json.at("dataset_fingerprint");
        manifest.tensors = json.at("tensors");
        for (const auto &entry : json.at("files")) {
            manifest.files.push_back({entry.at("path"), entry.at("bytes"), entry.at("xxh3_128")});
            if (!isInside(manifest.files.back().path))
                return badManifest(file, "it lists the file \"" + manifest.files.back().path + "\", which lies outside the checkpoint");
        }
    } catch (const nlohmann::json::exception &failed) {
        return badManifest(file, std::string("the manifest lacks something: ") + failed.what());
    }
    return manifest;
}

Result<Manifest> readManifest(const std::filesystem::path &checkpoint)
{
    const std::filesystem::path file = checkpoint / kManifestFile;
    auto text = readFile(file, 64 << 20);
    if (!text)
        return text.error();
    return parseManifest(*text, file.string());
}

bool hasManifest(const std::filesystem::path &checkpoint)
{
    struct stat info {};
    return ::stat((checkpoint / kManifestFile).c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

namespace {

// Size and modification time in nanoseconds of each listed file, or nothing where one is missing.
std::string stampOf(const std::filesystem::path &checkpoint, const Manifest &manifest)
{
    std::string stamps = manifest.checksum.empty() ? hashOf(textBeforeChecksum(manifest)) : manifest.checksum;
    for (const ManifestFile &file : manifest.files) {
        struct stat info {};
        if (::stat((checkpoint / file.path).c_str(), &info) != 0)
            return {};
        stamps += "\n" + file.path + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
    }
    return hashOf(stamps);
}

Status writeMark(const std::filesystem::path &checkpoint, const Manifest &manifest, nlohmann::ordered_json outcome)
{
    outcome["stamp"] = stampOf(checkpoint, manifest);
    if (outcome["stamp"] == "")
        return Error(ExitCode::Checkpoint, "checkpoint.missing-file", checkpoint.string() + ": a file disappeared while it was verified", checkpoint.string());
    return replaceFile(checkpoint / kVerifiedFile, outcome.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

// An empty object where there is none, or files were touched since.
nlohmann::json readMark(const std::filesystem::path &checkpoint, const Manifest &manifest)
{
    const auto text = readFile(checkpoint / kVerifiedFile, 1 << 16);
    if (!text)
        return nlohmann::json::object();
    auto json = nlohmann::json::parse(*text, nullptr, false);
    const std::string stamp = stampOf(checkpoint, manifest);
    const bool holds = json.is_object() && json.contains("stamp") && json["stamp"].is_string() && !stamp.empty() && json["stamp"] == stamp;
    return holds ? json : nlohmann::json::object();
}

} // namespace

Status markVerified(const std::filesystem::path &checkpoint, const Manifest &manifest) { return writeMark(checkpoint, manifest, {{"verified", wallSeconds()}}); }

Status markDamaged(const std::filesystem::path &checkpoint, const Manifest &manifest, const RecordedDamage &damage)
{
    return writeMark(checkpoint, manifest, {{"damaged", wallSeconds()}, {"path", damage.path}, {"sentence", damage.sentence}});
}

LastComparison lastComparison(const std::filesystem::path &checkpoint, const Manifest &manifest)
{
    const nlohmann::json mark = readMark(checkpoint, manifest);
    LastComparison last;
    last.verified = mark.contains("verified");
    if (mark.contains("damaged")) {
        const auto text = [&](const char *key) { return mark.contains(key) && mark[key].is_string() ? mark[key].get<std::string>() : std::string(); };
        last.damage = RecordedDamage{text("path"), text("sentence")};
    }
    return last;
}

bool isMarkedVerified(const std::filesystem::path &checkpoint, const Manifest &manifest) { return lastComparison(checkpoint, manifest).verified; }

} // namespace stagewright::ckptfile
