// Which weights of a checkpoint go out, in which form, and where to.
#pragma once

#include <QDialog>

#include "core/ckptfile/export.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace stagewright::pages {

struct Exportable {
    bool ema = false, master = false;                  // are in it; the model always is
    std::optional<ckptfile::RopeOrder> rope;           // as its own config says
};
// Opens it, headers only: any thread but the window's. Errors: as ckptfile::openCheckpoint.
Result<Exportable> exportableOf(const std::filesystem::path &checkpoint);

struct ExportChoice {
    std::filesystem::path out;
    ckptfile::ExportOptions options;
};

class ExportDialog : public QDialog
{
    Q_OBJECT
public:
    ExportDialog(const QString &checkpoint, const Exportable &exportable, QWidget *parent = nullptr);
    QLineEdit *path() { return m_path; }
    QPushButton *exportButton() { return m_export; }
    ExportChoice choice() const;

Q_SIGNALS:
    void chosen(const stagewright::pages::ExportChoice &choice);

private:
    void fill(const Exportable &exportable);
    void takeChoice();
    void browse();

    QString m_checkpoint;
    std::optional<ckptfile::RopeOrder> m_rope;
    QComboBox *m_source, *m_layout, *m_stored;
    QCheckBox *m_half, *m_shards;
    QSpinBox *m_shardMebibytes;
    QLineEdit *m_path;
    QLabel *m_storedWords, *m_remark;
    QPushButton *m_export;
};

} // namespace stagewright::pages
