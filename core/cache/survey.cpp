#include "core/cache/survey.h"

#include <unordered_set>

namespace stagewright::cache {

namespace fs = std::filesystem;

namespace {

class Surveyor
{
public:
    Surveyor(Store &store, Depth depth) : m_store(store), m_depth(depth) {}
    Survey survey;

    void clip(const WantedClip &clip)
    {
        const std::string name = "row " + std::to_string(clip.row) + ", " + m_store.table().mediaPath(clip.row).string();
        if (m_depth == Depth::Headers) {
            const auto key = m_store.knownLatents(clip.row, clip.shape);
            return key ? look(*key, name) : count(survey.missing, survey.firstMissing, "data.cache-missing", name + ": was not encoded yet, or has changed since");
        }
        const auto key = m_store.latents(clip.row, clip.shape);
        return key ? look(*key, name) : count(survey.missing, survey.firstMissing, "data.cache-missing", "row " + std::to_string(clip.row) + ", " + key.error().message());
    }

    void text(const std::string &text)
    {
        const std::string words = text.empty() ? "the empty text" : "\"" + text.substr(0, kShownBytes) + (text.size() > kShownBytes ? "…\"" : "\"");
        for (const Part part : {Part::Tokens, Part::Pooled})
            look(m_store.text(part, text), words);
    }

    void countUnused()
    {
        std::error_code error;
        for (fs::recursive_directory_iterator at(m_store.folder(), error), end; !error && at != end; at.increment(error)) {
            std::error_code ignored;
            if (at->path().extension() != kEntryEnding || m_names.contains(at->path().stem().string()))
                continue;
            ++survey.unused;
            survey.unusedBytes += static_cast<std::int64_t>(at->file_size(ignored));
        }
    }

private:
    static constexpr std::size_t kShownBytes = 60;

    void count(std::int64_t &counter, Problems &first, const char *code, std::string sentence)
    {
        ++counter;
        if (first.size() < Survey::kFirst)
            first.push_back({Severity::Warning, code, {}, asSentence(std::move(sentence)), m_store.folder().string(), 0, 0, {}});
    }

    void look(const Key &key, const std::string &name)
    {
        m_names.insert(key.name);
        const fs::path file = m_store.pathOf(key);
        const auto entry = m_depth == Depth::EveryByte ? readEntry(file, key) : Result<Entry>(Entry{});
        const Status status = m_depth == Depth::EveryByte ? (entry ? Status(Done{}) : Status(entry.error())) : lookAtEntry(file, key);
        if (status) {
            std::error_code ignored;
            ++survey.present;
            survey.bytes += static_cast<std::int64_t>(fs::file_size(file, ignored));
        } else if (status.error().problem.code == "data.cache-damaged") {
            count(survey.damaged, survey.firstDamaged, "data.cache-damaged", name + ": " + status.error().message());
        } else if (const auto refused = m_store.refusal(key)) {
            count(survey.refused, survey.firstRefused, "data.bad-sample", name + ": " + refused->reason);
        } else {
            count(survey.missing, survey.firstMissing, "data.cache-missing", name + ": its " + nameOf(key.part) + " were not encoded yet");
        }
    }

    Store &m_store;
    Depth m_depth;
    std::unordered_set<std::string> m_names;
};

} // namespace

Glance glanceAt(const Store &store, const Wanted &wanted)
{
    std::unordered_set<std::string> names;
    std::error_code error;
    for (fs::recursive_directory_iterator at(store.folder(), error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == kEntryEnding)
            names.insert(at->path().stem().string());
    }
    Glance glance;
    glance.wanted = wanted.count();
    const auto look = [&](const Key &key) {
        if (names.contains(key.name))
            return;
        ++(store.refusal(key) ? glance.refused : glance.missing);
    };
    for (const WantedClip &clip : wanted.clips) {
        if (const auto key = store.knownLatents(clip.row, clip.shape))
            look(*key);
        else
            ++glance.unknown;
    }
    for (const std::string &text : wanted.texts) {
        look(store.text(Part::Tokens, text));
        look(store.text(Part::Pooled, text));
    }
    return glance;
}

Result<Survey> surveyOf(Store &store, const Wanted &wanted, Depth depth, const std::function<bool(std::int64_t, std::int64_t)> &progress)
{
    Surveyor surveyor(store, depth);
    surveyor.survey.wanted = wanted.count();
    std::int64_t done = 0;
    const auto goOn = [&](std::int64_t more) { return !progress || progress(done += more, surveyor.survey.wanted); };
    const Error stopped(ExitCode::Stopped, "data.stopped", "stopped as asked");
    for (const WantedClip &clip : wanted.clips) {
        surveyor.clip(clip);
        if (!goOn(1))
            return stopped;
    }
    for (const std::string &text : wanted.texts) {
        surveyor.text(text);
        if (!goOn(2))
            return stopped;
    }
    surveyor.countUnused();
    return std::move(surveyor.survey);
}

} // namespace stagewright::cache
