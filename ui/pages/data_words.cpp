#include "ui/pages/data_words.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/look/words.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using table::DropReason;

namespace {

struct DataWords {
    Q_DECLARE_TR_FUNCTIONS(stagewright::pages::DataWords)
};

std::int64_t trained(const table::Simulation &simulation) { return simulation.kept - simulation.use.lost; }

// Of all cells of a resolution × frames.
struct BucketSum {
    std::int64_t samples = 0, batches = 0, left = 0;
};

std::int64_t leftOf(const table::SimulatedBucket &cell)
{
    return std::max<std::int64_t>(0, cell.samples - cell.batches() * cell.bucket.batchSize);
}

models::Cell numberCell(const QString &text, models::Tone tone = models::Tone::Normal, const QString &toolTip = {}) { return {text, tone, false, true, toolTip}; }
models::Cell countCell(std::int64_t number) { return numberCell(look::count(number), number == 0 ? models::Tone::Muted : models::Tone::Normal); }
QString leftHelp(std::int64_t left) { return left == 0 ? QString() : DataWords::tr("%1 samples fill no batch, so an epoch leaves them out").arg(look::count(left)); }
models::Cell leftCell(std::int64_t left) { return numberCell(look::count(left), left == 0 ? models::Tone::Muted : models::Tone::Warning, leftHelp(left)); }

const events::PlannedBucket *costOf(const PlannedCosts *costs, const std::string &key)
{
    const auto found = costs ? costs->find(key) : PlannedCosts::const_iterator();
    return costs && found != costs->end() ? &found->second : nullptr;
}

void addCosts(models::Row &row, const events::PlannedBucket *cost)
{
    if (!cost) {
        row.cells << numberCell(u"—"_s, models::Tone::Muted) << numberCell(u"—"_s, models::Tone::Muted);
        return;
    }
    row.cells << numberCell(cost->fits ? look::bytes(double(cost->peakBytes)) : DataWords::tr("%1 ✕").arg(look::bytes(double(cost->peakBytes))),
                            cost->fits ? models::Tone::Normal : models::Tone::Error, cost->fits ? QString() : DataWords::tr("does not fit on the device"))
              << numberCell(look::duration(cost->stepSeconds));
}

std::string sizeOf(std::int64_t height, std::int64_t width) { return std::to_string(height) + "x" + std::to_string(width); }

} // namespace

QString dataBucketWords(const std::string &resolution, std::int64_t frames)
{
    return frames == 1 ? DataWords::tr("%1 images").arg(q(resolution)) : DataWords::tr("%1 × %2 frames").arg(q(resolution)).arg(frames);
}

QString reasonWords(DropReason reason)
{
    switch (reason) {
    case DropReason::UnreadableValue: return DataWords::tr("unreadable number");
    case DropReason::MissingFrames: return DataWords::tr("number of frames missing");
    case DropReason::InvalidRate: return DataWords::tr("impossible frame rate");
    case DropReason::TooSmall: return DataWords::tr("too small");
    case DropReason::TooFewFrames: return DataWords::tr("too short");
    case DropReason::TooFewAfterRate: return DataWords::tr("too short once thinned out");
    case DropReason::NoImageBucket: return DataWords::tr("no bucket for images");
    case DropReason::NotDrawn: return DataWords::tr("not drawn in this epoch");
    }
    return {};
}

QString reasonHelp(DropReason reason)
{
    switch (reason) {
    case DropReason::UnreadableValue: return DataWords::tr("A cell of these rows is no number; mend the table.");
    case DropReason::MissingFrames: return DataWords::tr("num_frames is empty; a probe of the files can fill it.");
    case DropReason::InvalidRate: return DataWords::tr("fps is infinite; mend the table.");
    case DropReason::TooSmall: return DataWords::tr("Fewer than 80 % of the pixels of the smallest resolution; a smaller resolution would keep them.");
    case DropReason::TooFewFrames: return DataWords::tr("Fewer frames than every bucket of their resolution; a bucket with fewer frames would keep them.");
    case DropReason::TooFewAfterRate: return DataWords::tr("Long enough, but not at fps_max; a higher fps_max, a shorter bucket or data_policy keep would keep them.");
    case DropReason::NoImageBucket: return DataWords::tr("No resolution has a bucket of one frame; one would keep them.");
    case DropReason::NotDrawn: return DataWords::tr("They fit, and the probabilities of their buckets said no; another epoch draws anew.");
    }
    return {};
}

QString percent(std::int64_t part, std::int64_t whole)
{
    if (whole <= 0)
        return u"—"_s;
    double share = 100.0 * double(part) / double(whole);
    if (part > 0)
        share = std::max(share, 0.1);
    if (part < whole)
        share = std::min(share, 99.9);
    return DataWords::tr("%1 %").arg(share, 0, 'f', 1);
}

PlannedCosts costsOf(const events::Plan &plan)
{
    PlannedCosts costs;
    for (const events::PlannedBucket &bucket : plan.buckets) {
        const std::string name = events::bucketName(bucket.resolution, bucket.frames);
        costs[name + "/" + sizeOf(bucket.height, bucket.width)] = bucket;
        auto &worst = costs[name];
        if (bucket.peakBytes >= worst.peakBytes)
            worst = bucket;
    }
    return costs;
}

QStringList gridHeaders()
{
    return {DataWords::tr("bucket"), DataWords::tr("size"), DataWords::tr("probability"), DataWords::tr("batch"), DataWords::tr("samples"), DataWords::tr("batches"), DataWords::tr("left over"),
            DataWords::tr("peak"), DataWords::tr("step")};
}

QList<models::Row> gridRows(const session::DataSession &data, const GridOptions &options)
{
    QList<models::Row> rows;
    if (!data.answer())
        return rows;
    const auto &cells = data.answer()->shown.buckets;
    const auto isSame = [](const table::Bucket &a, const table::Bucket &b) { return a.resolution == b.resolution && a.frames == b.frames; };
    for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
        const table::Bucket &bucket = cells[begin].bucket;
        BucketSum sum;
        for (end = begin; end < cells.size() && isSame(cells[end].bucket, bucket); ++end) {
            sum.samples += cells[end].samples;
            sum.batches += cells[end].batches();
            sum.left += leftOf(cells[end]);
        }
        const std::string name = events::bucketName(bucket.resolution, bucket.frames);
        const auto [probability, batch] = data.spelling(bucket.resolution, bucket.frames);
        const auto tone = data.isTried(bucket.resolution, bucket.frames) ? models::Tone::Warning : models::Tone::Normal;
        models::Row row{q(name), {}, QVariantList{q(bucket.resolution), qlonglong(bucket.frames)}};
        row.cells << models::Cell{dataBucketWords(bucket.resolution, bucket.frames)}
                  << models::Cell{DataWords::tr("%n aspect(s)", nullptr, int(end - begin)), models::Tone::Muted} << models::Cell{q(probability), tone, true} << models::Cell{q(batch), tone, true, true}
                  << countCell(sum.samples) << countCell(sum.batches) << leftCell(sum.left);
        addCosts(row, costOf(options.costs, name));
        rows << row;
        for (std::size_t at = begin; options.aspects && at < end; ++at) {
            const table::SimulatedBucket &cell = cells[at];
            if (cell.samples == 0)
                continue;
            const std::string size = sizeOf(cell.bucket.height, cell.bucket.width);
            models::Row aspect{q(name + "/" + cell.bucket.aspectRatio), {}, QVariantList{q(bucket.resolution), qlonglong(bucket.frames), qulonglong(at)}};
            aspect.cells << models::Cell{u"    "_s + q(cell.bucket.aspectRatio), models::Tone::Muted} << models::Cell{q(size), models::Tone::Muted} << models::Cell{} << models::Cell{}
                         << countCell(cell.samples) << countCell(cell.batches()) << leftCell(leftOf(cell));
            addCosts(aspect, costOf(options.costs, name + "/" + size));
            rows << aspect;
        }
    }
    return rows;
}

QStringList lossHeaders() { return {DataWords::tr("why rows are left out"), DataWords::tr("rows"), DataWords::tr("share")}; }

QList<models::Row> lossRows(const table::Simulation &simulation)
{
    std::vector<std::size_t> reasons;
    for (std::size_t reason = 0; reason < table::kDropReasons; ++reason) {
        if (simulation.dropped[reason] > 0)
            reasons.push_back(reason);
    }
    std::stable_sort(reasons.begin(), reasons.end(), [&](std::size_t a, std::size_t b) { return simulation.dropped[a] > simulation.dropped[b]; });
    QList<models::Row> rows;
    const auto add = [&](const QString &key, const QString &words, const QString &help, std::int64_t count, int data) {
        rows << models::Row{key, {models::Cell{words, models::Tone::Normal, false, false, words + u"\n"_s + help}, countCell(count), numberCell(percent(count, simulation.rows))}, data};
    };
    for (const std::size_t reason : reasons)
        add(q(table::reasonName(DropReason(reason))), reasonWords(DropReason(reason)), reasonHelp(DropReason(reason)), simulation.dropped[reason], int(reason));
    if (simulation.use.lost > 0)
        add(u"tail"_s, DataWords::tr("left over at the epoch's end"), DataWords::tr("They fill no batch, or the last batches fill no round of ranks; the same rows in every epoch, unless draws change the buckets. data_policy keep fills such batches."),
            simulation.use.lost, kTailRow);
    return rows;
}

QString trialWords(const session::DataSession &data)
{
    const auto *answer = data.answer();
    if (!answer || !answer->stage)
        return {};
    const auto steps = [&](const table::Simulation &simulation) { return look::count(simulation.batchesPerRank / data.accumulation()); };
    return DataWords::tr("As tried %1 of the rows train (%2 in the stage), %3 steps an epoch (%4)")
        .arg(percent(trained(answer->shown), answer->shown.rows), percent(trained(*answer->stage), answer->stage->rows), steps(answer->shown), steps(*answer->stage));
}

QString policyWords(const session::DataSession &data)
{
    const auto *answer = data.answer();
    if (!answer || !answer->otherPolicy)
        return {};
    const std::int64_t more = trained(*answer->otherPolicy) - trained(answer->shown);
    if (answer->rules.policy == table::DataPolicy::Keep)
        return more < 0 ? DataWords::tr("As the original, %1 rows fewer would train").arg(look::count(-more)) : DataWords::tr("The original would train on as many rows");
    return more > 0 ? DataWords::tr("keep would train on %1 rows more, showing %2 places twice").arg(look::count(more), look::count(answer->otherPolicy->use.repeated))
                    : DataWords::tr("keep would train on no more rows");
}

} // namespace stagewright::pages
