#include "core/data/cached.h"

#include <cstring>

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/ckptfile/torch_archive.h"
#include "core/data/sample.h"

namespace stagewright::data {

namespace {

constexpr std::size_t kLargestFile = std::size_t(4) << 30;

std::string shapeText(const torch::Tensor &tensor)
{
    std::vector<std::string> sizes;
    for (const std::int64_t size : tensor.sizes())
        sizes.push_back(std::to_string(size));
    return "[" + joined(sizes, ", ") + "]";
}

std::optional<at::ScalarType> floatType(ckptfile::DType dtype)
{
    switch (dtype) {
    case ckptfile::DType::F32: return at::kFloat;
    case ckptfile::DType::F16: return at::kHalf;
    case ckptfile::DType::BF16: return at::kBFloat16;
    case ckptfile::DType::F64: return at::kDouble;
    default: return std::nullopt;
    }
}

struct Expected {
    const char *what;
    std::int64_t dimensions;
    std::int64_t width;            // of the dimension `at`; 0: any
    std::int64_t at;
    const char *option;
};

// The tensor as it is expected, or what is wrong with it; `where` names it.
Result<torch::Tensor> fitting(torch::Tensor tensor, const std::filesystem::path &where, const Expected &expected)
{
    const auto bad = [&](const std::string &what) { return Error(ExitCode::Data, "data.bad-sample", where.string() + ": " + what, where.string()); };
    if (tensor.dim() == expected.dimensions + 1 && tensor.size(0) == 1)
        tensor = tensor.squeeze(0);
    if (tensor.dim() != expected.dimensions || tensor.numel() == 0)
        return bad("holds a tensor of " + shapeText(tensor) + ", and " + expected.what + " have " + std::to_string(expected.dimensions) + " dimensions");
    if (expected.width > 0 && tensor.size(expected.at) != expected.width) {
        return bad("its " + std::string(expected.what) + " are " + shapeText(tensor) + ", and " + expected.option + " needs " + std::to_string(expected.width)
                   + " in dimension " + std::to_string(expected.at));
    }
    if (!torch::isfinite(tensor).all().item<bool>())
        return bad("holds numbers that are not finite; compute it again");
    return tensor;
}

Result<torch::Tensor> readFitting(const std::filesystem::path &file, const Expected &expected)
{
    auto read = readTensorFile(file);
    if (!read)
        return read;
    return fitting(std::move(*read), file, expected);
}

Result<torch::Tensor> readFitting(const cache::Store &store, const cache::Key &key, const Expected &expected)
{
    const auto entry = store.read(key);
    if (!entry)
        return entry.error();
    torch::Tensor tensor = torch::empty(entry->shape, *floatType(entry->dtype));
    std::memcpy(tensor.data_ptr(), entry->bytes.data(), entry->bytes.size());
    return fitting(std::move(tensor), store.pathOf(key), expected);
}

Expected latentsOf(const Cached &cached) { return {"latents", 4, cached.latentChannels, 0, "model.in_channels"}; }
Expected tokensOf(const Cached &cached) { return {"token states", 2, cached.tokenWidth, 1, "model.context_in_dim"}; }
Expected pooledOf(const Cached &cached) { return {"pooled states", 1, cached.pooledWidth, 0, "model.vec_in_dim"}; }

Result<torch::Tensor> readColumn(const SourceOptions &options, table::FileColumn column, std::int64_t row, const Expected &expected)
{
    const auto file = options.table->cachedFile(column, row);
    if (!file.empty())
        return readFitting(file, expected);
    const std::string path = options.table->mediaPath(row).string();
    return Error(ExitCode::Data, "data.bad-sample", path + ": its " + table::columnName(column) + " is empty", path);
}

Status take(Result<torch::Tensor> read, torch::Tensor &into)
{
    if (!read)
        return read.error();
    into = std::move(*read);
    return Done{};
}

Status loadFromStore(const SourceOptions &options, std::int64_t row, const cache::ClipShape &shape, const std::string &words, CachedTensors &tensors)
{
    cache::Store &store = *options.cached.store;
    if (options.cached.video) {
        const auto key = store.latents(row, shape);
        if (!key)
            return key.error();
        if (Status status = take(readFitting(store, *key, latentsOf(options.cached)), tensors.latents); !status)
            return status;
    }
    if (Status status = take(readFitting(store, store.text(cache::Part::Tokens, words), tokensOf(options.cached)), tensors.tokens); !status)
        return status;
    return take(readFitting(store, store.text(cache::Part::Pooled, words), pooledOf(options.cached)), tensors.pooled);
}

// Of the empty text, under its part's name in the cache.
Result<NullEmbeddings> nullsOfStore(const config::Stage &stage)
{
    const auto store = cache::Store::open(stage, nullptr, {});         // texts need no table
    if (!store)
        return store.error();
    const Cached cached = cachedOf(stage);
    NullEmbeddings nulls;
    auto tokens = readFitting(**store, (*store)->text(cache::Part::Tokens, {}), tokensOf(cached));
    auto pooled = readFitting(**store, (*store)->text(cache::Part::Pooled, {}), pooledOf(cached));
    if (!tokens || !pooled)
        return (tokens ? pooled : tokens).error().during("the embedding of the empty text");
    nulls.tokens = tokens->unsqueeze(0);
    nulls.pooled = pooled->unsqueeze(0);
    return nulls;
}

} // namespace

Result<torch::Tensor> readTensorFile(const std::filesystem::path &file)
{
    const auto bad = [&](const std::string &what) { return Error(ExitCode::Data, "data.bad-sample", file.string() + ": " + what, file.string()); };
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return bad("there is no such file; compute it, or remove the row");
    const auto archive = ckptfile::TorchArchive::open(file);
    if (!archive)
        return Error(ExitCode::Data, "data.bad-sample", archive.error().message(), file.string());
    const ckptfile::PickleValue &root = (*archive)->root();
    if (root.kind != ckptfile::PickleValue::Kind::Tensor)
        return bad(std::string("holds a ") + ckptfile::kindName(root.kind) + "; one tensor a file is needed");
    const auto dtype = floatType(root.tensor.dtype);
    if (!dtype)
        return bad("holds numbers of the type " + std::string(ckptfile::nameOf(root.tensor.dtype)) + "; F32, F16, BF16 or F64 is needed");
    if (Status sound = (*archive)->checkEverything(); !sound)
        return Error(ExitCode::Data, "data.bad-sample", sound.error().message() + "; compute it again", file.string());
    torch::Tensor tensor = torch::empty(root.tensor.shape, *dtype);
    if (tensor.nbytes() > kLargestFile)
        return bad("is larger than a cached sample can be");
    if (Status read = (*archive)->read(root.tensor, 0, tensor.data_ptr(), static_cast<std::int64_t>(tensor.nbytes())); !read)
        return Error(ExitCode::Data, "data.bad-sample", read.error().message(), file.string());
    return tensor;
}

Draws drawsOfCachedClip() { return Draws(sampleGenerator(0, 0, 0, 0, 0)); }

Status loadCached(const SourceOptions &options, std::int64_t row, const cache::ClipShape &shape, const std::string &words, CachedTensors &tensors)
{
    torch::NoGradGuard noGrad;
    const Cached &cached = options.cached;
    if (cached.store)
        return loadFromStore(options, row, shape, words, tensors);
    if (cached.video) {
        if (Status status = take(readColumn(options, table::FileColumn::Latents, row, latentsOf(cached)), tensors.latents); !status)
            return status;
    }
    if (!cached.text)
        return Done{};
    if (Status status = take(readColumn(options, table::FileColumn::TextT5, row, tokensOf(cached)), tensors.tokens); !status)
        return status;
    return take(readColumn(options, table::FileColumn::TextClip, row, pooledOf(cached)), tensors.pooled);
}

Result<NullEmbeddings> readNullEmbeddings(const config::Stage &stage)
{
    if (stage.isSet("encoding_cache"))
        return nullsOfStore(stage);
    const Cached cached = cachedOf(stage);
    const std::filesystem::path table = std::filesystem::absolute(expandUser(stage.string("dataset.data_path")));
    const std::filesystem::path folder = std::filesystem::is_directory(table) ? table : table.parent_path();
    const std::string advice = ": dropout_ratio with cached_text needs the embeddings of the empty text there";
    NullEmbeddings nulls;
    auto tokens = readFitting(folder / "null_t5.pt", tokensOf(cached));
    if (!tokens)
        return Error(ExitCode::Data, "data.null-embedding", tokens.error().message() + advice, tokens.error().problem.file);
    auto pooled = readFitting(folder / "null_clip.pt", pooledOf(cached));
    if (!pooled)
        return Error(ExitCode::Data, "data.null-embedding", pooled.error().message() + advice, pooled.error().problem.file);
    nulls.tokens = tokens->unsqueeze(0);
    nulls.pooled = pooled->unsqueeze(0);
    return nulls;
}

} // namespace stagewright::data
