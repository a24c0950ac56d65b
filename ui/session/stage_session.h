// The stage that is open: its text, its undo history, its problems, its place on disk.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <QUndoStack>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/config/diff.h"
#include "core/config/text_document.h"
#include "ui/session/edit_journal.h"
#include "ui/session/job.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::session {

// GUI thread only. Every edit, by form or by text, goes through the undo stack as a splice of the text; after each a snapshot is taken on
// another thread and snapshotChanged() tells when it is there. Unsaved edits are journalled within a second; saving and journalling write off
// the GUI thread.
class StageSession : public QObject
{
    Q_OBJECT
public:
    explicit StageSession(QObject *parent = nullptr);
    ~StageSession() override;                      // journals what is unsaved

    // Opens a stage, with the unsaved edits that a crash or an earlier start left. The error is about a file that cannot be read at all.
    Status open(const std::filesystem::path &file);
    bool isOpen() const { return !m_file.empty(); }
    const std::filesystem::path &file() const { return m_file; }
    config::Format format() const { return config::formatOf(m_file); }

    const std::string &text() const { return m_text; }
    const std::string &savedText() const { return m_savedText; }   // what the file holds
    QString displayText() const { return QString::fromStdString(m_text); }
    void setText(const std::string &text, const QString &label, int mergeKey = -1);     // one undo step; merges with the last of the same key
    // Sets an option to an expression in Python's spelling. A refused edit (text that does not parse) is returned, nothing changes then.
    Status setValue(const std::string &path, const std::string &expression, bool mayMerge = false);
    Status removeValue(const std::string &path);   // back to the base file's value or the default
    Status applyFix(const Fix &fix);
    int applyAllFixes();                           // every problem with a fix; how many were applied, one undo step
    // Side b's values at the changes' paths (core/config/take_changes.h), one undo step.
    Status take(const std::vector<config::Change> &changes, const QString &label);

    SnapshotPtr snapshot() const { return m_snapshot; }        // of the newest text whose snapshot is ready; never null once open
    bool isValidated() const { return m_snapshot && m_snapshot->revision == m_revision; }
    bool isSettled() const { return isValidated() && !m_snapshot->provisional; }
    bool isDirty() const { return !m_undo.isClean(); }
    QUndoStack *undoStack() { return &m_undo; }

    void save();                                   // to file(); saved() or saveFailed() follow
    void saveAs(const std::filesystem::path &file);
    void reload();                                 // take the text on disk, as an undo step
    void keepMine();                               // what is held is to replace the text on disk at the next save
    QString restoredNotice() const { return m_restoredNotice; }

Q_SIGNALS:
    void opened();
    void textChanged();
    void snapshotChanged();
    void dirtyChanged(bool dirty);
    void saved();
    void saveFailed(const QString &sentence);
    // Somebody else changed the file. Where nothing is unsaved its text was taken; where the edits touch other lines they were brought together,
    // each as one undo step; else nothing was done and a person is asked: reload(), keepMine().
    void takenFromDisk();
    void mergedFromDisk();
    void changedOnDisk();

private:
    class SpliceCommand;
    void applyEdit(const Splice &splice, bool forward);
    void pushSplice(Splice splice, const QString &label, int mergeKey);
    void scheduleSnapshot();
    void scheduleQuickSnapshot(const std::string &path, const std::string &expression);
    config::TextDocument &document();
    void prepareDocument();
    void scheduleJournal();
    Journal currentJournal() const;
    void writeJournalLater();
    void writeJournalNow();
    void restore(const Journal &journal);
    void fileTouched();
    int mergeKeyOf(const std::string &path);

    std::filesystem::path m_file;
    std::string m_text, m_savedText;
    std::int64_t m_revision = 0;
    std::int64_t m_quickRevision = -1;             // that a quick snapshot is being made for
    SnapshotPtr m_snapshot;
    QUndoStack m_undo;
    std::vector<std::string> m_mergePaths;
    config::TextDocument m_document{{}, config::Format::Python};   // parsed once; of m_text, or of an older text
    Job m_snapshotJob, m_quickJob, m_parseJob, m_saveJob, m_journalJob;
    QTimer m_journalTimer, m_touchTimer;
    QFileSystemWatcher m_watcher;
    QString m_restoredNotice;
};

} // namespace stagewright::session
