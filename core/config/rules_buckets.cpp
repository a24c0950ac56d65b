#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/config/bucket_table.h"
#include "core/config/rules.h"

namespace stagewright::config {

namespace {

std::string fileNameOf(const Value &value)
{
    return std::filesystem::path(value.origin.fileName()).filename().string();
}

class BucketRule
{
public:
    BucketRule(const Stage &stage, Findings &findings)
        : m_stage(stage), m_findings(findings), m_granularity(aspectGranularity(stage)), m_geometry(latentGeometry(stage))
    {
    }

    void check(const Value &table)
    {
        for (const auto &[name, rows] : table.dict())
            checkResolution(name, rows);
        if (m_switchedOn == 0 && !m_broken)
            m_findings.at(table, Severity::Error, "config.no-bucket", "bucket_config", "bucket_config has no row with a probability above 0, so no batch can be made");
        checkMerged(table);
    }

private:
    void checkResolution(const DictKey &name, const Value &rows)
    {
        const std::string path = "bucket_config." + name.text();
        const auto resolution = parseResolution(name.text());
        if (name.isInteger() || !resolution)
            badName(name, rows, path);
        else if (aspectTable(*resolution, m_granularity).empty())
            noSize(*resolution, rows, path);
        if (!rows.isDict()) {
            m_broken = true;
            m_findings.at(rows, Severity::Error, "config.bucket-row", path,
                path + " must be a dict of frame counts, such as {1: (1.0, 4)}, not " + std::string(typeName(rows.type())));
            return;
        }
        for (const auto &[frames, value] : rows.dict())
            checkRow(name.text(), frames, value, rows.dict());
    }

    void badName(const DictKey &name, const Value &rows, const std::string &path)
    {
        m_broken = true;
        const auto parsed = parseResolution(name.text());
        const std::string sentence = parsed ? "resolutions are texts: write \"" + name.text() + "\"" : parsed.error().message();
        Problem &problem = m_findings.at(rows, Severity::Error, "config.resolution", path, sentence);
        if (const std::string meant = resolutionSuggestion(name.text()); !meant.empty())
            problem.fix = Fix{"Rename to " + meant, {{path, toPython(rows), std::nullopt}, {"bucket_config." + meant, std::nullopt, toPython(rows)}}};
    }

    void noSize(const Resolution &resolution, const Value &rows, const std::string &path)
    {
        m_broken = true;
        std::string sentence = "\"" + resolution.name + "\" has no size that is a multiple of " + std::to_string(m_granularity) + " pixels";
        if (!resolution.aspectOnly.empty()) {
            Resolution whole = resolution;
            whole.aspectOnly.clear();
            std::vector<std::string> names;
            for (const AspectSize &size : aspectTable(whole, m_granularity))
                names.push_back(size.name);
            if (!names.empty())
                sentence = "\"" + resolution.name + "\": there is no aspect ratio " + resolution.aspectOnly + " at this size; there are " + joined(names, ", ");
        }
        m_findings.at(rows, Severity::Error, "config.resolution", path, sentence);
    }

    void checkRow(const std::string &resolution, const DictKey &frames, const Value &value, const Dict &rows)
    {
        const auto row = bucketRow(resolution, frames, value);
        if (row) {
            m_switchedOn += row->probability > 0;
            return;
        }
        m_broken = true;
        const Problem &found = row.error().problem;
        Problem &problem = m_findings.at(value, Severity::Error, found.code.c_str(), found.path, found.message);
        problem.fix = found.fix;
        if (frames.isInteger() || found.code != "config.frames")
            return;
        for (const auto &[other, ignored] : rows) {
            if (other.isInteger() && other.text() == frames.text())
                problem.message = "bucket_config " + resolution + " has both " + frames.text() + " and \"" + frames.text() + "\"; keep one of them";
        }
    }

    // Rows of a base that are still active because the child's table was merged into it.
    void checkMerged(const Value &table)
    {
        std::set<std::string> fromFile, fromBase;
        std::string leaf, base;
        for (const auto &[name, rows] : table.dict()) {
            if (!rows.isDict())
                continue;
            for (const auto &[frames, value] : rows.dict()) {
                const bool isBase = value.origin.kind == OriginKind::Base;
                if (value.origin.kind != OriginKind::Base && value.origin.kind != OriginKind::File)
                    continue;
                (isBase ? fromBase : fromFile).insert(name.text());
                (isBase ? base : leaf) = fileNameOf(value);
            }
        }
        if (fromFile.empty() || fromBase.empty())
            return;
        m_findings.at(table, Severity::Warning, "config.merged-buckets", "bucket_config",
            "bucket_config holds rows of " + leaf + " (" + joined({fromFile.begin(), fromFile.end()}, ", ") + ") and still those of its base " + base + " ("
                + joined({fromBase.begin(), fromBase.end()}, ", ") + "); to replace the base's table, put \"_delete_\": True into it");
    }

    const Stage &m_stage;
    Findings &m_findings;
    int m_granularity;
    LatentGeometry m_geometry;
    int m_switchedOn = 0;
    bool m_broken = false;
};

// Frame counts of each resolution in ascending order, with the value of their row.
using FrameRows = std::vector<std::pair<int, const Value *>>;

FrameRows framesOf(const Dict &rows)
{
    FrameRows frames;
    for (const auto &[key, value] : rows) {
        if (key.isInteger())
            frames.emplace_back(static_cast<int>(std::clamp<std::int64_t>(std::get<std::int64_t>(key.key), -1, 1 << 30)), &value);
    }
    std::sort(frames.begin(), frames.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    return frames;
}

enum class FrameRule { FirstAlone, Multiples };        // 4k + 1, or 4k (and 1)

bool fits(int frames, int ratio, FrameRule rule)
{
    return frames == 1 || (frames - (rule == FrameRule::FirstAlone ? 1 : 0)) % ratio == 0;
}

std::string neighbours(int frames, int ratio, FrameRule rule)
{
    int below = frames, above = frames;
    while (below > 1 && !fits(below, ratio, rule))
        --below;
    while (!fits(above, ratio, rule))
        ++above;
    return std::to_string(below) + " or " + std::to_string(above);
}

void checkFrameCounts(const Stage &stage, const std::string &resolution, const FrameRows &frames, const LatentGeometry &geometry, FrameRule rule, Findings &findings)
{
    const Facts facts(stage);
    const std::string name = facts.dict("ae") ? facts.string("ae.type").value_or("ae") : facts.isOn("is_causal_vae") ? "is_causal_vae: True" : "is_causal_vae: False";
    for (const auto &[count, value] : frames) {
        if (count < 1 || fits(count, geometry.timeRatio, rule))
            continue;
        const std::string ratio = std::to_string(geometry.timeRatio);
        const std::string form = rule == FrameRule::FirstAlone ? ratio + " k + 1 frames (1, 5, 9 …)" : "multiples of " + ratio + " frames (or a single image)";
        const std::string path = "bucket_config." + resolution + "." + std::to_string(count);
        findings.at(*value, Severity::Error, "config.frames", path,
            "bucket_config " + resolution + ": the autoencoder (" + name + ") takes " + form + ", not " + std::to_string(count) + "; use "
                + neighbours(count, geometry.timeRatio, rule));
    }
}

// A frame count that is missing in an otherwise even row, as 69 in 65, 73, 77, …
void checkGaps(const std::string &resolution, const FrameRows &frames, Findings &findings)
{
    std::vector<int> steps;
    for (std::size_t i = 2; i < frames.size(); ++i)        // the step from images to the shortest clips says nothing
        steps.push_back(frames[i].first - frames[i - 1].first);
    if (steps.size() < 3)
        return;
    std::vector<int> sorted = steps;
    std::sort(sorted.begin(), sorted.end());
    const int usual = sorted[sorted.size() / 2];
    const auto even = std::count(steps.begin(), steps.end(), usual);
    if (usual < 1 || static_cast<double>(even) < 0.75 * static_cast<double>(steps.size()))
        return;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i] <= usual || steps[i] % usual != 0)
            continue;
        const int before = frames[i + 1].first, after = frames[i + 2].first;
        findings.at(*frames[i + 2].second, Severity::Hint, "config.bucket-gap", "bucket_config." + resolution + "." + std::to_string(after),
            "bucket_config " + resolution + " goes from " + std::to_string(before) + " to " + std::to_string(after) + " frames while all others are "
                + std::to_string(usual) + " apart: clips of " + std::to_string(before + usual) + " to " + std::to_string(after - 1) + " frames are cut to "
                + std::to_string(before));
    }
}

void checkGapsOnly(const Dict &table, Findings &findings)
{
    for (const auto &[name, rows] : table) {
        if (rows.isDict())
            checkGaps(name.text(), framesOf(rows.dict()), findings);
    }
}

} // namespace

void checkBuckets(const Stage &stage, Findings &findings)
{
    const Value *table = lookUp(stage.values(), "bucket_config");
    if (table && table->isDict())
        BucketRule(stage, findings).check(*table);
}

void checkFrames(const Stage &stage, Findings &findings)
{
    const Facts facts(stage);
    const Dict *table = facts.dict("bucket_config");
    if (!table)
        return;
    const LatentGeometry geometry = latentGeometry(stage);
    // Without an autoencoder (cached latents) is_causal_vae says how they were made; where it does not either, nothing is known.
    if (!facts.dict("ae") && !facts.boolean("is_causal_vae"))
        return checkGapsOnly(*table, findings);
    const bool multiples = facts.dict("ae") ? facts.is("ae.type", "dc_ae") : !facts.isOn("is_causal_vae");
    const FrameRule rule = multiples ? FrameRule::Multiples : FrameRule::FirstAlone;
    for (const auto &[name, rows] : *table) {
        if (!rows.isDict())
            continue;
        const FrameRows frames = framesOf(rows.dict());
        checkFrameCounts(stage, name.text(), frames, geometry, rule, findings);
        checkGaps(name.text(), frames, findings);
    }
}

} // namespace stagewright::config
