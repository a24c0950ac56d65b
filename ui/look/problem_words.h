// Problems and fixes in the current language. Sentences are made in the core, in English; in Chinese the meaning of the code stands before them.
#pragma once

#include <QString>

#include "core/base/problem.h"

namespace stagewright::look {

QString problemSentence(const Problem &problem);
QString fixTitle(const Fix &fix);                      // for a button or a link

} // namespace stagewright::look
