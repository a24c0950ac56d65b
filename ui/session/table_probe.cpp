#include "ui/session/table_probe.h"

#include <thread>

#include "core/media/clip.h"
#include "core/table/measure.h"

namespace stagewright::session {

namespace {

constexpr std::chrono::minutes kFileDeadline{2};

Result<table::Measured> look(const std::filesystem::path &path, const std::atomic<bool> *stop)
{
    media::Limits limits = media::Limits::within(kFileDeadline);
    limits.stop = stop;
    const auto info = media::probe(path, media::Count::Exactly, limits);
    if (!info)
        return info.error();
    if (info->frames == 0)
        return Error(ExitCode::Data, "data.truncated", path.string() + ": has no frames");
    table::Measured measured;
    measured.frames = static_cast<double>(info->frames);
    measured.height = info->height;
    measured.width = info->width;
    measured.fps = info->isImage ? 0 : info->fps;
    return measured;
}

Result<ProbedTable> probe(const config::Stage &stage, const table::MeasureOptions &options)
{
    auto reading = table::readOptions(stage);
    reading.needMeasures = false;
    const auto bare = table::readTable(stage.string("dataset.data_path"), reading);
    if (!bare)
        return bare.error();
    const auto found = table::measureFiles(**bare, [&](const std::filesystem::path &path) { return look(path, options.stop); }, options);
    if (!found)
        return found.error();
    ProbedTable probed;
    probed.file = table::probedTablePath((*bare)->file());
    probed.rows = (*bare)->rowCount();
    probed.unreadable = static_cast<std::int64_t>(found->unreadable.size());
    if (probed.unreadable > 0)
        probed.firstUnreadable = found->unreadable.front().sentence;
    if (Status written = table::writeMeasured(probed.file, **bare, *found); !written)
        return written.error();
    return probed;
}

} // namespace

void TableProbe::start(const std::shared_ptr<const config::Stage> &stage)
{
    cancel();
    m_stop = std::make_shared<std::atomic<bool>>(false);
    table::MeasureOptions options;
    options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    options.stop = m_stop.get();
    options.progress = [self = QPointer<TableProbe>(this)](std::int64_t done, std::int64_t total) {
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, done, total] { if (self) Q_EMIT self->progressed(done, total); }, Qt::QueuedConnection);
    };
    m_job.start(this, [stage, options, stop = m_stop] { return probe(*stage, options); },
        [this](Result<ProbedTable> result) {
            m_stop.reset();
            Q_EMIT finished(result);
        });
}

void TableProbe::cancel()
{
    if (m_stop)
        *m_stop = true;
}

} // namespace stagewright::session
