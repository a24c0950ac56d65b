// What an entry depends on: its key, a JSON text, and its name, the key's hash.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/cache/contents.h"
#include "core/config/stage.h"
#include "core/table/buckets.h"

namespace stagewright::cache {

enum class Part { Latents, Tokens, Pooled };
const char *nameOf(Part part);                         // "latents", "tokens", "pooled"

struct Key {
    Part part = Part::Latents;
    std::string text;                                  // JSON
    std::string name;                                  // 32 hexadecimal digits
};

struct ClipShape {
    std::int64_t frames = 1, height = 0, width = 0;    // of the bucket
    auto operator<=>(const ClipShape &) const = default;
};

// What a stage encodes with. Immutable; any thread.
class Recipe
{
public:
    // Reads the encoders' weights where they are not known yet. Error: they cannot be read.
    static Result<Recipe> of(const config::Stage &stage, Contents &contents);

    // contents: of the row's clip. The other things that decide which pixels are encoded are the row's own.
    Key latents(const table::Table &table, const table::BucketRules &rules, std::int64_t row, const ClipShape &shape, const std::string &contents) const;
    Key tokens(const std::string &text) const;
    Key pooled(const std::string &text) const;

private:
    Key textKey(Part part, const std::string &encoder, const std::string &text) const;
    std::string m_autoencoder, m_tokens, m_pooled;     // options of each encoder with the contents of its weights
    std::string m_latentType, m_textType;
    std::string m_transform;
    std::int64_t m_interval = 0;
};

} // namespace stagewright::cache
