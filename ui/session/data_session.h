// The dataset of the stage that is open: read in the background, its rows by bucket, and what other buckets would make of them.
#pragma once

#include <QObject>
#include <QTimer>
#include <map>
#include <optional>

#include "core/config/bucket_table.h"
#include "ui/session/data_facts.h"
#include "ui/session/job.h"
#include "ui/session/stage_session.h"
#include "ui/session/table_probe.h"

namespace stagewright::session {

// GUI thread only; tables, simulator and row lists are worked on elsewhere. Asleep until setActive(true), so that a window that never shows its data does
// not read them.
class DataSession : public QObject
{
    Q_OBJECT
public:
    enum class State {
        NoStage,           // none is open, or its text cannot be read
        NoTable,           // dataset.data_path is not set
        NoBuckets,         // sentence(): what bucket_config lacks, or which value cannot be used
        Reading,
        Unreadable,        // sentence(), and canProbe()
        Ready
    };
    static constexpr int kCalmMs = 250;                // after an answer, before what takes longer is counted: the other policy, the rows

    explicit DataSession(StageSession *stage, QObject *parent = nullptr);

    void setActive(bool active);                       // on: also looks whether the table on disk is another one
    void readAgain();
    State state() const { return m_state; }
    const QString &sentence() const { return m_sentence; }
    bool canProbe() const { return m_canProbe; }       // what is missing can be found out from the files
    QString tablePath() const { return m_path; }       // as the stage says it
    const std::shared_ptr<OpenTable> &open() const { return m_open; }
    TableProbe *probe() { return &m_probe; }
    void startProbe();
    Status useTable(const std::filesystem::path &file);        // dataset.data_path, as one undo step

    // Data-parallel ranks and the epoch, from 0, that is counted.
    void setWorldSize(int ranks);
    void setEpoch(int epoch);
    int worldSize() const { return m_worldSize; }
    int epoch() const { return m_epoch; }
    std::int64_t accumulation() const;                 // micro-batches an update

    // Other numbers for a bucket, in Python's spelling; nothing of the stage changes. Error: refused as `check` would.
    Status tryBucket(const std::string &resolution, std::int64_t frames, const std::string &probability, const std::string &batch);
    void forgetTries();
    std::shared_ptr<const config::Stage> soundStage() const;           // null while it has errors, other than those of its data and of this machine
    std::shared_ptr<const config::Stage> stageAsTried() const;         // the tries put into it; null where no stage can be read
    bool hasTries() const { return !m_tries.empty(); }
    Status applyTries();                               // into the stage, one undo step
    Status usePolicy(table::DataPolicy policy);        // the same
    std::pair<std::string, std::string> spelling(const std::string &resolution, std::int64_t frames) const;    // probability, batch: as tried or as in the stage
    bool isTried(const std::string &resolution, std::int64_t frames) const { return m_tries.contains({resolution, frames}); }

    // Of the newest question that was answered; null before the first.
    struct Answer {
        table::BucketRules rules;                      // what was counted, tries included
        table::Simulation shown;
        std::optional<table::Simulation> stage;        // without the tries, where there are any
        std::optional<table::Simulation> otherPolicy;  // as shown, under the other data_policy; follows a moment later
        double milliseconds = 0;                       // from the question to the answer
    };
    const Answer *answer() const { return m_answer ? &*m_answer : nullptr; }

    void choose(const RowChoice &choice, const QString &words);
    const std::shared_ptr<const RowList> &rows() const { return m_rows; }      // null: nothing chosen
    const RowChoice &choice() const { return m_choice; }
    bool isFindingRows() const { return m_finding; }
    void exportTo(const std::filesystem::path &file);  // the rows that are shown; exported() follows

Q_SIGNALS:
    void stateChanged();
    void answered();
    void rowsChanged();
    void exported(const QString &file, const QString &refusal);

private:
    struct Try {
        config::BucketRow row;
        std::string probability, batch;
    };
    using Key = std::pair<std::string, std::int64_t>;

    void takeStage();
    void read();
    void setState(State state, const QString &sentence = {});
    void ask();
    void askOtherPolicy();
    void findRowsAgain();
    Result<table::BucketRules> rulesWith(const std::map<Key, Try> &tries) const;
    std::shared_ptr<const config::Stage> current() const;

    StageSession *m_stage;
    bool m_active = false, m_canProbe = false, m_finding = false;
    State m_state = State::NoStage;
    QString m_sentence, m_path, m_readKey, m_words;
    std::string m_stamp;                               // of the file when it was read: size and time
    std::shared_ptr<OpenTable> m_open;
    int m_worldSize = 1, m_epoch = 0;
    std::map<Key, Try> m_tries;
    std::optional<Answer> m_answer;
    std::optional<table::Simulation> m_ofStage;        // counted for the stage as it is
    QTimer m_calm;
    RowChoice m_choice;
    std::shared_ptr<const RowList> m_rows;
    TableProbe m_probe;
    Job m_readJob, m_stampJob, m_askJob, m_policyJob, m_rowsJob, m_exportJob;
};

} // namespace stagewright::session
