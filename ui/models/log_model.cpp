#include "ui/models/log_model.h"

#include <QCoreApplication>
#include <filesystem>

#include "core/base/exit_code.h"
#include "ui/look/kind_colors.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"

namespace stagewright::models {
namespace {

using namespace Qt::StringLiterals;
using look::q;

QString logWord(const char *text) { return QCoreApplication::translate("Log", text); }

QString fileName(const std::string &path) { return q(std::filesystem::path(path).filename()); }

QString bucketWords(const events::Bucket &bucket)
{
    return u"%1×%2 b%3"_s.arg(q(bucket.resolution)).arg(bucket.frames).arg(bucket.batchSize);
}

// A state that a newer worker may have is shown as it calls it.
QString wordOfState(const std::string &state)
{
    const std::pair<const char *, const char *> known[] = {
        {"starting", QT_TRANSLATE_NOOP("Log", "starting")}, {"training", QT_TRANSLATE_NOOP("Log", "training")},
        {"saving_last", QT_TRANSLATE_NOOP("Log", "saving the last checkpoint")}, {"stopping", QT_TRANSLATE_NOOP("Log", "stopping")},
        {"finished", QT_TRANSLATE_NOOP("Log", "finished")}, {"failed", QT_TRANSLATE_NOOP("Log", "failed")}};
    for (const auto &[name, word] : known) {
        if (state == name)
            return logWord(word);
    }
    return q(state);
}

// Only what a person reads: the begin, the commit, the end of a save; not its progress.
std::optional<std::pair<LogModel::Level, QString>> words(const events::Record &record)
{
    using L = LogModel;
    if (const auto *note = std::get_if<events::Note>(&record.payload))
        return std::make_pair(note->level == "error" ? L::Error : note->level == "warning" ? L::Warning : L::Info, q(note->sentence));
    if (const auto *state = std::get_if<events::State>(&record.payload))
        return std::make_pair(state->exit && *state->exit != int(ExitCode::Done) && *state->exit != int(ExitCode::Stopped) ? L::Error : L::Info,
                              state->sentence.empty() ? wordOfState(state->state) : u"%1: %2"_s.arg(wordOfState(state->state), q(state->sentence)));
    if (const auto *run = std::get_if<events::RunStarted>(&record.payload))
        return std::make_pair(L::Info, logWord(QT_TRANSLATE_NOOP("Log", "training on %1, %2 (%3); %4 parameters"))
                                           .arg(q(run->device), q(run->deviceName), q(run->deviceReason), look::count(run->parameters)));
    if (const auto *problem = std::get_if<events::ProblemRecord>(&record.payload))
        return std::make_pair(problem->problem.severity == Severity::Error ? L::Error : problem->problem.severity == Severity::Warning ? L::Warning : L::Info,
                              q(problem->problem.message));
    if (const auto *bad = std::get_if<events::BadSample>(&record.payload))
        return std::make_pair(L::Warning, logWord(QT_TRANSLATE_NOOP("Log", "row %1, %2: %3 (%4 bad so far)")).arg(bad->row).arg(q(bad->path), q(bad->reason)).arg(bad->total));
    if (const auto *save = std::get_if<events::Checkpoint>(&record.payload)) {
        const QString name = fileName(save->path);
        if (save->phase == "failed")
            return std::make_pair(L::Error, logWord(QT_TRANSLATE_NOOP("Log", "checkpoint %1 failed: %2")).arg(name, q(save->sentence)));
        if (save->phase == "done")
            return std::make_pair(L::Info, logWord(QT_TRANSLATE_NOOP("Log", "checkpoint %1 verified: %2 in %3, step blocked %4"))
                                               .arg(name, look::bytes(double(save->totalBytes)), look::duration(save->seconds), look::duration(save->blockedSeconds)));
        if (save->phase == "stage" && save->bytes == 0)
            return std::make_pair(L::Info, logWord(QT_TRANSLATE_NOOP("Log", "checkpoint %1 started")).arg(name));
        return std::nullopt;
    }
    if (const auto *step = std::get_if<events::Step>(&record.payload)) {
        QString text = logWord(QT_TRANSLATE_NOOP("Log", "step %1  loss %2  lr %3  grad norm %4  bucket %5  %6"))
                           .arg(look::count(record.step), look::figure(step->loss), look::figure(step->lr, 2), look::figure(step->gradNorm, 3),
                                bucketWords(step->bucket), look::duration(step->seconds));
        if (step->skipped)
            return std::make_pair(L::Warning, text + logWord(QT_TRANSLATE_NOOP("Log", "  skipped: not finite")));
        return std::make_pair(L::Step, text);
    }
    return std::nullopt;
}

} // namespace

void LogModel::take(const std::vector<events::Record> &records)
{
    std::vector<Line> lines;
    // Of a long history only what will be kept is put into words.
    const std::size_t from = records.size() > kCapacity ? records.size() - kCapacity : 0;
    for (std::size_t i = from; i < records.size(); ++i)
        if (auto said = words(records[i]))
            lines.push_back({records[i].time, said->first, std::move(said->second)});
    append(std::move(lines));
}

void LogModel::add(double time, Level level, const QString &text) { append({{time, level, text}}); }

void LogModel::append(std::vector<Line> lines)
{
    if (lines.empty())
        return;
    if (const int over = int(m_lines.size() + lines.size()) - kCapacity; over > 0 && !m_lines.empty()) {
        // A tenth more than needed, so that a full log does not remove rows with every batch.
        const int gone = std::min(int(m_lines.size()), over + kCapacity / 10);
        beginRemoveRows({}, 0, gone - 1);
        m_lines.erase(m_lines.begin(), m_lines.begin() + gone);
        endRemoveRows();
    }
    beginInsertRows({}, int(m_lines.size()), int(m_lines.size() + lines.size()) - 1);
    for (auto &line : lines)
        m_lines.push_back(std::move(line));
    endInsertRows();
}

void LogModel::clear()
{
    if (m_lines.empty())
        return;
    beginRemoveRows({}, 0, int(m_lines.size()) - 1);
    m_lines.clear();
    endRemoveRows();
}

static QString levelWord(LogModel::Level level)
{
    switch (level) {
    case LogModel::Step: return logWord(QT_TRANSLATE_NOOP("Log", "step "));
    case LogModel::Info: return logWord(QT_TRANSLATE_NOOP("Log", "info "));
    case LogModel::Warning: return logWord(QT_TRANSLATE_NOOP("Log", "warn "));
    case LogModel::Error: return logWord(QT_TRANSLATE_NOOP("Log", "error"));
    }
    return {};
}

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= int(m_lines.size()))
        return {};
    const Line &line = m_lines[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole: return QString(look::clock(line.time) + u' ' + levelWord(line.level) + u"  "_s + line.text);
    case Qt::ToolTipRole: return line.text;
    case Qt::ForegroundRole:
        return line.level == Error ? look::tokens().error : line.level == Warning ? look::tokens().warning : line.level == Step ? look::tokens().muted : look::tokens().text;
    case LevelRole: return line.level;
    case TimeRole: return line.time;
    case TextRole: return line.text;
    default: return {};
    }
}

void LogFilter::setLowest(LogModel::Level level)
{
    m_lowest = level;
    invalidateFilter();
}

void LogFilter::setSearch(const QString &text)
{
    m_search = text;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    const auto index = sourceModel()->index(row, 0, parent);
    if (index.data(LogModel::LevelRole).toInt() < m_lowest)
        return false;
    return m_search.isEmpty() || index.data(LogModel::TextRole).toString().contains(m_search, Qt::CaseInsensitive);
}

} // namespace stagewright::models
