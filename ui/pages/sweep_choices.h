// What a sweep is asked about: one or two settings with their values, and the bucket.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "core/events/plan.h"
#include "ui/session/plan_axes.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace stagewright::pages {

class SweepChoices : public QWidget
{
    Q_OBJECT
public:
    explicit SweepChoices(QWidget *parent = nullptr);

    // Keeps the chosen settings where the stage still has them; typed values are dropped.
    void setStage(const config::Stage &stage);
    void setBuckets(const events::Plan &plan);         // to choose from; the worst is known by it
    // An empty y: a curve.
    void choose(const std::string &x, session::PlanAxis::Kind xKind, const std::string &y, session::PlanAxis::Kind yKind);

    const session::PlanAxis &x() const { return m_x; }
    const std::optional<session::PlanAxis> &y() const { return m_y; }
    bool hasBuckets() const { return !m_worst.empty(); }
    std::string bucket() const;                        // "256px/129"; empty: all of them
    QComboBox *acrossBox() { return m_across; }
    QComboBox *upBox() { return m_up; }
    QLineEdit *acrossValues() { return m_xValues; }
    QLineEdit *upValues() { return m_yValues; }

Q_SIGNALS:
    void changed();                                    // by a person, or because the buckets changed the one that is planned

private:
    void retranslate();
    void listAxes();
    void takeAxes();
    void takeTypedValues();
    void takeTyped(QLineEdit *field, session::PlanAxis &axis);
    void showProposed();
    const session::PlanAxis *axisOf(const QComboBox *box) const;
    const session::PlanAxis *known(const session::PlanAxis &axis) const;
    const session::PlanAxis *firstOf(session::PlanAxis::Kind kind) const;

    std::vector<session::PlanAxis> m_axes;
    session::PlanAxis m_x;
    std::optional<session::PlanAxis> m_y;
    std::string m_worst;
    QComboBox *m_across, *m_up, *m_buckets;
    QLineEdit *m_xValues, *m_yValues;
    QLabel *m_acrossTitle, *m_upTitle, *m_bucketTitle;
};

} // namespace stagewright::pages
