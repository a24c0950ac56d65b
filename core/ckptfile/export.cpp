#include "core/ckptfile/export.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/output_file.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

// fp32 bytes to bf16, to nearest and ties to even; NaN stays NaN.
void roundToBf16(const std::vector<char> &from, char *into, std::int64_t elements)
{
    for (std::int64_t at = 0; at < elements; ++at) {
        std::uint32_t bits;
        std::memcpy(&bits, from.data() + 4 * at, 4);
        const bool nan = (bits & 0x7fffffff) > 0x7f800000;
        const auto half = static_cast<std::uint16_t>(nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        std::memcpy(into + 2 * at, &half, 2);
    }
}

struct FreeAligned { void operator()(char *memory) const { std::free(memory); } };

// Appends bytes to one file through one aligned block.
class Appender
{
public:
    Appender(std::unique_ptr<OutputFile> file) : m_file(std::move(file)), m_block(static_cast<char *>(std::aligned_alloc(kAlignment, kBlockBytes))) {}

    char *room(std::int64_t &bytes)          // where up to `bytes` next bytes go; bytes becomes what fits
    {
        bytes = std::min(bytes, kBlockBytes - m_filled);
        return m_block.get() + m_filled;
    }
    Status filled(std::int64_t bytes)
    {
        m_filled += bytes;
        return m_filled == kBlockBytes ? send() : Status(Done{});
    }
    Status append(std::string_view text)
    {
        while (!text.empty()) {
            std::int64_t bytes = static_cast<std::int64_t>(text.size());
            std::memcpy(room(bytes), text.data(), static_cast<std::size_t>(bytes));
            text.remove_prefix(static_cast<std::size_t>(bytes));
            if (Status done = filled(bytes); !done)
                return done;
        }
        return Done{};
    }
    Status finish()
    {
        const std::int64_t size = m_written + m_filled;
        if (Status done = send(); !done)
            return done;
        return m_file->finish(size);
    }

private:
    Status send()
    {
        std::memset(m_block.get() + m_filled, 0, static_cast<std::size_t>(alignedUp(m_filled) - m_filled));
        Status done = m_file->write(m_written, m_block.get(), alignedUp(m_filled));
        m_written += m_filled;
        m_filled = 0;
        return done;
    }
    std::unique_ptr<OutputFile> m_file;
    std::unique_ptr<char, FreeAligned> m_block;
    std::int64_t m_filled = 0, m_written = 0;
};

class Exporter
{
public:
    Exporter(std::vector<StoredTensor> tensors, const ExportOptions &options) : m_tensors(std::move(tensors)), m_options(options)
    {
        for (const StoredTensor &tensor : m_tensors)
            m_total += tensor.bytes();
    }

    Status writeFile(const fs::path &path, std::size_t from, std::size_t to)
    {
        std::vector<TensorInfo> infos;
        for (std::size_t at = from; at < to; ++at)
            infos.push_back({std::string(withoutPrefixes(m_tensors[at].name)), typeOf(m_tensors[at]), m_tensors[at].shape});
        auto file = OutputFile::create(realFileSystem(), path, true);
        if (!file)
            return file.error();
        Appender out(std::move(*file));
        if (Status done = out.append(safetensorsHeader(infos)); !done)
            return done;
        for (std::size_t at = from; at < to; ++at) {
            if (Status done = writeTensor(m_tensors[at], out); !done)
                return done;
        }
        return out.finish();
    }

    std::int64_t exportedBytes(std::size_t at) const { return m_tensors[at].elements() * bytesOf(typeOf(m_tensors[at])); }
    std::size_t count() const { return m_tensors.size(); }
    std::string name(std::size_t at) const { return std::string(withoutPrefixes(m_tensors[at].name)); }

private:
    bool isRounded(const StoredTensor &tensor) const { return m_options.halfPrecision && tensor.dtype == DType::F32; }
    DType typeOf(const StoredTensor &tensor) const { return isRounded(tensor) ? DType::BF16 : tensor.dtype; }

    Status writeTensor(const StoredTensor &tensor, Appender &out)
    {
        const std::int64_t shrink = isRounded(tensor) ? 2 : 1;
        for (std::int64_t at = 0; at < tensor.bytes();) {
            std::int64_t part = (tensor.bytes() - at) / shrink;
            char *into = out.room(part);
            if (isRounded(tensor) && part % 2 != 0 && part > 1)
                --part;
            if (isRounded(tensor) && part == 1) {                // one byte left in the block: an element may not be torn, so go byte-wise
                if (Status done = writeRounded(tensor, at, 2, out); !done)
                    return done;
                at += 4;
                continue;
            }
            Status read = isRounded(tensor) ? readRounded(tensor, at, into, part) : tensor.read(at, into, part);
            if (!read)
                return read;
            if (Status done = out.filled(part); !done)
                return done;
            at += part * shrink;
            m_done += part * shrink;
            if (m_options.progress && !m_options.progress(m_done, m_total))
                return cancelled(tensor.file());
        }
        return Done{};
    }
    Status readRounded(const StoredTensor &tensor, std::int64_t at, char *into, std::int64_t bytes)
    {
        m_wide.resize(static_cast<std::size_t>(bytes * 2));
        if (Status read = tensor.read(at, m_wide.data(), bytes * 2); !read)
            return read;
        roundToBf16(m_wide, into, bytes / 2);
        return Done{};
    }
    Status writeRounded(const StoredTensor &tensor, std::int64_t at, std::int64_t bytes, Appender &out)
    {
        std::string element(static_cast<std::size_t>(bytes), '\0');
        if (Status read = readRounded(tensor, at, element.data(), bytes); !read)
            return read;
        return out.append(element);
    }

    std::vector<StoredTensor> m_tensors;
    const ExportOptions &m_options;
    std::vector<char> m_wide;
    std::int64_t m_done = 0, m_total = 0;
};

// ema.pt holds rank 0's flat piece of each tensor, which is all of it where the world size was 1.
Status giveShapes(std::vector<StoredTensor> &pieces, const std::vector<StoredTensor> &weights, const std::string &folder)
{
    std::map<std::string_view, const StoredTensor *> byName;
    for (const StoredTensor &weight : weights)
        byName[withoutPrefixes(weight.name)] = &weight;
    for (StoredTensor &piece : pieces) {
        const auto weight = byName.find(withoutPrefixes(piece.name));
        if (weight == byName.end() || weight->second->elements() != piece.elements())
            return Error(ExitCode::Checkpoint, "checkpoint.flat-ema", folder + ": ema.pt holds only one rank's piece of \"" + piece.name + "\"; export the master weights or the model's", folder);
        piece.shape = weight->second->shape;
    }
    return Done{};
}

Status changeLayoutFor(std::vector<StoredTensor> &tensors, const std::string &configYaml, const ExportOptions &options, const fs::path &checkpoint)
{
    if (!options.rope && !options.fused)
        return Done{};
    std::optional<RopeOrder> stored = options.storedRope;
    if (const auto said = ropeOrderOf(configYaml)) {
        if (stored && stored != said)
            return Error(ExitCode::Usage, "config.rope-unsaid", checkpoint.string() + " says that its weights are in the rotary order of " + ropeOrderName(*said) + ", not of " + ropeOrderName(*stored), checkpoint.string());
        stored = said;
    }
    if (options.rope && !stored)
        return Error(ExitCode::Usage, "config.rope-unsaid", "nothing says in which rotary order the weights of " + checkpoint.string() + " are; say it with --from flux or --from opensora", checkpoint.string());
    const RopeOrder from = stored.value_or(RopeOrder::Neighbours);
    auto changed = changeLayout(tensors, {from, options.rope.value_or(from), options.fused});
    if (!changed)
        return changed.error();
    tensors = std::move(*changed);
    return Done{};
}

Result<std::vector<StoredTensor>> chooseTensors(Contents contents, ExportSource source)
{
    const std::string folder = contents.folder.string();
    if (source == ExportSource::Model && contents.weights.empty()) {
        for (const Problem &problem : contents.problems) {
            if (problem.severity == Severity::Error)
                return Error(ExitCode::Checkpoint, problem.code, problem.message, problem.file);
        }
        return Error(ExitCode::Checkpoint, "checkpoint.missing-weights", folder + " has no weights", folder);
    }
    if (source == ExportSource::Model)
        return std::move(contents.weights);
    const bool ema = source == ExportSource::Ema;
    std::vector<StoredTensor> tensors = std::move(ema ? contents.ema : contents.master);
    if (tensors.empty())
        return Error(ExitCode::Checkpoint, ema ? "checkpoint.missing-ema" : "checkpoint.missing-master", folder + " has no " + (ema ? "EMA (ema.safetensors)" : "master weights (master.safetensors)") + "; export the model's weights instead", folder);
    if (ema && contents.emaIsFlat) {
        if (Status shaped = giveShapes(tensors, contents.weights, folder); !shaped)
            return shaped.error();
    }
    return tensors;
}

// Nothing that is there is written over, least of all what is exported.
Status refuseTarget(const fs::path &checkpoint, const fs::path &out)
{
    std::error_code ignored;
    const fs::path inside = fs::weakly_canonical(fs::absolute(out, ignored), ignored).lexically_relative(fs::weakly_canonical(fs::absolute(checkpoint, ignored), ignored));
    if (!inside.empty() && *inside.begin() != "..")
        return Error(ExitCode::Usage, "checkpoint.export-inside", out.string() + " lies in the checkpoint that is exported; choose a place outside " + checkpoint.string(), out.string());
    if (fs::exists(fs::symlink_status(out, ignored)) && !fs::is_directory(out, ignored))
        return Error(ExitCode::InputOutput, "env.file-exists", out.string() + " exists already; choose another name, or remove it first", out.string());
    return Done{};
}

// Every byte against the manifest, where there is one: what goes out is what was saved.
Status refuseDamaged(const Contents &contents, const ExportOptions &options)
{
    if (!contents.manifest)
        return Done{};
    auto files = compareBeforeReading(contents.folder, *contents.manifest, [&](std::int64_t, std::int64_t total, const std::string &) { return !options.progress || options.progress(0, total); });
    if (!files)
        return files.error();
    if (const InspectedFile *fault = firstFault(*files))
        return Error(ExitCode::Checkpoint, "checkpoint.damaged-file", fault->sentence + "; export an older checkpoint", (contents.folder / fault->path).string());
    return Done{};
}

Result<std::vector<fs::path>> exportOneFile(Exporter &exporter, const fs::path &out)
{
    if (out.has_parent_path()) {
        if (Status made = ensureFolder(out.parent_path()); !made)
            return made.error();
    }
    const fs::path temporary = out.string() + ".tmp-" + std::to_string(::getpid());
    std::error_code ignored;
    fs::remove(temporary, ignored);
    Status done = exporter.writeFile(temporary, 0, exporter.count());
    if (done && realFileSystem().renameFolder(temporary, out) != 0)
        done = ioError("write", out, errno);
    if (!done) {
        fs::remove(temporary, ignored);
        return done.error();
    }
    if (Status flushed = flushFolder(out.parent_path().empty() ? fs::path(".") : out.parent_path()); !flushed)
        return flushed.error();
    return std::vector{out};
}

Result<std::vector<fs::path>> exportShards(Exporter &exporter, const fs::path &out, double limit)
{
    if (Status made = ensureFolder(out); !made)
        return made.error();
    std::error_code failed;
    if (!fs::is_empty(out, failed) || failed)
        return Error(ExitCode::InputOutput, "env.not-empty", out.string() + " is not empty; choose a new folder for the shards", out.string());
    std::vector<std::int64_t> sizes;
    double total = 0;
    for (std::size_t at = 0; at < exporter.count(); ++at) {
        sizes.push_back(exporter.exportedBytes(at));
        total += mebibytes(sizes.back());
    }
    const std::vector<std::size_t> shards = cutShards(sizes, limit);
    std::vector<std::pair<std::string, std::string>> weightMap;
    std::vector<fs::path> written;
    for (std::size_t from = 0; from < shards.size();) {
        std::size_t to = from;
        const std::string name = shardName("model", shards[from] + 1);
        for (; to < shards.size() && shards[to] == shards[from]; ++to)
            weightMap.emplace_back(exporter.name(to), name);
        if (Status done = exporter.writeFile(out / name, from, to); !done)
            return done.error();
        written.push_back(out / name);
        from = to;
    }
    // The index comes last: a folder without it is seen to be unfinished.
    if (Status done = replaceFile(out / kModelIndex, indexJson(weightMap, total)); !done)
        return done.error();
    written.push_back(out / kModelIndex);
    return written;
}

} // namespace

Result<std::vector<fs::path>> exportWeights(const fs::path &checkpoint, const fs::path &out, const ExportOptions &options)
{
    auto contents = openCheckpoint(checkpoint);
    if (!contents)
        return contents.error();
    if (Status refused = refuseTarget(contents->folder, out); !refused)
        return refused.error();
    if (Status damaged = refuseDamaged(*contents, options); !damaged)
        return damaged.error();
    const std::string configYaml = contents->configYaml;
    auto tensors = chooseTensors(std::move(*contents), options.source);
    if (!tensors)
        return tensors.error();
    if (Status changed = changeLayoutFor(*tensors, configYaml, options, checkpoint); !changed)
        return changed.error();
    Exporter exporter(std::move(*tensors), options);
    return options.shardMebibytes > 0 ? exportShards(exporter, out, options.shardMebibytes) : exportOneFile(exporter, out);
}

} // namespace stagewright::ckptfile
