// Editor of bucket_config: the grid, and below it the fields of the chosen cell with add, copy and delete.
#pragma once

#include "ui/settings/bucket_grid_model.h"
#include "ui/settings/option_editor.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace stagewright::settings {

// Keys in the grid: Enter edits the cell, Delete removes it, Ctrl+C and Ctrl+V copy cells; numbers pasted from a spreadsheet become batches.
class BucketEditor : public OptionEditor
{
    Q_OBJECT
public:
    BucketEditor(const config::Option &option, QWidget *parent);
    bool isWide() const override { return true; }
    QTableView *grid() { return m_grid; }
    BucketGridModel *model() { return &m_model; }

protected:
    void display() override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void createGrid();
    QWidget *createBar();
    void showCurrent();
    void commitCell();
    void removeCell();
    void addBucket();
    void copyCell();
    void paste();
    void fitHeight();
    QString tablePath() const;

    BucketGridModel m_model;
    QTableView *m_grid;
    QLabel *m_where, *m_summary, *m_probabilityLabel, *m_batchLabel, *m_newLabel;
    QLineEdit *m_probability, *m_batch, *m_newResolution, *m_newFrames;
    QPushButton *m_remove, *m_add;
};

} // namespace stagewright::settings
