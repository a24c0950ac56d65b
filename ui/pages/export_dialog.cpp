#include "ui/pages/export_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "core/ckptfile/contents.h"
#include "core/ckptfile/layout.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/settings/calm_combo_box.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using ckptfile::ExportSource;
using ckptfile::RopeOrder;
using look::q;

static constexpr int kAsItIs = -1, kMostShardMebibytes = 1 << 20;
static const QString kEnding = u".safetensors"_s;

Result<Exportable> exportableOf(const std::filesystem::path &checkpoint)
{
    const auto contents = ckptfile::openCheckpoint(checkpoint);
    if (!contents)
        return contents.error();
    return Exportable{!contents->ema.empty(), !contents->master.empty(), ckptfile::ropeOrderOf(contents->configYaml)};
}

ExportDialog::ExportDialog(const QString &checkpoint, const Exportable &exportable, QWidget *parent)
    : QDialog(parent), m_checkpoint(checkpoint), m_rope(exportable.rope), m_source(new settings::CalmComboBox(this)), m_layout(new settings::CalmComboBox(this)),
      m_stored(new settings::CalmComboBox(this)), m_half(new QCheckBox(tr("Round fp32 to bf16"), this)), m_shards(new QCheckBox(tr("Cut into shards of"), this)),
      m_shardMebibytes(new QSpinBox(this)), m_path(new QLineEdit(this)), m_storedWords(new QLabel(tr("It is stored for"), this)), m_remark(look::label("muted", this, true))
{
    setObjectName(u"exportDialog"_s);
    setWindowTitle(tr("Export weights"));
    setMinimumWidth(560);
    auto *box = new QVBoxLayout(this);
    auto *title = new look::ElidedLabel(this, Qt::ElideMiddle);
    title->setFullText(tr("Export from %1").arg(q(look::pathOf(checkpoint).filename())));
    look::setRole(title, "title");
    box->addWidget(title);
    auto *form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("Weights"), m_source);
    form->addRow(tr("Layout"), m_layout);
    form->addRow(m_storedWords, m_stored);
    form->addRow(QString(), m_half);
    auto *shards = new QHBoxLayout;
    m_shardMebibytes->setRange(1, kMostShardMebibytes);
    m_shardMebibytes->setSuffix(u" MiB"_s);
    m_shardMebibytes->setValue(int(ckptfile::kShardMebibytes));
    shards->addWidget(m_shards);
    shards->addWidget(m_shardMebibytes);
    shards->addStretch(1);
    form->addRow(QString(), shards);
    auto *where = new QHBoxLayout;
    auto *choose = new QPushButton(tr("Browse…"), this);
    where->addWidget(m_path, 1);
    where->addWidget(choose);
    form->addRow(tr("Write to"), where);
    box->addLayout(form);
    box->addWidget(m_remark);
    auto *buttons = new QDialogButtonBox(this);
    m_export = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
    look::setRole(m_export, "primary");
    buttons->addButton(tr("Cancel"), QDialogButtonBox::RejectRole);
    box->addWidget(buttons);
    fill(exportable);
    connect(choose, &QPushButton::clicked, this, &ExportDialog::browse);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT chosen(choice());
        accept();
    });
    for (QComboBox *combo : {m_layout, m_stored})
        connect(combo, &QComboBox::currentIndexChanged, this, &ExportDialog::takeChoice);
    connect(m_path, &QLineEdit::textChanged, this, &ExportDialog::takeChoice);
    connect(m_shards, &QCheckBox::toggled, this, [this](bool on) {
        const QString now = m_path->text();
        if (on && now.endsWith(kEnding))
            m_path->setText(now.chopped(kEnding.size()));
        else if (!on && !now.isEmpty() && !now.endsWith(kEnding))
            m_path->setText(now + kEnding);
        takeChoice();
    });
    takeChoice();
}

void ExportDialog::fill(const Exportable &exportable)
{
    m_source->addItem(tr("the model"), int(ExportSource::Model));
    if (exportable.ema)
        m_source->addItem(tr("the EMA"), int(ExportSource::Ema));
    if (exportable.master)
        m_source->addItem(tr("the fp32 master weights"), int(ExportSource::Master));
    m_layout->addItem(tr("as it is"), kAsItIs);
    m_layout->addItem(tr("for Flux: projections fused, neighbours rotate"), int(RopeOrder::Neighbours));
    m_layout->addItem(tr("for Open-Sora: projections separate, halves rotate"), int(RopeOrder::Halves));
    m_stored->addItem(tr("not known"), kAsItIs);
    m_stored->addItem(tr("Flux: neighbours rotate"), int(RopeOrder::Neighbours));
    m_stored->addItem(tr("Open-Sora: halves rotate"), int(RopeOrder::Halves));
    m_path->setText(m_checkpoint + u"-model"_s + kEnding);
}

ExportChoice ExportDialog::choice() const
{
    ExportChoice made;
    made.out = look::pathOf(m_path->text().trimmed());
    made.options.source = ExportSource(m_source->currentData().toInt());
    made.options.halfPrecision = m_half->isChecked();
    made.options.shardMebibytes = m_shards->isChecked() ? m_shardMebibytes->value() : 0;
    if (const int layout = m_layout->currentData().toInt(); layout != kAsItIs) {
        made.options.rope = RopeOrder(layout);
        made.options.fused = made.options.rope == RopeOrder::Neighbours;
    }
    if (const int stored = m_stored->currentData().toInt(); !m_rope && stored != kAsItIs)
        made.options.storedRope = RopeOrder(stored);
    return made;
}

// The order that a checkpoint is stored in is asked for only where it matters and where its own config does not say.
void ExportDialog::takeChoice()
{
    const bool asks = !m_rope && m_layout->currentData().toInt() != kAsItIs;
    m_stored->setVisible(asks);
    m_storedWords->setVisible(asks);
    m_shardMebibytes->setEnabled(m_shards->isChecked());
    const bool isSaid = !asks || m_stored->currentData().toInt() != kAsItIs;
    m_remark->setText(m_path->text().trimmed().isEmpty() ? tr("Name a file, or a folder for shards.")
                      : !isSaid ? tr("No file says in which rotary order its weights are: say what this checkpoint is stored for.")
                                : tr("The file must be new; it is written beside its place first. The checkpoint is only read."));
    m_export->setEnabled(isSaid && !m_path->text().trimmed().isEmpty());
}

void ExportDialog::browse()
{
    auto *dialog = new QFileDialog(this, tr("Write the weights to"), q(look::pathOf(m_path->text()).parent_path()));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setOption(QFileDialog::DontConfirmOverwrite);         // nothing is ever overwritten
    connect(dialog, &QFileDialog::fileSelected, m_path, &QLineEdit::setText);
    dialog->open();
}

} // namespace stagewright::pages
