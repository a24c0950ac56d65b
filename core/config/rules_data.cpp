#include <filesystem>

#include "core/base/text.h"
#include "core/config/bucket_table.h"
#include "core/config/rules.h"
#include "core/config/table_format.h"

namespace stagewright::config {

namespace {

void checkTable(const Stage &stage, const Facts &facts, Findings &findings)
{
    const auto path = facts.string("dataset.data_path");
    if (!path)
        return;
    const auto format = tableFormat(*path);
    if (!format && std::filesystem::path(*path).has_extension()) {
        findings.error("config.table-format", "dataset.data_path", "dataset.data_path \"" + *path + "\" must be " + describeTableFormats());
        return;
    }
    if (format != TableFormat::Parquet && facts.isOn("dataset.memory_efficient"))
        findings.error("config.shards-need-parquet", "dataset.memory_efficient", "dataset.memory_efficient reads captions from Parquet shards, but the table is not a .parquet file")
            .fix = setTo(stage, "Switch memory_efficient off", "dataset.memory_efficient", Value(false));
}

void checkCaches(const Stage &stage, const Facts &facts, Findings &findings)
{
    const bool cachedType = facts.is("dataset.type", "cached_video_text");
    for (const std::string name : {"cached_video", "cached_text"}) {
        if (facts.isOn(name) && !cachedType)
            findings.error("config.cache-without-dataset", name, name + " needs dataset.type cached_video_text, which reads the cached files")
                .fix = setTo(stage, "Set dataset.type to cached_video_text", "dataset.type", Value("cached_video_text"));
        if (cachedType && facts.isOn("dataset." + name) != facts.isOn(name))
            findings.warning("config.cache-mismatch", name, name + " and dataset." + name + " differ; the trainer and the dataset would disagree about what a batch holds");
    }
    if (stage.isSet("encoding_cache") && cachedType)
        findings.error("config.cache-and-columns", "encoding_cache", "dataset.type cached_video_text reads encodings from files that the table names, and encoding_cache from the cache of `stagewright-cli cache`: set only one of them")
            .fix = setTo(stage, "Set dataset.type to video_text", "dataset.type", Value("video_text"));
    if (facts.is("dataset.type", "text"))
        findings.error("config.dataset-for-sampling", "dataset.type", "dataset.type text has no clips; it is only for sampling")
            .fix = setTo(stage, "Set dataset.type to video_text", "dataset.type", Value("video_text"));
}

void checkEncoders(const Stage &stage, const Facts &facts, Findings &findings)
{
    const auto need = [&](const std::string &section, const std::string &cache) {
        if (!stage.isSet(section) && !facts.isOn(cache))
            findings.error("config.required", section, section + " is missing: " + std::string(findOption(section)->help.en));
    };
    need("ae", "cached_video");
    need("t5", "cached_text");
    need("clip", "cached_text");
}

void checkAutoencoder(const Stage &stage, const Facts &facts, Findings &findings)
{
    const auto type = facts.string("ae.type");
    if (!facts.dict("ae") || !type)
        return;
    const bool causal = *type == "hunyuan_vae" || *type == "haar";
    if (!causal && *type != "dc_ae")
        return;
    if (const auto said = facts.boolean("is_causal_vae"); said && *said != causal)
        findings.warning("config.causal", "is_causal_vae", "is_causal_vae is " + std::string(*said ? "on" : "off") + ", but " + *type + " is "
                + (causal ? "causal: its first latent frame holds one frame" : "not causal"))
            .fix = setTo(stage, causal ? "Switch is_causal_vae on" : "Switch is_causal_vae off", "is_causal_vae", Value(causal));

    const LatentGeometry geometry = latentGeometry(stage);
    const int granularity = aspectGranularity(stage), needed = geometry.spaceRatio * geometry.patch;
    if (granularity % needed != 0)
        findings.error("config.granularity", "ae_spatial_compression", "bucket sizes are multiples of " + std::to_string(granularity) + " pixels (ae_spatial_compression"
                + (stage.isSet("ae_spatial_compression") ? "" : ", not set") + "), but " + *type + " with patch_size " + std::to_string(geometry.patch)
                + " needs multiples of " + std::to_string(needed))
            .fix = setTo(stage, "Set ae_spatial_compression to " + std::to_string(needed), "ae_spatial_compression", Value(needed));
}

} // namespace

void checkData(const Stage &stage, Findings &findings)
{
    const Facts facts(stage);
    checkTable(stage, facts, findings);
    checkCaches(stage, facts, findings);
    checkEncoders(stage, facts, findings);
    checkAutoencoder(stage, facts, findings);
    if (facts.integer("num_workers") == 0 && stage.isSet("prefetch_factor"))
        findings.hint("config.unused-value", "prefetch_factor", "prefetch_factor has no effect without loader threads (num_workers 0)");
}

} // namespace stagewright::config
