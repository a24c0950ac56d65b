#include "ui/pages/sweep_choices.h"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <algorithm>

#include "core/base/text.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/sweep_words.h"
#include "ui/settings/calm_combo_box.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using session::PlanAxis;
using Kind = PlanAxis::Kind;

namespace {

constexpr int kNoAxis = -1;                            // data of the entry "a curve"
const QString kWorst = QStringLiteral("worst"), kAll = QStringLiteral("all");

QComboBox *searchBox(QWidget *parent)
{
    auto *box = new settings::CalmComboBox(parent);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->completer()->setCompletionMode(QCompleter::PopupCompletion);
    box->completer()->setFilterMode(Qt::MatchContains);
    box->completer()->setCaseSensitivity(Qt::CaseInsensitive);
    box->setMaxVisibleItems(20);
    box->setMinimumWidth(150);
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    return box;
}

bool isCount(const std::string &text)
{
    bool isWhole = false;
    return q(text).toInt(&isWhole) >= 0 && isWhole;
}

std::string nameOf(const events::PlannedBucket &bucket) { return events::bucketName(bucket.resolution, bucket.frames); }

} // namespace

SweepChoices::SweepChoices(QWidget *parent) : QWidget(parent)
{
    auto *line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(6);
    m_acrossTitle = look::label("muted", this);
    m_across = searchBox(this);
    m_xValues = new QLineEdit(this);
    m_upTitle = look::label("muted", this);
    m_up = searchBox(this);
    m_yValues = new QLineEdit(this);
    m_bucketTitle = look::label("muted", this);
    m_buckets = new settings::CalmComboBox(this);
    m_buckets->setMinimumWidth(120);
    m_buckets->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_buckets->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    for (auto *field : {m_xValues, m_yValues}) {
        field->setMinimumWidth(60);
        connect(field, &QLineEdit::editingFinished, this, &SweepChoices::takeTypedValues);
    }
    const auto add = [&](QWidget *title, QWidget *box, QWidget *values) {
        line->addWidget(title);
        line->addWidget(box, values ? 3 : 2);
        if (values)
            line->addWidget(values, 2);
    };
    add(m_acrossTitle, m_across, m_xValues);
    add(m_upTitle, m_up, m_yValues);
    add(m_bucketTitle, m_buckets, nullptr);
    for (auto *choice : {m_across, m_up})
        connect(choice, &QComboBox::activated, this, &SweepChoices::takeAxes);
    connect(m_buckets, &QComboBox::activated, this, &SweepChoices::changed);
    look::bindText(this, [this] { retranslate(); });
}

void SweepChoices::retranslate()
{
    m_acrossTitle->setText(tr("Across"));
    m_upTitle->setText(tr("Up"));
    m_bucketTitle->setText(tr("Bucket"));
    m_across->setAccessibleName(tr("Setting across"));
    m_up->setAccessibleName(tr("Setting up"));
    m_buckets->setAccessibleName(tr("Bucket to plan"));
    m_xValues->setAccessibleName(tr("Values across"));
    m_yValues->setAccessibleName(tr("Values up"));
    for (auto *field : {m_xValues, m_yValues})
        field->setToolTip(tr("Values to try, separated by commas; empty: as proposed"));
    if (m_buckets->count() >= 2) {
        m_buckets->setItemText(0, tr("the worst"));
        m_buckets->setItemText(1, tr("all of them"));
    }
    listAxes();
}

// Fills the choices and keeps what was chosen.
void SweepChoices::listAxes()
{
    const auto fill = [&](QComboBox *box, const PlanAxis *chosen, bool mayBeNone) {
        const QSignalBlocker blocker(box);
        box->clear();
        if (mayBeNone)
            box->addItem(tr("nothing: a curve"), kNoAxis);
        int at = 0;
        for (std::size_t i = 0; i < m_axes.size(); ++i) {
            box->addItem(axisName(m_axes[i]), int(i));
            if (chosen && m_axes[i] == *chosen)
                at = box->count() - 1;
        }
        box->setCurrentIndex(at);
        box->setToolTip(box->currentText());
        box->lineEdit()->setCursorPosition(0);
    };
    fill(m_across, &m_x, false);
    fill(m_up, m_y ? &*m_y : nullptr, true);
    showProposed();
}

void SweepChoices::showProposed()
{
    const auto proposed = [this](const PlanAxis &axis) {
        const PlanAxis *own = known(axis);
        return own ? axisLabels(*own).join(u", "_s) : QString();
    };
    m_xValues->setPlaceholderText(proposed(m_x));
    m_yValues->setPlaceholderText(m_y ? proposed(*m_y) : QString());
    m_yValues->setEnabled(m_y.has_value());
}

const PlanAxis *SweepChoices::axisOf(const QComboBox *box) const
{
    const int at = box->currentData().toInt();
    return at >= 0 && at < int(m_axes.size()) ? &m_axes[std::size_t(at)] : nullptr;
}

const PlanAxis *SweepChoices::known(const PlanAxis &axis) const
{
    const auto at = std::find(m_axes.begin(), m_axes.end(), axis);
    return at == m_axes.end() ? nullptr : &*at;
}

const PlanAxis *SweepChoices::firstOf(Kind kind) const
{
    const auto at = std::find_if(m_axes.begin(), m_axes.end(), [&](const PlanAxis &axis) { return axis.kind == kind; });
    return at == m_axes.end() ? nullptr : &*at;
}

void SweepChoices::setStage(const config::Stage &stage)
{
    const bool first = m_axes.empty();
    m_axes = session::axesOf(stage);
    const PlanAxis *x = first ? firstOf(Kind::SingleBlocks) : known(m_x);
    const PlanAxis *y = first ? firstOf(Kind::DoubleBlocks) : m_y ? known(*m_y) : nullptr;
    if (!x && !m_axes.empty())
        x = &m_axes.front();
    m_x = x ? *x : PlanAxis();
    m_y = y && x && !(*y == *x) ? std::optional(*y) : std::nullopt;
    m_xValues->clear();
    m_yValues->clear();
    listAxes();
}

void SweepChoices::setBuckets(const events::Plan &plan)
{
    if (plan.buckets.empty())
        return;
    const std::string before = bucket();
    const QVariant chosen = m_buckets->currentData();
    {
        const QSignalBlocker blocker(m_buckets);
        m_buckets->clear();
        m_buckets->addItem(tr("the worst"), kWorst);
        m_buckets->addItem(tr("all of them"), kAll);
        for (const auto &each : plan.buckets)
            m_buckets->addItem(bucketWords(each), q(nameOf(each)));
        m_buckets->setCurrentIndex(std::max(0, m_buckets->findData(chosen)));
    }
    const bool first = m_worst.empty();
    m_worst = nameOf(plan.buckets[std::size_t(std::clamp<std::int64_t>(plan.worstBucket, 0, std::int64_t(plan.buckets.size()) - 1))]);
    if (first || bucket() != before)
        Q_EMIT changed();
}

// With the batch of a bucket on an axis, the worst is that one.
std::string SweepChoices::bucket() const
{
    const QString chosen = m_buckets->currentData().toString();
    if (chosen == kAll)
        return {};
    if (!chosen.isEmpty() && chosen != kWorst)
        return look::s(chosen);
    for (const PlanAxis *axis : {&m_x, m_y ? &*m_y : nullptr}) {
        if (!axis || axis->kind != Kind::BucketBatch)
            continue;
        if (const auto parts = split(axis->path, '.'); parts.size() == 3)
            return parts[1] + "/" + parts[2];
    }
    return m_worst;
}

void SweepChoices::choose(const std::string &x, Kind xKind, const std::string &y, Kind yKind)
{
    const auto select = [&](QComboBox *box, const std::string &path, Kind kind) {
        for (int i = 0; i < box->count(); ++i) {
            const int at = box->itemData(i).toInt();
            if ((path.empty() && at == kNoAxis) || (at >= 0 && m_axes[std::size_t(at)].path == path && m_axes[std::size_t(at)].kind == kind))
                box->setCurrentIndex(i);
        }
    };
    select(m_across, x, xKind);
    select(m_up, y, yKind);
    takeAxes();
}

void SweepChoices::takeAxes()
{
    const PlanAxis *x = axisOf(m_across), *y = axisOf(m_up);
    if (!x)
        return;
    m_x = *x;
    m_y = y && !(*y == *x) ? std::optional(*y) : std::nullopt;
    m_xValues->clear();
    m_yValues->clear();
    listAxes();
    Q_EMIT changed();
}

void SweepChoices::takeTypedValues()
{
    if (!m_xValues->isModified() && !m_yValues->isModified())
        return;
    takeTyped(m_xValues, m_x);
    if (m_y)
        takeTyped(m_yValues, *m_y);
    Q_EMIT changed();
}

void SweepChoices::takeTyped(QLineEdit *field, PlanAxis &axis)
{
    field->setModified(false);
    look::setState(field, "");
    const PlanAxis *own = known(axis);
    if (field->text().trimmed().isEmpty()) {
        if (own)
            axis = *own;
        return;
    }
    const auto values = session::typedValues(look::s(field->text()));
    if (!values || (axis.kind != Kind::Option && !std::all_of(values->begin(), values->end(), isCount)))
        return look::setState(field, "error");
    const std::string now = own && own->current >= 0 ? own->values[std::size_t(own->current)] : std::string();
    const auto at = std::find(values->begin(), values->end(), now);
    axis.values = *values;
    axis.current = at == values->end() ? -1 : int(at - values->begin());
}

} // namespace stagewright::pages
