#include "core/ckptfile/stored_tensor.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

StoredTensor::StoredTensor(std::shared_ptr<const SafetensorsFile> file, std::size_t index) : m_safetensors(std::move(file)), m_index(index)
{
    const TensorInfo &info = m_safetensors->header().tensors[index];
    name = info.name;
    dtype = info.dtype;
    shape = info.shape;
}

StoredTensor::StoredTensor(std::shared_ptr<const TorchArchive> archive, std::string tensorName, PickledTensor tensor)
    : name(std::move(tensorName)), dtype(tensor.dtype), shape(tensor.shape), m_archive(std::move(archive)), m_pickled(std::move(tensor))
{
}

StoredTensor::StoredTensor(std::string tensorName, std::vector<RowRun> rows)
    : name(std::move(tensorName)), dtype(rows.front().from->dtype), shape(rows.front().from->shape)
{
    shape[0] = 0;
    for (const RowRun &run : rows)
        shape[0] += run.count;
    m_rows = std::make_shared<const std::vector<RowRun>>(std::move(rows));
}

std::int64_t StoredTensor::elements() const
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

const fs::path &StoredTensor::file() const { return m_rows ? m_rows->front().from->file() : m_safetensors ? m_safetensors->input().path() : m_archive->input().path(); }

Status StoredTensor::read(std::int64_t offset, void *into, std::int64_t bytes) const
{
    if (m_rows)
        return readRows(offset, static_cast<char *>(into), bytes);
    return m_safetensors ? m_safetensors->read(m_index, offset, into, bytes) : m_archive->read(m_pickled, offset, into, bytes);
}

// Sources of no more than this are read whole: a bias in another order would else be a read for each number.
constexpr std::int64_t kSmall = 1 << 20;

Status StoredTensor::readRows(std::int64_t offset, char *into, std::int64_t bytes) const
{
    const std::int64_t rowBytes = shape[0] > 0 ? this->bytes() / shape[0] : 0;
    const StoredTensor *cached = nullptr;
    std::string whole;
    std::int64_t start = 0;                      // of the run, in bytes of this tensor
    for (const RowRun &run : *m_rows) {
        const std::int64_t size = run.count * rowBytes;
        if (bytes > 0 && offset < start + size) {
            const std::int64_t part = std::min(bytes, start + size - offset), at = run.first * rowBytes + offset - start;
            if (run.from->bytes() <= kSmall && cached != run.from.get()) {
                auto read = run.from->readAll();
                if (!read)
                    return read.error();
                whole = std::move(*read);
                cached = run.from.get();
            }
            if (run.from->bytes() <= kSmall)
                std::copy_n(whole.data() + at, part, into);
            else if (Status read = run.from->read(at, into, part); !read)
                return read;
            into += part;
            offset += part;
            bytes -= part;
        }
        start += size;
    }
    return Done{};
}

Result<std::string> StoredTensor::readAll() const
{
    std::string text(static_cast<std::size_t>(bytes()), '\0');
    if (Status got = read(0, text.data(), bytes()); !got)
        return got.error();
    return text;
}

std::string_view withoutPrefixes(std::string_view name)
{
    while (name.starts_with("module."))
        name.remove_prefix(7);
    return name;
}

namespace {

bool hasTensors(const PickleValue &dict)
{
    for (std::size_t at = 1; at < dict.items.size(); at += 2) {
        if (dict.items[at].kind == PickleValue::Kind::Tensor)
            return true;
    }
    return false;
}

Result<std::vector<StoredTensor>> tensorsOfArchive(const fs::path &file)
{
    auto archive = TorchArchive::open(file);
    if (!archive)
        return archive.error();
    const PickleValue *dict = &(*archive)->root();
    if (dict->kind == PickleValue::Kind::Dict && !hasTensors(*dict)) {
        for (const char *wrapper : {"state_dict", "model", "module", "ema"}) {
            if (const PickleValue *inner = dict->find(wrapper); inner && inner->kind == PickleValue::Kind::Dict) {
                dict = inner;
                break;
            }
        }
    }
    if (dict->kind != PickleValue::Kind::Dict)
        return Error(ExitCode::Checkpoint, "checkpoint.no-tensors", file.string() + ": holds a " + kindName(dict->kind) + ", a dict of tensors is needed", file.string());
    std::vector<StoredTensor> tensors;
    for (std::size_t at = 0; at + 1 < dict->items.size(); at += 2) {
        if (dict->items[at].kind == PickleValue::Kind::String && dict->items[at + 1].kind == PickleValue::Kind::Tensor)
            tensors.emplace_back(*archive, dict->items[at].text, dict->items[at + 1].tensor);
    }
    return tensors;
}

} // namespace

Result<std::vector<StoredTensor>> tensorsOfFile(const fs::path &file)
{
    if (file.extension() != ".safetensors")
        return tensorsOfArchive(file);
    auto opened = SafetensorsFile::open(file);
    if (!opened)
        return opened.error();
    std::vector<StoredTensor> tensors;
    for (std::size_t index = 0; index < (*opened)->header().tensors.size(); ++index)
        tensors.emplace_back(*opened, index);
    return tensors;
}

Result<std::vector<StoredTensor>> tensorsOfShards(const fs::path &folder)
{
    auto index = readShardIndex(folder);
    if (!index)
        return index.error();
    std::vector<StoredTensor> tensors;
    std::set<std::string> seen;
    for (const std::string &shard : index->shards) {
        std::error_code ignored;
        if (!fs::exists(folder / shard, ignored))
            return Error(ExitCode::Checkpoint, "checkpoint.missing-shard", (folder / shard).string() + " is missing, " + index->file.filename().string()
                             + " names it; copy it here or choose another checkpoint", (folder / shard).string());
        auto part = tensorsOfFile(folder / shard);
        if (!part)
            return part.error();
        for (StoredTensor &tensor : *part) {
            if (!seen.insert(tensor.name).second)
                return Error(ExitCode::Checkpoint, "checkpoint.duplicate-tensor", (folder / shard).string() + ": tensor \"" + tensor.name + "\" is also in another shard; shards of two saves are mixed here", (folder / shard).string());
            tensors.push_back(std::move(tensor));
        }
    }
    for (const auto &[name, shard] : index->weightMap) {
        if (seen.erase(name) == 0)
            return Error(ExitCode::Checkpoint, "checkpoint.missing-tensor", (folder / shard).string() + ": tensor \"" + name + "\" is missing, " + index->file.filename().string() + " says it is there", (folder / shard).string());
    }
    std::unordered_map<std::string_view, std::size_t> place;
    for (std::size_t at = 0; at < index->weightMap.size(); ++at)
        place[index->weightMap[at].first] = at;
    std::sort(tensors.begin(), tensors.end(), [&](const StoredTensor &a, const StoredTensor &b) { return place[a.name] < place[b.name]; });
    if (!seen.empty())
        return Error(ExitCode::Checkpoint, "checkpoint.foreign-tensor", folder.string() + ": tensor \"" + *seen.begin() + "\" is in a shard, but not in " + index->file.filename().string() + "; index and shards are of different saves", index->file.string());
    return tensors;
}

Result<std::vector<StoredTensor>> tensorsOf(const fs::path &path)
{
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? tensorsOfShards(path) : tensorsOfFile(path);
}

} // namespace stagewright::ckptfile
