#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/activation_need.h"
#include "core/config/model_size.h"
#include "core/config/overrides.h"
#include "core/config/rules.h"
#include "core/config/saved_config.h"

namespace stagewright::config {

namespace fs = std::filesystem;

namespace {

bool exists(const std::string &path)
{
    std::error_code code;
    return fs::exists(expandUser(path), code);
}

std::string absolutePath(const std::string &path)
{
    std::error_code code;
    return fs::absolute(expandUser(path), code).lexically_normal().string();
}

bool isPattern(const std::string &path)
{
    return path.find_first_of("*?[") != std::string::npos;
}

// Digits at the end of a name, for "newest by step": 200 comes before 1000.
std::int64_t stepOf(const std::string &name)
{
    const auto end = name.find_last_of("0123456789");
    if (end == std::string::npos)
        return -1;
    auto begin = end;
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
        --begin;
    return end - begin < 18 ? std::stoll(name.substr(begin, end - begin + 1)) : -1;
}

std::vector<std::string> matchesOf(const std::string &pattern)
{
    const fs::path whole = expandUser(pattern);
    std::vector<std::string> found;
    std::error_code code;
    const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    for (const auto &entry : fs::directory_iterator(folder, code)) {
        if (globMatches(whole.filename().string(), entry.path().filename().string()))
            found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return std::pair(stepOf(a), a) < std::pair(stepOf(b), b); });
    return found;
}

void checkLoad(const Stage &stage, const Facts &facts, Findings &findings)
{
    const auto load = facts.string("load");
    if (!load || exists(*load))
        return;
    if (!isPattern(*load)) {
        findings.error("checkpoint.missing", "load", "load: there is no checkpoint at " + absolutePath(*load));
        return;
    }
    const auto matches = matchesOf(*load);
    if (matches.size() == 1)
        return;
    if (matches.empty()) {
        findings.error("checkpoint.missing", "load", "load: nothing matches the pattern " + absolutePath(*load));
        return;
    }
    findings.hint("checkpoint.ambiguous", "load", "load: the pattern " + *load + " matches " + std::to_string(matches.size()) + " folders; the newest whole one is taken ("
            + matches.back() + " unless something is wrong with it)")
        .fix = setTo(stage, "Use the newest, " + matches.back(), "load", Value(matches.back()));
}

void checkWeights(const Facts &facts, Findings &findings)
{
    for (const std::string path : {"model.from_pretrained", "lora_checkpoint"}) {
        if (const auto file = facts.string(path); file && !exists(*file))
            findings.error("env.path-missing", path, path + ": there is no " + absolutePath(*file));
    }
    for (const std::string section : {"ae", "t5", "clip"}) {
        const auto file = facts.string(section + ".from_pretrained");
        if (!file || exists(*file))
            continue;
        const bool cached = facts.isOn(section == "ae" ? "cached_video" : "cached_text");
        if (!cached)
            findings.warning("env.path-missing", section + ".from_pretrained", section + ".from_pretrained: there is no " + absolutePath(*file)
                    + "; training needs these weights (download them first, or set " + section + ".type to " + (section == "ae" ? "haar" : "hashed") + ")");
    }
}

// No file of another program says it; a checkpoint of ours does.
void checkRotaryOrder(const Stage &stage, const Facts &facts, Findings &findings)
{
    const auto weights = facts.string("model.from_pretrained");
    if (!weights || !exists(*weights) || stage.isSet("pretrained_rope") || stage.isSet("load") || exists((fs::path(*weights) / kSavedConfigFile).string()))
        return;
    const std::string unsaid = "nothing says in which rotary order the weights of model.from_pretrained are, and in the wrong one training goes on with scrambled attention: set pretrained_rope to flux "
                               "(Flux's own, and what was trained from it unchanged) or opensora (as shipped with Open-Sora 2.0, flux1-dev-fused-rope among them)";
    if (facts.string("compat") == "opensora")
        findings.warning("config.rope-unsaid", "pretrained_rope", unsaid + "; the original takes them to be in the model's");
    else
        findings.error("config.rope-unsaid", "pretrained_rope", unsaid);
}

void checkTablePath(const Stage &stage, const Facts &facts, Findings &findings)
{
    if (!facts.dict("dataset"))
        return;
    const auto table = facts.string("dataset.data_path");
    if (!table && !stage.isSet("dataset.data_path"))
        findings.warning("data.no-table", "dataset", "dataset.data_path is not set; give the table with --dataset.data_path TABLE.csv");
    else if (table && !exists(*table))
        findings.error("data.table-missing", "dataset.data_path", "dataset.data_path: there is no table at " + absolutePath(*table));
}

void checkOutputs(const Facts &facts, Findings &findings)
{
    const auto outputs = facts.string("outputs");
    if (!outputs)
        return;
    std::error_code code;
    const fs::path folder = expandUser(*outputs);
    if (fs::exists(folder, code) && !fs::is_directory(folder, code))
        findings.error("env.outputs", "outputs", "outputs: " + absolutePath(*outputs) + " is a file, so no run folder can be made in it");
}

void checkDevice(const Stage &stage, const Facts &facts, const Surroundings &surroundings, Findings &findings)
{
    const auto device = facts.string("device");
    if (!device || *device == "auto" || *device == "cpu")
        return;
    std::int64_t index = 0;
    const bool numbered = device->starts_with("cuda:") && device->size() > 5 && device->size() < 9
        && std::all_of(device->begin() + 5, device->end(), [](char c) { return c >= '0' && c <= '9'; });
    if (numbered)
        index = std::stoll(device->substr(5));
    else if (*device != "cuda") {
        findings.error("config.device", "device", "device must be auto, cpu, cuda or cuda:N, not \"" + *device + "\"");
        return;
    }
    if (surroundings.gpuCount && index >= *surroundings.gpuCount)
        findings.error("env.device", "device", *surroundings.gpuCount == 0
                ? "device is " + *device + ", but there is no NVIDIA GPU here; use auto or cpu"
                : "device is " + *device + ", but there are only " + std::to_string(*surroundings.gpuCount) + " GPUs, numbered from 0")
            .fix = setTo(stage, "Use auto", "device", Value("auto"));
}

// Host memory that the stage locks or stages, for all processes of this machine.
void checkHostMemory(const Stage &stage, const Facts &facts, const Surroundings &surroundings, Findings &findings)
{
    if (!surroundings.hostAvailableBytes)
        return;
    const double element = bytesPerElement(facts.string("dtype").value_or("bf16"));
    double buffer = checkpointedBlocks(stage).count() > 0 ? static_cast<double>(facts.integer("grad_ckpt_buffer_size").value_or(0)) * element : 0;
    double cache = 0;
    if (const Value &sizes = stage.at("pin_memory_cache_pre_alloc_numels"); sizes.isSequence()) {
        for (const Value &size : sizes.items())
            cache += size.isNumber() ? size.number() * element : 0;
    }
    const double staging = facts.isOn("async_io") ? static_cast<double>(checkpointBytes(stage).value_or(0)) : 0;
    buffer *= surroundings.worldSize;
    cache *= surroundings.worldSize;
    const double available = static_cast<double>(*surroundings.hostAvailableBytes);
    if (buffer + cache + staging <= available)
        return;
    const std::string path = buffer >= cache && buffer >= staging ? "grad_ckpt_buffer_size" : cache >= staging ? "pin_memory_cache_pre_alloc_numels" : "async_io";
    findings.warning("env.host-memory", path, "host memory: " + formatBytes(buffer + cache + staging) + " would be locked or used (activation buffer "
            + formatBytes(buffer) + ", data cache " + formatBytes(cache) + ", checkpoint staging " + formatBytes(staging) + ", for "
            + std::to_string(surroundings.worldSize) + (surroundings.worldSize == 1 ? " process" : " processes") + "), but only " + formatBytes(available) + " is free");
}

void checkDisk(const Stage &stage, const Facts &facts, const Surroundings &surroundings, Findings &findings)
{
    const auto each = checkpointBytes(stage);
    if (!surroundings.freeDiskBytes || !each)
        return;
    const double free = static_cast<double>(*surroundings.freeDiskBytes), one = static_cast<double>(*each);
    const std::int64_t keep = facts.integer("keep_n_latest").value_or(-1);
    const bool saves = facts.integer("ckpt_every").value_or(0) > 0;
    const double wanted = one * static_cast<double>(saves && keep > 0 ? keep + 1 : 1);      // the old one goes after the new one is safe
    if (wanted <= free)
        return;
    const auto fit = static_cast<std::int64_t>(free / one);
    const std::string ending = fit == 0 ? "not even one fits" : "the disk is full after " + std::to_string(fit) + (fit == 1 ? " save" : " saves");
    if (saves && keep > 0) {
        const std::int64_t possible = static_cast<std::int64_t>(free / one) - 1;
        Problem &problem = findings.warning("env.disk", "keep_n_latest", "a checkpoint takes about " + formatBytes(one) + "; keeping " + std::to_string(keep)
                + " and writing one more needs " + formatBytes(wanted) + ", but " + formatBytes(free) + " is free: " + ending);
        if (possible >= 1)
            problem.fix = setTo(stage, "Keep " + std::to_string(possible), "keep_n_latest", Value(possible));
        return;
    }
    findings.warning("env.disk", saves ? "ckpt_every" : "outputs", "a checkpoint takes about " + formatBytes(one) + ", but only " + formatBytes(free) + " is free");
}

} // namespace

void checkPaths(const Stage &stage, const Surroundings &surroundings, Findings &findings)
{
    if (!surroundings.checkPaths)
        return;
    const Facts facts(stage);
    checkLoad(stage, facts, findings);
    checkWeights(facts, findings);
    checkRotaryOrder(stage, facts, findings);
    checkTablePath(stage, facts, findings);
    checkOutputs(facts, findings);
}

void checkMachine(const Stage &stage, const Surroundings &surroundings, Findings &findings)
{
    const Facts facts(stage);
    checkDevice(stage, facts, surroundings, findings);
    checkHostMemory(stage, facts, surroundings, findings);
    checkDisk(stage, facts, surroundings, findings);
}

} // namespace stagewright::config
