#include "ui/session/cache_session.h"

#include <QCoreApplication>

#include "core/client/cache_build.h"

namespace stagewright::session {

namespace {

Result<cache::Glance> glanceNow(const config::Stage &stage, const std::shared_ptr<const table::Table> &table)
{
    const auto rules = table::bucketRules(stage);
    if (!rules)
        return rules.error();
    const auto store = cache::Store::open(stage, table, *rules);
    if (!store)
        return store.error();
    return cache::glanceAt(**store, cache::wantedBy(**store, 1));
}

} // namespace

QString CacheSession::folder() const { return m_stage ? QString::fromStdString(m_stage->string("encoding_cache")) : QString(); }

void CacheSession::setStage(std::shared_ptr<const config::Stage> stage, std::shared_ptr<const table::Table> table)
{
    const bool isAny = stage && table && stage->isSet("encoding_cache");
    if (isAny && m_stage == stage && m_table == table)
        return;
    m_stage = isAny ? std::move(stage) : nullptr;
    m_table = isAny ? std::move(table) : nullptr;
    look();
}

void CacheSession::look()
{
    m_glance.reset();
    m_refusal.clear();
    m_looking = m_stage != nullptr;
    if (!m_looking) {
        m_lookJob.cancel();
        Q_EMIT changed();
        return;
    }
    Q_EMIT changed();
    m_lookJob.start(this, [stage = m_stage, table = m_table] { return glanceNow(*stage, table); }, [this](Result<cache::Glance> found) {
        m_looking = false;
        if (found)
            m_glance = *found;
        else
            m_refusal = QString::fromStdString(found.error().message());
        Q_EMIT changed();
    });
}

void CacheSession::build()
{
    if (!m_stage || m_stop)
        return;
    m_stop = std::make_shared<std::atomic<bool>>(false);
    m_progress = {};
    m_refusal.clear();
    const auto tell = [self = QPointer<CacheSession>(this)](const events::CacheProgress &progress) {
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, progress] {
            if (!self || !self->m_stop)
                return;
            self->m_progress = progress;
            Q_EMIT self->changed();
        }, Qt::QueuedConnection);
    };
    m_buildJob.start(this, [request = events::CacheRequest{config::toYaml(m_stage->values()), 0, false}, stop = m_stop, tell] {
        return client::buildCache(request, [&](const events::CacheProgress &progress) {
            tell(progress);
            return !*stop;
        });
    }, [this](Result<events::CacheProgress> built) {
        m_stop.reset();
        look();
        if (!built && built.error().exit != ExitCode::Stopped) {
            m_refusal = QString::fromStdString(built.error().message());
            Q_EMIT changed();
        }
    });
    Q_EMIT changed();
}

void CacheSession::stop()
{
    if (m_stop)
        *m_stop = true;
}

} // namespace stagewright::session
