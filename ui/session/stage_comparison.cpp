#include "ui/session/stage_comparison.h"

#include <algorithm>
#include <set>

#include "core/base/paths.h"
#include "core/config/presets.h"
#include "core/runlog/run_list.h"

namespace stagewright::session {

namespace fs = std::filesystem;
using config::Stage;

static constexpr std::size_t kMostRuns = 50;

static Counterpart named(Counterpart::Kind kind, const std::string &id, const std::string &title)
{
    Counterpart made;
    made.kind = kind;
    made.id = id;
    made.titleEn = made.titleZh = title;
    return made;
}

static void addPresets(std::vector<Counterpart> &all)
{
    for (const config::Preset &preset : config::presets()) {
        Counterpart made = named(Counterpart::Kind::Preset, preset.id, preset.titleEn);
        made.titleZh = preset.titleZh;
        made.helpEn = preset.helpEn;
        made.helpZh = preset.helpZh;
        made.vramGiB = preset.vramGiB;
        all.push_back(std::move(made));
    }
}

static void addRuns(std::vector<Counterpart> &all, const StageSnapshot &snapshot, const std::vector<std::string> &moreRuns)
{
    std::vector<runlog::RunListing> runs;
    if (snapshot.stage) {
        const config::Value &outputs = snapshot.stage->at("outputs");
        if (outputs.type() == config::Type::String)
            if (auto listed = runlog::listRuns(expandUser(outputs.string())))
                runs = std::move(*listed);
    }
    for (const std::string &folder : moreRuns)
        runs.push_back(runlog::listingOf(folder));
    std::stable_sort(runs.begin(), runs.end(), [](const auto &a, const auto &b) { return a.started > b.started; });
    std::set<std::string> seen;
    for (const runlog::RunListing &run : runs) {
        std::error_code ignored;
        const std::string folder = fs::weakly_canonical(run.folder, ignored).string();
        if (seen.size() == kMostRuns || !fs::exists(run.folder / "config.yaml", ignored) || !seen.insert(folder).second)
            continue;
        Counterpart made = named(Counterpart::Kind::Run, folder, run.folder.filename().string());
        made.started = run.started;
        made.step = run.step;
        all.push_back(std::move(made));
    }
}

std::vector<Counterpart> counterparts(const StageSnapshot &snapshot, const fs::path &file, const std::vector<std::string> &moreRuns)
{
    std::vector<Counterpart> all = {named(Counterpart::Kind::SavedFile, file.string(), file.filename().string())};
    for (const auto &base : snapshot.bases)
        all.push_back(named(Counterpart::Kind::Base, base->file().string(), base->file().filename().string()));
    addPresets(all);
    addRuns(all, snapshot, moreRuns);
    return all;
}

static Result<Stage> stageOf(const StageSnapshot &snapshot, const fs::path &file, const std::string &savedText, const Counterpart &with)
{
    switch (with.kind) {
    case Counterpart::Kind::SavedFile: return config::stageFromText(savedText, file);
    case Counterpart::Kind::Base:
    case Counterpart::Kind::File: return config::loadStage(with.id);
    case Counterpart::Kind::Run: return config::loadStage(fs::path(with.id) / "config.yaml");
    case Counterpart::Kind::Preset: break;
    }
    auto preset = config::findPreset(with.id);
    if (!preset)
        return preset.error();
    Stage stage = *snapshot.stage;
    config::applyPreset(stage, *preset);
    return stage;
}

Comparison compare(const StageSnapshot &snapshot, const fs::path &file, const std::string &savedText, const Counterpart &with)
{
    Comparison comparison{with, {}, {}};
    if (!snapshot.stage) {
        comparison.sentence = snapshot.problems.empty() ? std::string() : snapshot.problems.front().message;
        return comparison;
    }
    auto other = stageOf(snapshot, file, savedText, with);
    if (other)
        comparison.changes = config::diff(*snapshot.stage, *other);
    else
        comparison.sentence = other.error().message();
    return comparison;
}

} // namespace stagewright::session
