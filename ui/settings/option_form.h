// All options as a form, group after group, filtered; rows are made when they are first shown.
#pragma once

#include <QScrollArea>
#include <map>
#include <vector>

#include "core/base/problem.h"
#include "ui/session/stage_snapshot.h"
#include "ui/settings/option_filter.h"

class QLabel;
class QVBoxLayout;

namespace stagewright::settings {

class OptionRow;

class OptionForm : public QScrollArea
{
    Q_OBJECT
public:
    explicit OptionForm(QWidget *parent = nullptr);
    void show(const session::SnapshotPtr &snapshot, const std::string &stageFile);
    void setFilter(const OptionFilter &filter);
    const OptionFilter &filter() const { return m_filter; }
    void showGroup(std::string_view group);            // scrolls there
    bool showOption(const QString &path, bool focus);  // scrolls to it (even where the filter hides it) and makes it current
    OptionRow *row(const QString &path);               // made on demand; null for no option
    const config::Option *current() const { return m_current; }
    int shownCount() const { return m_shown; }

Q_SIGNALS:
    void edited(const QString &path, const QString &expression, bool mayMerge);
    void removed(const QString &path);
    void fixAsked(const stagewright::Fix &fix);
    void currentChanged(const stagewright::config::Option *option);
    void groupInView(const QString &group);            // while scrolling

private:
    struct Section { QWidget *box; QLabel *title; QVBoxLayout *rows; std::vector<const config::Option *> options; };
    void createSections();
    void refresh();
    OptionRow *ensureRow(const config::Option &option);
    void setCurrent(const config::Option *option);

    session::SnapshotPtr m_snapshot;
    std::string m_stageFile;
    OptionFilter m_filter;
    std::vector<std::pair<std::string_view, Section>> m_sections;
    std::map<std::string_view, OptionRow *> m_rows;
    const config::Option *m_current = nullptr;
    const config::Option *m_forced = nullptr;          // shown although the filter would hide it
    QLabel *m_empty;
    QVBoxLayout *m_body;
    int m_shown = 0;
};

} // namespace stagewright::settings
