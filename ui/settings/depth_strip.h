// All blocks of the model in a row, double then single, painted by whether they are checkpointed; an edge in each part can be dragged.
#pragma once

#include <QWidget>

namespace stagewright::settings {

class DepthStrip : public QWidget
{
    Q_OBJECT
public:
    explicit DepthStrip(QWidget *parent = nullptr);
    void setBlocks(int doubles, int singles);
    void setDepths(int doubles, int singles);          // how many of each are checkpointed
    void setActive(bool active);                       // false: checkpointing is off altogether
    int doubles() const { return m_depth[0]; }
    int singles() const { return m_depth[1]; }
    QRect edgeRect(int part) const;                    // 0 double, 1 single: where the handle is

    QSize sizeHint() const override { return {560, 30}; }
    QSize minimumSizeHint() const override { return {200, 30}; }

Q_SIGNALS:
    void dragged(int doubles, int singles);            // at every change while dragging or by key

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

private:
    double cell() const;
    double startOf(int part) const;
    int depthAt(int part, double x) const;
    void setDepth(int part, int depth);
    void describe();

    int m_blocks[2] = {0, 0}, m_depth[2] = {0, 0};
    int m_dragging = -1, m_keyPart = 0;
    bool m_active = true;
};

} // namespace stagewright::settings
