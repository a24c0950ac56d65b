// The cache of one stage and its table: where the entry of a clip or a caption lies.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/cache/contents.h"
#include "core/cache/entry.h"
#include "core/cache/recipe.h"
#include "core/config/stage.h"
#include "core/table/buckets.h"

namespace stagewright::cache {

inline constexpr const char *kEntryEnding = ".safetensors";

// What could not be made, and why.
struct Refusal {
    std::int64_t row = 0;
    std::string path, reason;                          // the reason without the path in front
};

// Any thread.
class Store
{
public:
    // At the stage's encoding_cache, which it must set. The folder need not exist.
    static Result<std::shared_ptr<Store>> open(const config::Stage &stage, std::shared_ptr<const table::Table> table, const table::BucketRules &rules);

    const std::filesystem::path &folder() const { return m_folder; }
    const table::Table &table() const { return *m_table; }
    const table::BucketRules &rules() const { return m_rules; }
    std::int64_t epochs() const { return m_epochs; }   // that the stage trains
    bool hasLatents() const { return m_hasLatents; }   // false: the stage conditions on frames, so it encodes clips in the step

    // Reads the clip where it is not known (data.file-missing, data.unreadable).
    Result<Key> latents(std::int64_t row, const ClipShape &shape);
    std::optional<Key> knownLatents(std::int64_t row, const ClipShape &shape) const;       // where nothing has to be read
    Key text(Part part, const std::string &text) const { return part == Part::Tokens ? m_recipe->tokens(text) : m_recipe->pooled(text); }

    std::filesystem::path pathOf(const Key &key) const;
    // data.cache-missing with the row's refusal, where there is one.
    Result<Entry> read(const Key &key) const;
    std::optional<Refusal> refusal(const Key &key) const;

    // The words of a row in a bucket of so many frames, as it trains with them.
    std::string wordsOf(std::int64_t row, std::int64_t bucketFrames, std::int64_t whichCaption) const;

    // For who writes: makes the folder, removes what a killed build left more than an hour ago, and notes what is read from now on.
    Status beginWriting();
    Status write(const Key &key, const Entry &entry) const { return writeEntry(pathOf(key), key, entry); }
    void refuse(const Key &key, const Refusal &refusal);

private:
    Store() = default;
    std::filesystem::path m_folder;
    std::shared_ptr<const table::Table> m_table;
    table::BucketRules m_rules;
    std::int64_t m_epochs = 1;
    bool m_hasLatents = true, m_motionScore = false;
    std::unique_ptr<Contents> m_contents;
    std::unique_ptr<Recipe> m_recipe;
    mutable std::mutex m_mutex;                        // guards m_refusals
    std::map<std::string, Refusal> m_refusals;         // by name
};

} // namespace stagewright::cache
