// The cache of encodings that the open stage names: what of it is there, and a worker that makes the rest.
#pragma once

#include <QObject>
#include <atomic>
#include <memory>

#include "core/cache/survey.h"
#include "core/config/stage.h"
#include "core/events/cache.h"
#include "ui/session/job.h"

namespace stagewright::session {

// GUI thread only; the folder is looked at, and the worker waited for, elsewhere.
class CacheSession : public QObject
{
    Q_OBJECT
public:
    explicit CacheSession(QObject *parent = nullptr) : QObject(parent) {}
    ~CacheSession() override { stop(); }

    // What is open now, without errors in its config; a null stage, or one without encoding_cache: nothing to show. Looks where something is new.
    void setStage(std::shared_ptr<const config::Stage> stage, std::shared_ptr<const table::Table> table);
    bool isShown() const { return m_stage != nullptr; }
    QString folder() const;

    bool isLooking() const { return m_looking; }
    // Of the first epoch.
    const std::optional<cache::Glance> &glance() const { return m_glance; }    // null before the first look, and with a refusal()
    const QString &refusal() const { return m_refusal; }       // why the cache cannot be looked at, or why the last build ended early

    void build();                                      // the stage as it was given; one at a time
    void stop();                                       // after the clips that are being encoded
    bool isBuilding() const { return m_stop != nullptr; }
    const events::CacheProgress &progress() const { return m_progress; }

Q_SIGNALS:
    void changed();

private:
    void look();

    std::shared_ptr<const config::Stage> m_stage;
    std::shared_ptr<const table::Table> m_table;
    bool m_looking = false;
    std::optional<cache::Glance> m_glance;
    QString m_refusal;
    events::CacheProgress m_progress;
    std::shared_ptr<std::atomic<bool>> m_stop;
    Job m_lookJob, m_buildJob;
};

} // namespace stagewright::session
