#include "ui/pages/checkpoint_actions.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/ckptfile/listing.h"
#include "core/config/validate.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::pathOf;
using look::q;
using look::s;

// For how long a work may say nothing. Those that tell of every block only stop telling where a disk hangs; the others are one call.
static constexpr int kTellingSeconds = 120, kOneCallSeconds = 600;
static constexpr int kSteps = 1000;                    // of the bar

static QString nameOf(const QString &path) { return q(pathOf(path).filename()); }

CheckpointActions::CheckpointActions(QWidget *parent) : QWidget(parent), m_line(new QWidget(this)), m_bar(new QProgressBar(m_line))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(4);
    auto *line = new QHBoxLayout(m_line);
    line->setContentsMargins(0, 0, 0, 0);
    auto *words = new look::ElidedLabel(m_line);
    look::setRole(words, "muted");
    m_words = words;
    m_bar->setTextVisible(false);
    m_cancel = new QPushButton(m_line);
    m_cancel->setObjectName(u"cancelAction"_s);
    line->addWidget(m_words, 2);
    line->addWidget(m_bar, 3);
    line->addWidget(m_cancel);
    m_outcome = look::label("muted", this, true);
    m_outcome->setObjectName(u"actionOutcome"_s);
    m_outcome->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_outcome->hide();
    box->addWidget(m_line);
    box->addWidget(m_outcome);
    m_line->hide();
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        m_cancel->setEnabled(false);
        m_cancelled = true;
        m_task.cancel();
    });
    connect(&m_task, &session::LongTask::busyChanged, this, [this] {
        m_line->setVisible(m_task.isBusy());
        m_cancel->setEnabled(true);
        if (m_task.isBusy()) {
            m_cancelled = false;
            m_outcome->hide();
            m_bar->setRange(0, 0);
            static_cast<look::ElidedLabel *>(m_words)->setFullText(m_task.doing());
        }
        Q_EMIT busyChanged();
    });
    connect(&m_task, &session::LongTask::progressed, this, [this](double part, const QString &sentence) {
        m_bar->setRange(0, part < 0 ? 0 : kSteps);
        m_bar->setValue(part < 0 ? 0 : int(part * kSteps));
        static_cast<look::ElidedLabel *>(m_words)->setFullText(sentence.isEmpty() ? m_task.doing() : m_task.doing() + u" · "_s + sentence);
    });
    connect(&m_task, &session::LongTask::gaveUp, this, [this](const QString &sentence) {
        say(sentence, Tone::Error);
        Q_EMIT folderChanged();
    });
    look::bindText(this, [this] { m_cancel->setText(tr("Cancel")); });
}

QString CheckpointActions::outcome() const { return m_outcome->isHidden() ? QString() : m_outcome->text(); }

void CheckpointActions::say(const QString &sentence, Tone tone)
{
    static constexpr const char *kRoles[] = {"muted", "good", "warning", "error"};
    look::setRole(m_outcome, kRoles[int(m_cancelled && tone == Tone::Error ? Tone::Muted : tone)]);       // what was asked for is no failure
    m_outcome->setText(sentence);
    m_outcome->setVisible(!sentence.isEmpty());
}

static double partOf(std::int64_t done, std::int64_t total) { return total > 0 ? double(done) / double(total) : -1; }

void CheckpointActions::verify(const QString &checkpoint, bool everyByte)
{
    if (isBusy())
        return;
    const auto work = [path = pathOf(checkpoint), everyByte](const session::LongTask::Teller &tell) {
        ckptfile::InspectOptions options;
        options.readEverything = everyByte;
        options.progress = [tell](std::int64_t done, std::int64_t total, const std::string &file) { return tell(partOf(done, total), q(file)); };
        return ckptfile::inspect(path, options);
    };
    m_task.start(everyByte ? tr("Reading every byte of %1").arg(nameOf(checkpoint)) : tr("Checking %1").arg(nameOf(checkpoint)), kTellingSeconds, work,
        [this, checkpoint, everyByte](const Result<ckptfile::Inspection> &inspection) {
            const QString name = nameOf(checkpoint);
            if (!inspection)
                say(q(inspection.error().message()), Tone::Error);
            else if (hasErrors(inspection->problems))
                say(tr("%1: not everything agrees; see the files.").arg(name), Tone::Error);
            else if (!everyByte)
                say(tr("%1: names, sizes, headers and shapes agree; the bytes were not read.").arg(name), Tone::Good);
            else if (inspection->verified)
                say(tr("%1: every byte was read and agrees.").arg(name), Tone::Good);
            else
                say(tr("%1: every byte was read and nothing is wrong, but there is no list of hashes to compare with.").arg(name), Tone::Warning);
            Q_EMIT inspected(checkpoint, inspection);
            Q_EMIT folderChanged();
        });
}

namespace {

struct AllVerified {
    int agree = 0;
    QStringList wrong;                                 // names
    bool cancelled = false;
};

} // namespace

void CheckpointActions::verifyAll(const QStringList &checkpoints)
{
    if (isBusy() || checkpoints.isEmpty())
        return;
    const auto work = [checkpoints](const session::LongTask::Teller &tell) {
        AllVerified all;
        for (int at = 0; at < checkpoints.size() && !all.cancelled; ++at) {
            ckptfile::InspectOptions options;
            options.readEverything = true;
            options.progress = [&](std::int64_t done, std::int64_t total, const std::string &) {
                all.cancelled = !tell((at + std::max(0.0, partOf(done, total))) / double(checkpoints.size()), nameOf(checkpoints[at]));
                return !all.cancelled;
            };
            const auto inspection = ckptfile::inspect(pathOf(checkpoints[at]), options);
            if (!all.cancelled && inspection && !hasErrors(inspection->problems))
                ++all.agree;
            else if (!all.cancelled)
                all.wrong << nameOf(checkpoints[at]);
            all.cancelled = all.cancelled || !tell((at + 1) / double(checkpoints.size()));
        }
        return all;
    };
    m_task.start(tr("Verifying %1 checkpoints").arg(checkpoints.size()), kTellingSeconds, work, [this](const AllVerified &all) {
        const QString tally = all.wrong.isEmpty() ? tr("%1 checkpoints were read whole, and agree.").arg(all.agree)
                                                  : tr("%1 checkpoints agree; these do not: %2").arg(all.agree).arg(all.wrong.join(u", "_s));
        say(all.cancelled ? tr("Cancelled. %1").arg(tally) : tally, !all.wrong.isEmpty() ? Tone::Error : all.cancelled ? Tone::Muted : Tone::Good);
        Q_EMIT folderChanged();
    });
}

void CheckpointActions::rehearse(const QString &checkpoint, session::SnapshotPtr stage)
{
    if (isBusy())
        return;
    if (!stage || !stage->stage) {
        say(tr("A rehearsal needs a stage that can be read; open one first."), Tone::Error);
        return;
    }
    const auto work = [path = s(checkpoint), stage = stage->stage](const session::LongTask::Teller &tell) -> Result<rehearsal::Rehearsal> {
        for (const Problem &problem : config::validate(*stage, config::surroundingsOfThisMachine(*stage))) {
            if (problem.severity == Severity::Error)
                return Error(ExitCode::Usage, problem);
        }
        rehearsal::Request request;
        request.checkpoint = path;
        request.stage = *stage;
        request.progress = [tell](const std::string &sentence) { return tell(-1, q(sentence)); };
        return rehearsal::rehearse(request);
    };
    m_task.start(tr("Rehearsing %1").arg(nameOf(checkpoint)), kTellingSeconds, work, [this, checkpoint](const Result<rehearsal::Rehearsal> &rehearsed) {
        if (!rehearsed) {
            say(q(rehearsed.error().message()), Tone::Error);
            return;
        }
        if (rehearsed->equal)
            say(tr("Stopped and resumed twice: equal to training on, bit for bit."), Tone::Good);
        else
            say(rehearsed->problems.empty() ? tr("Stopped and resumed twice: not equal to training on.") : q(rehearsed->problems.front().message),
                rehearsed->possible ? Tone::Warning : Tone::Error);
        Q_EMIT this->rehearsed(checkpoint, *rehearsed);
    });
}

void CheckpointActions::askForExport(const QString &checkpoint)
{
    if (isBusy())
        return;
    m_task.start(tr("Opening %1").arg(nameOf(checkpoint)), kOneCallSeconds,
        [path = pathOf(checkpoint)](const session::LongTask::Teller &) { return exportableOf(path); },
        [this, checkpoint](const Result<Exportable> &exportable) {
            if (!exportable) {
                say(q(exportable.error().message()), Tone::Error);
                return;
            }
            auto *dialog = new ExportDialog(checkpoint, *exportable, window());
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            connect(dialog, &ExportDialog::chosen, this, [this, checkpoint](const ExportChoice &choice) { exportWith(checkpoint, choice); });
            dialog->open();
        });
}

void CheckpointActions::exportWith(const QString &checkpoint, const ExportChoice &choice)
{
    if (isBusy())
        return;
    const auto work = [path = pathOf(checkpoint), choice](const session::LongTask::Teller &tell) {
        ckptfile::ExportOptions options = choice.options;
        options.progress = [tell](std::int64_t done, std::int64_t total) { return tell(partOf(done, total), look::bytes(double(done))); };
        return ckptfile::exportWeights(path, choice.out, options);
    };
    m_task.start(tr("Exporting %1").arg(nameOf(checkpoint)), kTellingSeconds, work, [this, out = q(choice.out)](const Result<std::vector<std::filesystem::path>> &written) {
        if (written)
            say(written->size() == 1 ? tr("Written: %1").arg(q(written->front())) : tr("Written: %1 files in %2").arg(written->size()).arg(out), Tone::Good);
        else
            say(q(written.error().message()), Tone::Error);
        Q_EMIT folderChanged();
    });
}

void CheckpointActions::askToClean(const QString &folder)
{
    if (isBusy())
        return;
    m_task.start(tr("Looking for leftovers in %1").arg(nameOf(folder)), kOneCallSeconds,
        [path = pathOf(folder)](const session::LongTask::Teller &) { return ckptfile::findLeftovers(path); },
        [this, folder](const Result<std::vector<ckptfile::Leftover>> &found) {
            if (!found)
                say(q(found.error().message()), Tone::Error);
            else if (found->empty())
                say(tr("Nothing is left over in %1.").arg(nameOf(folder)), Tone::Muted);
            else
                askWhatToClean(folder, *found);
        });
}

void CheckpointActions::askWhatToClean(const QString &folder, const std::vector<ckptfile::Leftover> &found)
{
    static constexpr int kNamed = 12;
    double bytes = 0;
    int cleanable = 0;
    QStringList lines;
    for (const auto &leftover : found) {
        bytes += leftover.alive ? 0 : double(leftover.bytes);
        cleanable += !leftover.alive;
        if (lines.size() < kNamed)
            lines << q(leftover.path.filename()) + u" · "_s + look::bytes(double(leftover.bytes)) + u'\n' + q(leftover.sentence);
    }
    if (int(found.size()) > kNamed)
        lines << tr("and %1 more").arg(int(found.size()) - kNamed);
    if (cleanable == 0) {
        say(lines.join(u'\n'), Tone::Muted);
        return;
    }
    auto *box = new QMessageBox(QMessageBox::Question, tr("Clean leftovers"), tr("Clean up %1 in %2?").arg(look::bytes(bytes), nameOf(folder)), QMessageBox::NoButton, window());
    box->setObjectName(u"cleanQuestion"_s);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(lines.join(u"\n\n"_s));
    QPushButton *clean = box->addButton(tr("Clean"), QMessageBox::DestructiveRole);
    QPushButton *keep = box->addButton(tr("Keep"), QMessageBox::RejectRole);
    box->setDefaultButton(keep);
    connect(clean, &QPushButton::clicked, this, [this, found] { this->clean(found); });
    box->open();
}

void CheckpointActions::clean(std::vector<ckptfile::Leftover> leftovers)
{
    if (isBusy())
        return;
    const auto work = [leftovers = std::move(leftovers)](const session::LongTask::Teller &tell) {
        return ckptfile::cleanLeftovers(leftovers, [tell](std::int64_t done, std::int64_t total, const std::string &file) { return tell(partOf(done, total), q(file)); });
    };
    m_task.start(tr("Cleaning"), kOneCallSeconds, work,
        [this](const Result<std::vector<std::filesystem::path>> &gone) {
            if (gone)
                say(tr("Cleaned: %n folder(s).", nullptr, int(gone->size())), Tone::Good);
            else
                say(q(gone.error().message()), Tone::Error);
            Q_EMIT folderChanged();
        });
}

void CheckpointActions::askToTrash(const QString &checkpoint, const QString &watchedRun)
{
    if (isBusy())
        return;
    m_task.start(tr("Looking at who needs %1").arg(nameOf(checkpoint)), kOneCallSeconds,
        [path = pathOf(checkpoint), run = pathOf(watchedRun)](const session::LongTask::Teller &) { return session::removalFacts(path, run); },
        [this, checkpoint](const session::RemovalFacts &facts) { askWhetherToTrash(checkpoint, facts); });
}

void CheckpointActions::askWhetherToTrash(const QString &checkpoint, const session::RemovalFacts &facts)
{
    const QString name = nameOf(checkpoint);
    if (facts.isBeingWritten) {
        say(tr("%1 is being written; it is left alone.").arg(name), Tone::Error);
        return;
    }
    if (facts.isNewestWhole) {
        say(facts.isOnlyWhole ? tr("%1 is the only whole checkpoint in its folder: without it, this training cannot be resumed at all. It is left alone.").arg(name)
                              : tr("%1 is the newest whole checkpoint in its folder, which a resume takes. It is left alone.").arg(name),
            Tone::Error);
        return;
    }
    auto *box = new QMessageBox(facts.usedBy.isEmpty() ? QMessageBox::Question : QMessageBox::Warning, tr("Move to the trash"), tr("Move %1 to the trash?").arg(name), QMessageBox::NoButton, window());
    box->setObjectName(u"trashQuestion"_s);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(facts.usedBy.isEmpty() ? tr("It stays in the trash until that is emptied.") : tr("A run that is going on began from it: %1.").arg(facts.usedBy.join(u", "_s)));
    QPushButton *move = box->addButton(tr("Move to the trash"), QMessageBox::DestructiveRole);
    QPushButton *keep = box->addButton(tr("Keep"), QMessageBox::RejectRole);
    box->setDefaultButton(keep);
    if (!facts.usedBy.isEmpty()) {
        auto *sure = new QCheckBox(tr("I do not need it any more"), box);
        box->setCheckBox(sure);
        move->setEnabled(false);
        connect(sure, &QCheckBox::toggled, move, &QWidget::setEnabled);
    }
    connect(move, &QPushButton::clicked, this, [this, checkpoint] { trash(checkpoint); });
    box->open();
}

void CheckpointActions::trash(const QString &checkpoint)
{
    if (isBusy())
        return;
    m_task.start(tr("Moving %1 to the trash").arg(nameOf(checkpoint)), kOneCallSeconds,
        [path = pathOf(checkpoint)](const session::LongTask::Teller &) { return session::moveToTrash(path); },
        [this, checkpoint](const QString &whyNot) {
            say(whyNot.isEmpty() ? tr("%1 is in the trash.").arg(nameOf(checkpoint)) : whyNot, whyNot.isEmpty() ? Tone::Good : Tone::Error);
            Q_EMIT folderChanged();
        });
}

} // namespace stagewright::pages
