#include "ui/session/edit_journal.h"

#include <QCryptographicHash>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/paths.h"

namespace stagewright::session {

using nlohmann::json;

std::filesystem::path journalPath(const std::filesystem::path &stageFile)
{
    std::error_code ignored;
    const auto absolute = std::filesystem::absolute(stageFile, ignored).lexically_normal().string();
    const auto hash = QCryptographicHash::hash(QByteArray::fromStdString(absolute), QCryptographicHash::Sha1).toHex().left(16);
    return stateFolder() / "edits" / (hash.toStdString() + ".json");
}

Status writeJournal(const Journal &journal)
{
    json steps = json::array();
    for (const auto &step : journal.steps)
        steps.push_back({step.splice.at, step.splice.removed, step.splice.inserted, step.label});
    const json whole = {{"version", 1}, {"file", journal.file}, {"saved_text", journal.savedText}, {"text", journal.text},
                        {"steps", steps}, {"position", journal.position}, {"clean_position", journal.cleanPosition}};
    const auto path = journalPath(journal.file);
    if (auto made = ensureFolder(path.parent_path()); !made)
        return made;
    return replaceFile(path, whole.dump(-1, ' ', false, json::error_handler_t::replace));
}

// A damaged journal is left where it is and ignored: the stage file itself is whole.
std::optional<Journal> readJournal(const std::filesystem::path &stageFile)
{
    const auto text = readFile(journalPath(stageFile), 256 << 20);
    if (!text)
        return std::nullopt;
    const json whole = json::parse(*text, nullptr, false);
    if (!whole.is_object() || whole.value("version", 0) != 1)
        return std::nullopt;
    try {
        Journal journal;
        journal.file = whole.at("file").get<std::string>();
        journal.savedText = whole.at("saved_text").get<std::string>();
        journal.text = whole.at("text").get<std::string>();
        journal.position = whole.at("position").get<int>();
        journal.cleanPosition = whole.at("clean_position").get<int>();
        for (const auto &step : whole.at("steps"))
            journal.steps.push_back({{step.at(0).get<std::size_t>(), step.at(1).get<std::string>(), step.at(2).get<std::string>()}, step.at(3).get<std::string>()});
        // Replay from the current text: each step must fit, or the history is dropped and only the text is kept.
        std::string probe = journal.text;
        const int count = int(journal.steps.size());
        bool fits = journal.position >= 0 && journal.position <= count;
        for (int i = journal.position - 1; fits && i >= 0; --i) {
            const auto &splice = journal.steps[std::size_t(i)].splice;
            fits = splice.at <= probe.size() && probe.compare(splice.at, splice.inserted.size(), splice.inserted) == 0;
            if (fits)
                revertSplice(probe, splice);
        }
        for (int i = 0; fits && i < count; ++i) {
            const auto &splice = journal.steps[std::size_t(i)].splice;
            fits = splice.at <= probe.size() && probe.compare(splice.at, splice.removed.size(), splice.removed) == 0;
            if (fits)
                applySplice(probe, splice);
        }
        if (!fits) {
            journal.steps.clear();
            journal.position = 0;
            journal.cleanPosition = journal.text == journal.savedText ? 0 : -1;
        }
        return journal;
    } catch (const json::exception &) {
        return std::nullopt;
    }
}

void removeJournal(const std::filesystem::path &stageFile)
{
    std::error_code ignored;
    std::filesystem::remove(journalPath(stageFile), ignored);
}

} // namespace stagewright::session
