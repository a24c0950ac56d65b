// A layout that puts widgets side by side and wraps to the next line where they don't fit: legends, rows of figures.
#pragma once

#include <QLayout>
#include <QList>

namespace stagewright::look {

class FlowLayout : public QLayout
{
public:
    explicit FlowLayout(QWidget *parent = nullptr, int horizontalGap = 12, int verticalGap = 4);
    ~FlowLayout() override;
    void addItem(QLayoutItem *item) override { m_items.append(item); }
    int count() const override { return int(m_items.size()); }
    QLayoutItem *itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem *takeAt(int index) override { return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    void setGeometry(const QRect &rect) override;

private:
    int arrange(const QRect &rect, bool move) const;
    QList<QLayoutItem *> m_items;
    int m_horizontalGap, m_verticalGap;
};

} // namespace stagewright::look
