// The form's groups with how many problems and changed values each has.
#pragma once

#include <QListWidget>

#include "ui/session/stage_snapshot.h"

namespace stagewright::pages {

class GroupList : public QListWidget
{
    Q_OBJECT
public:
    explicit GroupList(QWidget *parent = nullptr);
    void show(const session::StageSnapshot &snapshot);
    void setCurrentGroup(const QString &group);        // without telling

Q_SIGNALS:
    void groupChosen(const QString &group);
};

} // namespace stagewright::pages
