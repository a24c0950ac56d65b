// Data: the dataset's rows by bucket, why others never train, what other buckets would make of them, and the rows behind every number.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/models/keyed_table_model.h"
#include "ui/pages/data_words.h"
#include "ui/pages/row_list_model.h"
#include "ui/session/cache_session.h"
#include "ui/session/data_session.h"
#include "ui/session/plan_session.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace stagewright::look {
class ElidedLabel;
class Figure;
}

namespace stagewright::pages {

class DataPage : public QWidget
{
    Q_OBJECT
public:
    static constexpr int kPlanMs = 400;                // after the last change of what is planned
    static constexpr int kSearchMs = 200;              // after the last key in the search field

    explicit DataPage(session::StageSession *stage, QWidget *parent = nullptr);

    session::DataSession *session() { return &m_data; }
    session::CacheSession *cache() { return &m_cache; }
    look::ElidedLabel *cacheLabel() { return m_cacheWords; }
    QPushButton *encodeButton() { return m_encode; }
    session::PlanSession *planner() { return &m_planner; }
    bool isBusy() const { return m_data.state() == session::DataSession::State::Reading || m_data.isFindingRows() || m_cache.isLooking() || m_planTimer.isActive() || m_planner.waiting() > 0; }
    QTableView *grid() { return m_grid; }
    QTableView *losses() { return m_losses; }
    QTableView *rowTable() { return m_rows; }
    QLineEdit *probabilityField() { return m_probability; }
    QLineEdit *batchField() { return m_batch; }
    QLineEdit *ranksField() { return m_ranks; }
    QLineEdit *epochField() { return m_epoch; }
    QLineEdit *searchField() { return m_search; }
    QComboBox *policyBox() { return m_policy; }
    QPushButton *applyButton() { return m_apply; }
    QPushButton *forgetButton() { return m_forget; }
    QPushButton *probeButton() { return m_probe; }
    QPushButton *useProbedButton() { return m_useProbed; }
    QPushButton *aspectsButton() { return m_aspects; }
    QPushButton *picturesButton() { return m_pictures; }
    QLabel *notice() { return m_notice; }
    QLabel *neverLabel() { return m_never; }
    void exportTo(const QString &file);                // the rows that are shown; said() follows

Q_SIGNALS:
    void said(const QString &sentence);                // for the status bar

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QHBoxLayout *createHead();
    QWidget *createFigures();
    QWidget *createCacheLine();
    QWidget *createTables();
    QHBoxLayout *createTrial();
    QWidget *createRows();
    void connectAll();
    void retranslate();
    void refresh();
    void refreshNotice();
    void refreshFigures();
    void refreshTables();
    void refreshTrial();
    void refreshRows();
    void refreshCache();
    void chooseOfGrid();
    void chooseOfLosses();
    void search();
    void tryFields();
    void takeProbe(const Result<session::ProbedTable> &result);
    void plan();
    void askExport();

    session::DataSession m_data;
    session::CacheSession m_cache;
    session::PlanSession m_planner;
    QTimer m_planTimer, m_searchTimer;
    qint64 m_ticket = 0;
    std::string m_plannedText;                         // of the stage that m_costs belong to, or that is being planned
    PlannedCosts m_costs;
    QString m_refusal;                                 // of what was typed
    std::filesystem::path m_probed;                    // a table that a probe wrote; empty: none
    QString m_probeWords;
    session::RowChoice m_choice;
    std::string m_resolution;                          // of the bucket that the fields show
    std::int64_t m_frames = 0;
    bool m_filling = false;                            // tables are being filled: selections are not choices

    QLabel *m_title, *m_never, *m_notice, *m_ranksLabel, *m_epochLabel, *m_policyLabel, *m_policyRemark;
    look::ElidedLabel *m_path;
    QLineEdit *m_ranks, *m_epoch;
    QComboBox *m_policy;
    QPushButton *m_probe, *m_useProbed, *m_aspects;
    QWidget *m_body, *m_figures;
    std::array<look::Figure *, 5> m_figure;
    QTableView *m_grid, *m_losses, *m_rows;
    QLabel *m_where, *m_probabilityLabel, *m_batchLabel;
    look::ElidedLabel *m_trialWords, *m_cacheWords;
    QPushButton *m_encode;
    QWidget *m_cacheLine;
    QLineEdit *m_probability, *m_batch, *m_search;
    QPushButton *m_apply, *m_forget, *m_pictures, *m_export;
    QLabel *m_rowsTitle;
    models::KeyedTableModel m_gridModel, m_lossModel;
    RowListModel m_rowModel;
};

} // namespace stagewright::pages
