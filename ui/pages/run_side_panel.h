// Right of the run's plot: which run it is, which lanes are shown, what buckets take against their prediction, the activation
// buffer, the newest step by phase, the saves.
#pragma once

#include <QScrollArea>
#include <map>

#include "ui/plots/lanes.h"
#include "ui/session/run_session.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;
namespace stagewright::look {
class ElidedLabel;
class PartsBar;
}

namespace stagewright::pages {

class BucketGauges;

class RunSidePanel : public QScrollArea
{
    Q_OBJECT
public:
    explicit RunSidePanel(const session::RunSession *run, QWidget *parent = nullptr);
    void refresh();
    void setLaneChecked(plots::Lane lane, bool on);
    BucketGauges *peaks() { return m_peaks; }
    BucketGauges *buffers() { return m_buffers; }

Q_SIGNALS:
    void laneToggled(stagewright::plots::Lane lane, bool on);
    void checkpointsAsked();

private:
    void refreshPeaks();
    void refreshBuffer();
    void refreshPhases();
    void refreshSaves();

    const session::RunSession *m_run;
    std::map<plots::Lane, QCheckBox *> m_lanes;
    QLabel *m_runTitle;
    look::ElidedLabel *m_runName, *m_runFolder;
    QLabel *m_peaksTitle, *m_bufferTitle, *m_bufferWords, *m_bufferMore, *m_phasesTitle, *m_savesTitle, *m_dataTitle, *m_dataWords;
    look::PartsBar *m_bufferBar;
    BucketGauges *m_peaks, *m_buffers;
    std::map<Phase, std::pair<QLabel *, QLabel *>> m_phases;
    QVBoxLayout *m_saves;
    QPushButton *m_open;
    QList<QLabel *> m_saveLabels;
};

} // namespace stagewright::pages
