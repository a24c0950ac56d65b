#include "small_checkpoint.h"

#include <cstring>
#include <fstream>

#include "core/ckptfile/layout.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/own_state.h"
#include "core/ckptfile/pickle_value.h"
#include "core/ckptfile/pickle_writer.h"
#include "core/ckptfile/safetensors.h"
#include "core/ckptfile/states.h"
#include "core/ckptfile/torch_archive.h"
#include "core/ckptfile/writer_log.h"

namespace stagewright::tests {

using namespace ckptfile;
namespace fs = std::filesystem;

namespace {

class Builder
{
public:
    explicit Builder(fs::path folder) : m_folder(std::move(folder)) {}
    Manifest manifest;

    void add(const std::string &path, const std::string &bytes)
    {
        fs::create_directories((m_folder / path).parent_path());
        std::ofstream(m_folder / path, std::ios::binary) << bytes;
        manifest.files.push_back({path, static_cast<std::int64_t>(bytes.size()), hashOf(bytes)});
    }
    void addTensors(const std::string &path, std::vector<TensorInfo> tensors, float value)
    {
        std::string bytes = safetensorsHeader(tensors);
        for (std::int64_t left = tensors.back().end / 4; left > 0; --left)
            bytes.append(reinterpret_cast<const char *>(&value), 4);
        manifest.tensors += static_cast<std::int64_t>(tensors.size());
        add(path, bytes);
    }

private:
    fs::path m_folder;
};

} // namespace

fs::path writeSmallCheckpoint(const fs::path &run, const SmallCheckpoint &what)
{
    const fs::path folder = run / checkpointFolderName(what.epoch, what.step);
    Builder builder(folder);
    const std::vector<TensorInfo> weights{{"img_in.weight", DType::F32, {what.hidden, 3}}, {"img_in.bias", DType::F32, {what.hidden}}};
    builder.addTensors("model/model-00001.safetensors", weights, what.value);
    if (what.index)
        builder.add("model/" + std::string(kModelIndex), indexJson({{"img_in.weight", "model-00001.safetensors"}, {"img_in.bias", "model-00001.safetensors"}}, mebibytes(what.hidden * 16)));
    if (what.master)
        builder.addTensors("master.safetensors", {{"module.img_in.weight", DType::F32, {what.hidden, 3}}, {"module.img_in.bias", DType::F32, {what.hidden}}}, what.value);
    if (what.ema)
        builder.addTensors("ema.safetensors", weights, what.value);
    std::vector<TensorInfo> moments;
    std::string data;
    for (int index = 0; index < 2; ++index) {
        const std::string prefix = "state." + std::to_string(index) + ".", step = pickledInt4(what.step);
        const std::vector<std::int64_t> shape = weights[static_cast<std::size_t>(index)].shape;
        moments.push_back({prefix + "step", DType::U8, {static_cast<std::int64_t>(step.size())}});
        moments.push_back({prefix + "exp_avg", DType::F32, shape});
        moments.push_back({prefix + "exp_avg_sq", DType::F32, shape});
        data += step + std::string(static_cast<std::size_t>(moments.back().elements()) * 8, '\0');
    }
    builder.manifest.tensors += 6;
    builder.add("optimizer/optimizer-00001.safetensors", safetensorsHeader(moments) + data);
    builder.add("optimizer/" + std::string(kOptimizerIndex), indexJson({{"0", "optimizer-00001.safetensors"}, {"1", "optimizer-00001.safetensors"}}, mebibytes(what.hidden * 32), kGroupFile));
    ParamGroup group;
    group.lr = 1e-3;
    builder.add("optimizer/" + std::string(kGroupFile), torchArchive(paramGroups(group, 2), "pytorch_optim_group"));
    builder.add(std::string(kSamplerFile), torchArchive(samplerDict({42, what.epoch, what.step}), "sampler"));
    Counters counters;
    counters.epoch = what.epoch;
    counters.microStep = counters.globalMicroStep = counters.updates = what.step;
    builder.add(std::string(kRunningStatesFile), runningStatesJson(counters));
    if (!what.ours) {
        std::ofstream log(folder / kWriterLogFile);
        for (std::size_t left = asynchronousFiles(folder).size(); left > 0; --left)
            log << "All tasks are completed\n";
        return folder;
    }
    OwnState own;
    own.run = what.run;
    own.dtype = "fp32";
    own.worldSize = what.worldSize;
    own.datasetFingerprint = what.fingerprint;
    own.position = DataPosition{what.epoch, what.step};
    builder.add(std::string(kStateFile), toJsonText(own));
    if (!what.configYaml.empty())
        builder.add(std::string(kConfigFile), what.configYaml);
    Manifest &manifest = builder.manifest;
    manifest.program = "test";
    manifest.created = 1000;
    manifest.run = what.run;
    manifest.step = what.step;
    manifest.epoch = what.epoch;
    manifest.dtype = "fp32";
    manifest.worldSize = what.worldSize;
    manifest.datasetFingerprint = what.fingerprint;
    std::ofstream(folder / kManifestFile, std::ios::binary) << toJsonText(manifest);
    if (what.verified)
        (void)markVerified(folder, manifest);
    return folder;
}

void cut(const fs::path &file, std::int64_t bytes) { fs::resize_file(file, static_cast<std::uintmax_t>(bytes)); }

void flipByte(const fs::path &file, std::int64_t offset)
{
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekg(offset);
    const char byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(offset);
    stream.put(byte);
}

void flipUnseen(const fs::path &file)
{
    const auto time = fs::last_write_time(file);
    flipByte(file, static_cast<std::int64_t>(fs::file_size(file)) - 2);
    fs::last_write_time(file, time);
}

} // namespace stagewright::tests
