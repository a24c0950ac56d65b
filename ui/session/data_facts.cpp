#include "ui/session/data_facts.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/table/measure.h"

namespace stagewright::session {

Losses lossesOf(const table::Simulation &simulation)
{
    constexpr auto kNotDrawn = static_cast<std::size_t>(table::DropReason::NotDrawn);
    Losses losses;
    for (std::size_t reason = 0; reason < table::kDropReasons; ++reason)
        (reason == kNotDrawn ? losses.notDrawn : losses.dropped) += simulation.dropped[reason];
    losses.tail = simulation.use.lost;
    return losses;
}

std::string RowList::why(std::int64_t row) const
{
    if (!open || choice.kind != RowChoice::Kind::Reason)
        return {};
    std::string sentence = table::explainDrop(*open->table, rules, nowhere, row);
    const std::string number = "row " + std::to_string(row) + ": ";
    return sentence.starts_with(number) ? sentence.substr(number.size()) : sentence;
}

namespace {

bool holds(std::string_view text, const std::string &words)
{
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::search(text.begin(), text.end(), words.begin(), words.end(), [&](char a, char b) { return lower(a) == b; }) != text.end();
}

std::vector<std::int64_t> rowsOf(OpenTable &open, const table::BucketRules &rules, std::int64_t epoch, const RowChoice &choice)
{
    const std::int64_t all = open.table->rowCount();
    // A lock for each question: a count for a keystroke need not wait for all of them.
    const auto ask = [&](auto question) {
        const std::lock_guard lock(open.mutex);
        return question(open.simulator);
    };
    if (choice.kind == RowChoice::Kind::Reason)
        return ask([&](auto &simulator) { return simulator.droppedRows(rules, epoch, static_cast<table::DropReason>(choice.index), 0, all); });
    if (choice.kind == RowChoice::Kind::Cell)
        return ask([&](auto &simulator) { return simulator.rowsOfBucket(rules, epoch, choice.index, 0, all); });
    std::vector<std::int64_t> rows;
    if (choice.kind == RowChoice::Kind::Nothing)
        return rows;
    // Tails are cut before the shuffle: the last rows of each cell.
    const auto cells = ask([&](auto &simulator) { return simulator.simulate(rules, epoch).buckets; });
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const auto &bucket = cells[cell];
        const bool isTail = choice.kind == RowChoice::Kind::Tail;
        if (bucket.samples == 0 || (!isTail && (bucket.bucket.resolution != choice.resolution || bucket.bucket.frames != choice.frames)))
            continue;
        const std::int64_t used = isTail ? bucket.batches() * bucket.bucket.batchSize : 0;
        if (used >= bucket.samples)
            continue;
        const auto more = ask([&](auto &simulator) { return simulator.rowsOfBucket(rules, epoch, cell, used, bucket.samples); });
        rows.insert(rows.end(), more.begin(), more.end());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace

std::shared_ptr<const RowList> findRows(const std::shared_ptr<OpenTable> &open, const table::BucketRules &rules, std::int64_t epoch,
                                        const RowChoice &choice, const std::string &words)
{
    auto list = std::make_shared<RowList>();
    list->open = open;
    list->rules = rules;
    list->choice = choice;
    list->rows = rowsOf(*open, rules, epoch, choice);
    list->found = static_cast<std::int64_t>(list->rows.size());
    list->nowhere.epoch = epoch;
    list->nowhere.seed = rules.seed;
    list->nowhere.rows = open->table->rowCount();
    if (choice.kind == RowChoice::Kind::Reason)
        list->nowhere.bucketOfRow.assign(static_cast<std::size_t>(open->table->rowCount()), -1);
    if (!words.empty())
        std::erase_if(list->rows, [&](std::int64_t row) { return !holds(open->table->path(row), words) && !holds(open->table->caption(row), words); });
    return list;
}

Status exportRows(const RowList &list, const std::filesystem::path &file)
{
    std::string text = "row,path,reason,why\n";
    const bool isReason = list.choice.kind == RowChoice::Kind::Reason;
    const std::string reason = isReason ? table::reasonName(static_cast<table::DropReason>(list.choice.index)) : list.choice.kind == RowChoice::Kind::Tail ? "left_over" : "kept";
    for (const std::int64_t row : list.rows)
        text += std::to_string(row) + ',' + table::csvField(list.open->table->path(row)) + ',' + reason + ',' + table::csvField(list.why(row)) + '\n';
    return replaceFile(file, text);
}

} // namespace stagewright::session
