#include "ui/models/checkpoint_rows.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/look/kind_colors.h"
#include "ui/look/words.h"

namespace stagewright::models {

using namespace Qt::StringLiterals;
using look::q;

static QString rowWord(const char *text) { return QCoreApplication::translate("CheckpointRows", text); }

Cell badgeCell(ckptfile::Badge badge, const std::string &sentence)
{
    const QString why = q(sentence);
    const auto with = [&](const QString &mark, const QString &word, Tone tone) {
        return Cell{why.isEmpty() ? mark + u' ' + word : mark + u' ' + word + u": "_s + why, tone, false, false, why};
    };
    switch (badge) {
    case ckptfile::Badge::Verified: return with(u"✓"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "verified")), Tone::Good);
    case ckptfile::Badge::Complete: return with(u"○"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "complete, not verified")), Tone::Muted);
    case ckptfile::Badge::Unverified: return with(u"○"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "not verified")), Tone::Muted);
    case ckptfile::Badge::Foreign: return with(u"◇"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "from another program")), Tone::Muted);
    case ckptfile::Badge::Incomplete: return with(u"✕"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "incomplete")), Tone::Error);
    case ckptfile::Badge::Truncated: return with(u"✕"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "truncated")), Tone::Error);
    case ckptfile::Badge::Damaged: return with(u"✕"_s, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "damaged")), Tone::Error);
    }
    return {};
}

QStringList checkpointHeaders()
{
    return {rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "checkpoint")), rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "saved")),
            rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "size")), rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "state"))};
}

QList<Row> checkpointRows(const std::vector<ckptfile::ListedCheckpoint> &checkpoints, const std::vector<session::SaveFacts> &current, double now)
{
    QList<Row> rows;
    for (const auto &save : current) {
        const bool listed = std::any_of(checkpoints.begin(), checkpoints.end(), [&](const auto &known) { return known.path == save.path; });
        if (!save.isInProgress() || listed)
            continue;
        const QString size = save.totalBytes > 0 ? rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "%1 of %2")).arg(look::bytes(double(save.bytes)), look::bytes(double(save.totalBytes))) : u"—"_s;
        rows.append({q(save.path), {{q(std::filesystem::path(save.path).filename())}, {rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "now")), Tone::Normal, false, true},
                     {size, Tone::Normal, false, true}, {u"◔ "_s + rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "being written: %1")).arg(look::wordOfSavePhase(save.phase)), Tone::Warning}},
                     q(save.path)});
    }
    for (const auto &known : checkpoints)
        rows.append({q(known.path), {{q(known.path.filename()), Tone::Normal, false, false, q(known.path)}, {look::ago(known.modified, now), Tone::Normal, false, true},
                     {look::bytes(double(known.bytes)), Tone::Normal, false, true}, badgeCell(known.badge, known.sentence)},
                     q(known.path)});
    return rows;
}

static Cell stateCell(const ckptfile::InspectedFile &file)
{
    switch (file.state) {
    case ckptfile::FileState::Good: return {u"✓"_s, Tone::Good, false, true, rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "whole"))};
    case ckptfile::FileState::Foreign: return {u"◇"_s, Tone::Muted, false, true, q(file.sentence)};
    default: break;
    }
    return {u"✕"_s, Tone::Error, false, true, file.sentence.empty() ? q(ckptfile::stateName(file.state)) : q(file.sentence)};
}

QList<Row> fileRows(const ckptfile::Inspection &inspection)
{
    QList<Row> rows;
    for (const auto &file : inspection.files)
        rows.append({q(file.path), {{q(file.path), Tone::Normal, true, false, file.sentence.empty() ? q(file.path) : q(file.path) + u": "_s + q(file.sentence)},
                     {look::bytes(double(file.bytes)), Tone::Normal, false, true}, stateCell(file)}});
    return rows;
}

QStringList planHeaders()
{
    return {QString(), rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "in the checkpoint")), rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "in the config")),
            rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "what will happen"))};
}

static QString capitalised(const std::string &text)
{
    QString words = q(text);
    if (!words.isEmpty())
        words[0] = words[0].toUpper();
    return words;
}

QStringList rehearsalHeaders()
{
    return {QString(), rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "without a stop")), rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "stopped and resumed twice")),
            rowWord(QT_TRANSLATE_NOOP("CheckpointRows", "outcome"))};
}

QList<Row> itemRows(const std::vector<ckptfile::ResumeItem> &items)
{
    QList<Row> rows;
    for (const auto &item : items) {
        const Tone tone = item.severity == Severity::Error ? Tone::Error : item.severity == Severity::Warning ? Tone::Warning : Tone::Normal;
        rows.append({q(item.what), {{capitalised(item.what)}, {q(item.inCheckpoint)}, {q(item.inConfig)}, {q(item.outcome), tone}}});
    }
    return rows;
}

} // namespace stagewright::models
