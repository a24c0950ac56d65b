// QCustomPlot's header, which says signals, slots and foreach: words that our build keeps free.
#pragma once

#include <QObject>

#pragma push_macro("signals")
#pragma push_macro("slots")
#pragma push_macro("foreach")
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#pragma pop_macro("foreach")
#pragma pop_macro("slots")
#pragma pop_macro("signals")
