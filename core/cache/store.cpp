#include "core/cache/store.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/table/caption.h"

namespace stagewright::cache {

namespace fs = std::filesystem;

namespace {

constexpr const char *kContentsFile = "contents.jsonl", *kRefusedFile = "refused.jsonl", *kAside = ".tmp-";

std::map<std::string, Refusal> readRefusals(const fs::path &file)
{
    std::map<std::string, Refusal> refusals;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        const auto text = [&](const char *key) { return json.contains(key) && json[key].is_string(); };
        if (json.is_object() && text("entry") && text("path") && text("reason") && json.contains("row") && json["row"].is_number_integer())
            refusals[json["entry"]] = {json["row"], json["path"], json["reason"]};
    }
    return refusals;
}

void removeOldLeftovers(const fs::path &folder)
{
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (at->path().filename().string().starts_with(kAside) && at->last_write_time(ignored) < old)
            fs::remove(at->path(), ignored);
    }
}

} // namespace

Result<std::shared_ptr<Store>> Store::open(const config::Stage &stage, std::shared_ptr<const table::Table> table, const table::BucketRules &rules)
{
    std::shared_ptr<Store> store(new Store);
    store->m_folder = fs::absolute(expandUser(stage.string("encoding_cache")));
    store->m_table = std::move(table);
    store->m_rules = rules;
    store->m_epochs = std::max<std::int64_t>(stage.integer("epochs"), 1);
    store->m_hasLatents = config::cachedParts(stage).video;
    store->m_motionScore = stage.boolean("dataset.vmaf");
    store->m_contents = std::make_unique<Contents>(store->m_folder / kContentsFile);
    auto recipe = Recipe::of(stage, *store->m_contents);
    if (!recipe)
        return recipe.error();
    store->m_recipe = std::make_unique<Recipe>(std::move(*recipe));
    store->m_refusals = readRefusals(store->m_folder / kRefusedFile);
    return store;
}

Result<Key> Store::latents(std::int64_t row, const ClipShape &shape)
{
    const auto contents = m_contents->hashOf(m_table->mediaPath(row));
    if (!contents)
        return contents.error();
    return m_recipe->latents(*m_table, m_rules, row, shape, *contents);
}

std::optional<Key> Store::knownLatents(std::int64_t row, const ClipShape &shape) const
{
    const auto contents = m_contents->knownHashOf(m_table->mediaPath(row));
    return contents ? std::optional(m_recipe->latents(*m_table, m_rules, row, shape, *contents)) : std::nullopt;
}

fs::path Store::pathOf(const Key &key) const { return m_folder / key.name.substr(0, 2) / (key.name + kEntryEnding); }

std::optional<Refusal> Store::refusal(const Key &key) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_refusals.find(key.name);
    return found == m_refusals.end() ? std::nullopt : std::optional(found->second);
}

Result<Entry> Store::read(const Key &key) const
{
    auto entry = readEntry(pathOf(key), key);
    if (!entry && entry.error().problem.code == "data.cache-missing") {
        if (const auto refused = refusal(key))
            return Error(ExitCode::Data, "data.cache-missing", refused->path + ": " + refused->reason, m_folder.string());
    }
    return entry;
}

std::string Store::wordsOf(std::int64_t row, std::int64_t bucketFrames, std::int64_t whichCaption) const
{
    const auto rate = table::frameRateFor(m_rules, m_table->number(table::NumberColumn::Fps, row), m_table->number(table::NumberColumn::NumFrames, row), bucketFrames);
    return table::captionOf(*m_table, {m_rules.fpsMax, m_motionScore}, row, rate, whichCaption);
}

Status Store::beginWriting()
{
    if (Status made = ensureFolder(m_folder); !made)
        return made;
    removeOldLeftovers(m_folder);
    m_contents->remember();
    return Done{};
}

void Store::refuse(const Key &key, const Refusal &refusal)
{
    const std::lock_guard lock(m_mutex);
    if (!m_refusals.emplace(key.name, refusal).second)
        return;
    const nlohmann::json json{{"entry", key.name}, {"row", refusal.row}, {"path", refusal.path}, {"reason", refusal.reason}};
    std::ofstream(m_folder / kRefusedFile, std::ios::app) << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

} // namespace stagewright::cache
