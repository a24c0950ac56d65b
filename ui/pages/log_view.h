// The log with its levels and search; stays at the newest line until one scrolls back.
#pragma once

#include <QWidget>

#include "ui/models/log_model.h"

class QComboBox;
class QLineEdit;
class QListView;

namespace stagewright::pages {

class LogView : public QWidget
{
    Q_OBJECT
public:
    explicit LogView(QWidget *parent = nullptr);
    models::LogModel *model() { return &m_model; }
    int shownLines() const { return m_filter.rowCount(); }
    QLineEdit *search() { return m_search; }
    QComboBox *level() { return m_level; }

private:
    models::LogModel m_model;
    models::LogFilter m_filter;
    QListView *m_list;
    QComboBox *m_level;
    QLineEdit *m_search;
    bool m_atEnd = true;
};

} // namespace stagewright::pages
