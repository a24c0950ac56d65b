// The style sheet over Fusion: what palette colours alone cannot say (hairlines, rounded fields, the accent button).
#pragma once

#include <QString>

namespace stagewright::look {

struct Tokens;
QString styleSheetOf(const Tokens &tokens);

} // namespace stagewright::look
