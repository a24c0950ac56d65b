// Icons of ours, drawn from resources/icons in the colour asked for, sharp at any scale.
#pragma once

#include <QIcon>
#include <QColor>
#include <QString>

namespace stagewright::look {

// name: a file of resources/icons without ".svg". An invalid colour means the theme's text colour.
QIcon icon(const char *name, QColor color = {});
QPixmap iconPixmap(const char *name, QColor color, int pixels, double ratio);

} // namespace stagewright::look
