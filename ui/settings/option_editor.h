// What every editor of one option can do. An editor shows a snapshot and says what a person wants; it holds no value of its own.
#pragma once

#include <QWidget>

#include "core/config/option.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::settings {

class OptionEditor : public QWidget
{
    Q_OBJECT
public:
    OptionEditor(const config::Option &option, QWidget *parent);
    const config::Option &option() const { return m_option; }
    void show(const session::SnapshotPtr &snapshot);
    virtual bool isWide() const { return false; }      // wants a line of its own below the label

Q_SIGNALS:
    // expression: Python spelling. mayMerge: one of a stream of edits (a drag) that undo takes back together.
    void edited(const QString &path, const QString &expression, bool mayMerge);
    void removed(const QString &path);

protected:
    virtual void display() = 0;                        // m_snapshot is new
    const session::StageSnapshot &snapshot() const { return *m_snapshot; }
    bool hasSnapshot() const { return m_snapshot && m_snapshot->stage; }
    QString spelling() const;                          // of the effective value; empty for None
    bool isSet() const;
    const config::Value &effective() const;            // set value or default; hasSnapshot() must hold
    void ask(const QString &expression, bool mayMerge = false);

private:
    const config::Option &m_option;
    session::SnapshotPtr m_snapshot;
};

} // namespace stagewright::settings
