// The rail on the left: one button a page, with a count of problems on Configure.
#pragma once

#include <QList>
#include <QWidget>

class QButtonGroup;
class QToolButton;

namespace stagewright::shell {

enum class PageId { Configure, Data, Memory, Run, Checkpoints, Compare };
QString wordOf(PageId page);                   // translated

class Rail : public QWidget
{
    Q_OBJECT
public:
    explicit Rail(QWidget *parent = nullptr);
    void setCurrent(PageId page);
    void setProblemCount(int errors);
    QToolButton *button(PageId page) const;

Q_SIGNALS:
    void chosen(stagewright::shell::PageId page);

private:
    void refresh();

    QButtonGroup *m_group;
    int m_errors = 0;
};

} // namespace stagewright::shell
