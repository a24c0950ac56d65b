#include "ui/session/stage_session.h"

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/config/apply_fix.h"
#include "core/config/take_changes.h"
#include "ui/session/text_merge.h"

namespace stagewright::session {

using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

class StageSession::SpliceCommand : public QUndoCommand
{
public:
    SpliceCommand(StageSession *session, Splice splice, const QString &label, int mergeKey, bool applied)
        : QUndoCommand(label), m_session(session), m_splice(std::move(splice)), m_mergeKey(mergeKey), m_applied(applied)
    {
    }
    void undo() override { m_session->applyEdit(m_splice, false); }
    void redo() override
    {
        if (!std::exchange(m_applied, false))
            m_session->applyEdit(m_splice, true);
    }
    int id() const override { return m_mergeKey; }
    bool mergeWith(const QUndoCommand *other) override
    {
        auto both = composed(m_splice, static_cast<const SpliceCommand *>(other)->m_splice);
        if (!both)
            return false;
        m_splice = std::move(*both);
        setObsolete(m_splice.empty());
        return true;
    }
    const Splice &splice() const { return m_splice; }

private:
    StageSession *m_session;
    Splice m_splice;
    int m_mergeKey;
    bool m_applied;                                // already in the text (a history that is being restored)
};

StageSession::StageSession(QObject *parent) : QObject(parent)
{
    m_journalTimer.setSingleShot(true);
    m_journalTimer.setInterval(400);
    connect(&m_journalTimer, &QTimer::timeout, this, &StageSession::writeJournalLater);
    connect(&m_undo, &QUndoStack::cleanChanged, this, [this](bool clean) { Q_EMIT dirtyChanged(!clean); });
    // Programs that write in place empty the file first: what counts is the text when it has come to rest.
    m_touchTimer.setSingleShot(true);
    m_touchTimer.setInterval(150);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_touchTimer, qOverload<>(&QTimer::start));
    connect(&m_touchTimer, &QTimer::timeout, this, &StageSession::fileTouched);
}

StageSession::~StageSession()
{
    m_undo.disconnect(this);
    if (m_journalTimer.isActive())
        writeJournalNow();
}

Status StageSession::open(const fs::path &file)
{
    std::error_code ignored;
    const auto absolute = fs::absolute(file, ignored).lexically_normal();
    auto text = readFile(absolute, 64 << 20);
    if (!text)
        return text.error();
    if (m_journalTimer.isActive())
        writeJournalNow();
    if (!m_watcher.files().isEmpty())
        m_watcher.removePaths(m_watcher.files());
    m_touchTimer.stop();
    m_file = absolute;
    m_savedText = m_text = std::move(*text);
    m_undo.clear();
    m_undo.setClean();
    m_restoredNotice.clear();
    if (auto journal = readJournal(absolute))
        restore(*journal);
    // What restoring set in motion is of texts on the way to this one.
    for (Job *job : {&m_snapshotJob, &m_quickJob, &m_parseJob})
        job->cancel();
    m_quickRevision = -1;
    ++m_revision;
    m_snapshot = takeSnapshot(m_text, m_file, m_revision);
    m_watcher.addPath(QString::fromStdString(m_file.string()));
    prepareDocument();
    Q_EMIT opened();
    Q_EMIT textChanged();
    Q_EMIT snapshotChanged();
    Q_EMIT dirtyChanged(isDirty());
    return Done{};
}

void StageSession::restore(const Journal &journal)
{
    if (journal.savedText != m_savedText) {
        if (journal.text != journal.savedText && journal.text != m_savedText) {
            if (const auto merged = mergedTexts(journal.savedText, journal.text, m_savedText)) {
                pushSplice(spliceBetween(m_text, *merged), tr("Unsaved edits from last time"), -1);
                m_restoredNotice = tr("The file changed on disk since your unsaved edits; both are in the text now. Undo takes your edits out.");
                return;
            }
            pushSplice(spliceBetween(m_text, journal.text), tr("Unsaved edits of an older version of the file"), -1);
            m_undo.undo();
            m_restoredNotice = tr("The file changed on disk since your unsaved edits. Redo brings your version back.");
        }
        return;
    }
    // The stack is filled to its end with the text to match, then walked back to where the text stood.
    m_text = journal.text;
    for (std::size_t i = std::size_t(journal.position); i < journal.steps.size(); ++i)
        applySplice(m_text, journal.steps[i].splice);
    for (const auto &step : journal.steps)
        m_undo.push(new SpliceCommand(this, step.splice, QString::fromStdString(step.label), -1, true));
    if (journal.cleanPosition >= 0) {
        m_undo.setIndex(journal.cleanPosition);
        m_undo.setClean();
    } else {
        m_undo.resetClean();
    }
    m_undo.setIndex(journal.position);
    if (m_text != m_savedText)
        m_restoredNotice = tr("Unsaved edits from last time are back. Undo still knows them.");
}

void StageSession::applyEdit(const Splice &splice, bool forward)
{
    forward ? applySplice(m_text, splice) : revertSplice(m_text, splice);
    ++m_revision;
    scheduleSnapshot();
    scheduleJournal();
    Q_EMIT textChanged();
}

void StageSession::pushSplice(Splice splice, const QString &label, int mergeKey)
{
    if (!splice.empty())
        m_undo.push(new SpliceCommand(this, std::move(splice), label, mergeKey, false));
}

void StageSession::setText(const std::string &text, const QString &label, int mergeKey)
{
    pushSplice(spliceBetween(m_text, text), label, mergeKey);
}

int StageSession::mergeKeyOf(const std::string &path)
{
    const auto at = std::find(m_mergePaths.begin(), m_mergePaths.end(), path);
    const auto index = at - m_mergePaths.begin();
    if (at == m_mergePaths.end())
        m_mergePaths.push_back(path);
    return int(1000 + index);
}

Status StageSession::setValue(const std::string &path, const std::string &expression, bool mayMerge)
{
    scheduleQuickSnapshot(path, expression);
    auto set = document().setValue(path, expression);
    if (set)
        setText(m_document.text(), tr("Change %1").arg(QString::fromStdString(path)), mayMerge ? mergeKeyOf(path) : -1);
    if (m_quickRevision > m_revision) {                    // refused, or nothing changed
        m_quickJob.cancel();
        m_quickRevision = -1;
    }
    return set;
}

Status StageSession::removeValue(const std::string &path)
{
    if (auto removed = document().removeKey(path); !removed)
        return removed;
    setText(m_document.text(), tr("Reset %1").arg(QString::fromStdString(path)));
    return Done{};
}

Status StageSession::applyFix(const Fix &fix)
{
    config::TextDocument document(m_text, format());
    if (auto done = config::applyFix(document, fix); !done)
        return done;
    setText(document.text(), QString::fromStdString(fix.title));
    return Done{};
}

int StageSession::applyAllFixes()
{
    if (!m_snapshot)
        return 0;
    std::vector<const Problem *> fixable;
    for (const auto &problem : m_snapshot->problems)
        if (problem.fix)
            fixable.push_back(&problem);
    config::TextDocument document(m_text, format());
    const auto outcome = config::applyFixes(document, fixable);
    setText(document.text(), tr("Fix all that have one answer"));
    return int(outcome.fixed.size());
}

Status StageSession::take(const std::vector<config::Change> &changes, const QString &label)
{
    auto text = config::takeChanges(m_text, m_file, changes);
    if (!text)
        return text.error();
    setText(*text, label);
    return Done{};
}

void StageSession::scheduleSnapshot()
{
    if (m_quickRevision == m_revision)                     // follows when the quick one is there, which it would only slow down
        return;
    m_snapshotJob.start(this, [text = m_text, file = m_file, revision = m_revision] { return takeSnapshot(text, file, revision); },
        [this](SnapshotPtr snapshot) {
            m_snapshot = std::move(snapshot);
            prepareDocument();
            Q_EMIT snapshotChanged();
        });
}

// Parses the text off the GUI thread, so that the next edit finds it parsed.
void StageSession::prepareDocument()
{
    m_parseJob.start(this, [text = m_text, format = format()] {
        config::TextDocument document(text, format);
        document.prepare();
        return document;
    }, [this](config::TextDocument document) {
        if (document.text() == m_text && document.format() == format())
            m_document = std::move(document);
    });
}

// Begins before the text is edited, beside it: both take milliseconds where a table has thousands of rows.
void StageSession::scheduleQuickSnapshot(const std::string &path, const std::string &expression)
{
    if (!isValidated())
        return;
    m_quickRevision = m_revision + 1;
    m_quickJob.start(this, [before = m_snapshot, path, expression, next = m_revision + 1] { return withValue(before, path, expression, next); },
        [this](SnapshotPtr snapshot) {
            const bool meant = std::exchange(m_quickRevision, -1) == m_revision;
            if (!meant || isValidated())                   // the edit was refused, or there have been others since
                return;
            scheduleSnapshot();
            if (snapshot) {
                m_snapshot = std::move(snapshot);
                Q_EMIT snapshotChanged();
            }
        });
}

config::TextDocument &StageSession::document()
{
    if (m_document.format() != format() || m_document.text() != m_text)
        m_document = config::TextDocument(m_text, format());
    return m_document;
}

void StageSession::scheduleJournal()
{
    if (!m_journalTimer.isActive())
        m_journalTimer.start();
}

Journal StageSession::currentJournal() const
{
    Journal journal{m_file.string(), m_savedText, m_text, {}, 0, m_undo.cleanIndex() < 0 ? -1 : 0};
    const auto collect = [&](const QUndoCommand *command, auto &&self) -> void {
        if (const auto *splice = dynamic_cast<const SpliceCommand *>(command))
            journal.steps.push_back({splice->splice(), command->text().toStdString()});
        for (int i = 0; i < command->childCount(); ++i)
            self(command->child(i), self);
    };
    for (int i = 0; i <= m_undo.count(); ++i) {
        if (i == m_undo.index())
            journal.position = int(journal.steps.size());
        if (i == m_undo.cleanIndex())
            journal.cleanPosition = int(journal.steps.size());
        if (i < m_undo.count())
            collect(m_undo.command(i), collect);
    }
    return journal;
}

void StageSession::writeJournalLater()
{
    m_journalJob.start(this, [journal = currentJournal()] { return writeJournal(journal).ok(); }, [](bool) {});
}

// At a change of file and at the end, when nobody is left to wait for.
void StageSession::writeJournalNow()
{
    m_journalTimer.stop();
    m_journalJob.cancel();
    if (auto written = writeJournal(currentJournal()); !written)
        logger("ui.session")->warn("unsaved edits could not be kept: {}", written.error().message());
}

void StageSession::save() { saveAs(m_file); }

void StageSession::saveAs(const fs::path &file)
{
    m_saveJob.start(this, [file, text = m_text] { return std::make_pair(replaceFile(file, text), text); },
        [this, file, index = m_undo.index()](std::pair<Status, std::string> outcome) {
            if (!outcome.first) {
                Q_EMIT saveFailed(QString::fromStdString(outcome.first.error().message()));
                return;
            }
            m_savedText = outcome.second;
            if (file != m_file) {
                removeJournal(m_file);
                m_watcher.removePaths(m_watcher.files());
                m_file = file;
                ++m_revision;
                scheduleSnapshot();
                Q_EMIT opened();
            }
            m_watcher.addPath(QString::fromStdString(m_file.string()));
            if (m_undo.index() == index && m_text == m_savedText)
                m_undo.setClean();
            scheduleJournal();
            Q_EMIT saved();
        });
}

void StageSession::reload()
{
    if (auto text = readFile(m_file, 64 << 20)) {
        m_savedText = *text;
        setText(*text, tr("Take the version on disk"));
        m_undo.setClean();
    }
}

void StageSession::keepMine()
{
    if (auto text = readFile(m_file, 64 << 20)) {
        m_savedText = *text;
        m_undo.resetClean();
        scheduleJournal();
    }
}

void StageSession::fileTouched()
{
    // An atomic replacement ends the watch on the old file.
    const auto path = QString::fromStdString(m_file.string());
    if (!m_watcher.files().contains(path))
        m_watcher.addPath(path);
    auto text = readFile(m_file, 64 << 20);
    if (!text || *text == m_savedText)
        return;
    if (*text == m_text) {
        m_savedText = *text;
        m_undo.setClean();
    } else if (m_text == m_savedText) {
        reload();
        Q_EMIT takenFromDisk();
    } else if (const auto merged = mergedTexts(m_savedText, m_text, *text)) {
        m_savedText = *text;
        m_undo.resetClean();
        setText(*merged, tr("Merge the change of another program"), -1);
        Q_EMIT mergedFromDisk();
    } else {
        Q_EMIT changedOnDisk();
    }
}

} // namespace stagewright::session
