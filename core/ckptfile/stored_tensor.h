// A tensor in a file, whatever the file's format: name, type, shape, and a way to read its bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/safetensors.h"
#include "core/ckptfile/torch_archive.h"

namespace stagewright::ckptfile {

class StoredTensor;

struct RowRun {                                  // rows (along the first dimension) of another tensor
    std::shared_ptr<const StoredTensor> from;
    std::int64_t first = 0, count = 0;
};

// Cheap to copy; keeps its file open. Any thread.
class StoredTensor
{
public:
    StoredTensor(std::shared_ptr<const SafetensorsFile> file, std::size_t index);
    StoredTensor(std::shared_ptr<const TorchArchive> archive, std::string name, PickledTensor tensor);

    // Put together of rows, in order; all sources have one type, and one size of a row. Nothing is read yet.
    StoredTensor(std::string name, std::vector<RowRun> rows);

    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    std::int64_t elements() const;
    std::int64_t bytes() const { return elements() * bytesOf(dtype); }
    const std::filesystem::path &file() const;
    Status read(std::int64_t offset, void *into, std::int64_t bytes) const;      // part of its row-major bytes
    Result<std::string> readAll() const;

private:
    std::shared_ptr<const SafetensorsFile> m_safetensors;
    std::size_t m_index = 0;
    std::shared_ptr<const TorchArchive> m_archive;
    PickledTensor m_pickled;
    Status readRows(std::int64_t offset, char *into, std::int64_t bytes) const;
    std::shared_ptr<const std::vector<RowRun>> m_rows;
};

// Every tensor of one safetensors file in header order, or of a torch.save file that holds a dict of tensors (also one level down, under
// "state_dict", "model", "module" or "ema"), or of the shards that a folder's index names. Index files must be one; every shard must be there
// and hold exactly the tensors that the index says; they come in the index's order, which is the model's. Other values of a torch.save dict are left out.
Result<std::vector<StoredTensor>> tensorsOf(const std::filesystem::path &fileOrFolder);
Result<std::vector<StoredTensor>> tensorsOfFile(const std::filesystem::path &file);
Result<std::vector<StoredTensor>> tensorsOfShards(const std::filesystem::path &folder);

// An index file: what it says, and which one it is.
struct ShardIndex {
    std::filesystem::path file;
    std::vector<std::pair<std::string, std::string>> weightMap;  // name (or optimizer index as text) -> shard file
    std::vector<std::string> shards;                             // distinct, in order of appearance
    std::string paramGroups;                                     // metadata.param_groups, empty where absent
    double totalMebibytes = 0;
};
// The one file that matches *.index.*json. Errors: none, two (named), not readable, shard names with a path in them.
Result<ShardIndex> readShardIndex(const std::filesystem::path &folder);

std::string_view withoutPrefixes(std::string_view name);         // any number of leading "module."

} // namespace stagewright::ckptfile
