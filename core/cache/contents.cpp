#include "core/cache/contents.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/ckptfile/hash.h"
#include "core/ckptfile/input_file.h"

namespace stagewright::cache {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kPiece = 4 << 20;

Result<std::string> hashOfBytes(const fs::path &file)
{
    const auto input = ckptfile::InputFile::open(file);
    if (!input)
        return Error(ExitCode::Data, "data.unreadable", input.error().message(), file.string());
    ckptfile::Hasher hasher;
    std::string piece(static_cast<std::size_t>(std::min(kPiece, (*input)->size())), '\0');
    for (std::int64_t at = 0; at < (*input)->size(); at += kPiece) {
        const std::int64_t bytes = std::min(kPiece, (*input)->size() - at);
        if (Status read = (*input)->readAt(at, piece.data(), bytes); !read)
            return Error(ExitCode::Data, "data.unreadable", read.error().message(), file.string());
        hasher.add(piece.data(), static_cast<std::size_t>(bytes));
    }
    return hasher.hex();
}

} // namespace

Contents::Contents(fs::path memo) : m_memo(std::move(memo))
{
    std::ifstream in(m_memo);
    for (std::string line; std::getline(in, line);) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (!json.is_object() || !json.contains("path") || !json.contains("bytes") || !json.contains("time") || !json.contains("hash"))
            continue;
        if (json["path"].is_string() && json["bytes"].is_number_integer() && json["time"].is_number_integer() && json["hash"].is_string())
            m_known[json["path"]] = {json["bytes"], json["time"], json["hash"]};
    }
}

std::optional<Contents::Known> Contents::look(const fs::path &file) const
{
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    if (error)
        return std::nullopt;
    const auto time = fs::last_write_time(file, error);
    if (error)
        return std::nullopt;
    return Known{static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(time.time_since_epoch().count()), {}};
}

std::optional<std::string> Contents::knownHashOf(const fs::path &file) const
{
    const auto now = look(file);
    const std::lock_guard lock(m_mutex);
    const auto found = m_known.find(file.string());
    if (!now || found == m_known.end() || found->second.bytes != now->bytes || found->second.time != now->time)
        return std::nullopt;
    return found->second.hash;
}

Result<std::string> Contents::hashOf(const fs::path &file)
{
    if (auto known = knownHashOf(file))
        return std::move(*known);
    const auto before = look(file);
    if (!before)
        return Error(ExitCode::Data, "data.file-missing", file.string() + ": there is no such file", file.string());
    auto hash = hashOfBytes(file);
    if (!hash)
        return hash;
    const std::lock_guard lock(m_mutex);
    m_known[file.string()] = {before->bytes, before->time, *hash};
    if (m_writes) {
        const nlohmann::json json{{"path", file.string()}, {"bytes", before->bytes}, {"time", before->time}, {"hash", *hash}};
        std::ofstream(m_memo, std::ios::app) << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    }
    return hash;
}

Result<std::string> Contents::hashOfTree(const fs::path &path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return hashOf(path);
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        if (at->is_regular_file(error))
            files.push_back(at->path());
    }
    if (error)
        return Error(ExitCode::Data, "data.unreadable", path.string() + ": cannot be listed: " + error.message(), path.string());
    std::sort(files.begin(), files.end());
    ckptfile::Hasher hasher;
    for (const fs::path &file : files) {
        const auto hash = hashOf(file);
        if (!hash)
            return hash;
        const std::string line = fs::relative(file, path).string() + '\n' + *hash + '\n';
        hasher.add(line.data(), line.size());
    }
    return hasher.hex();
}

} // namespace stagewright::cache
