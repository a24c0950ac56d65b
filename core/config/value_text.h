// Pieces of Python's spelling that several writers and the evaluator share.
#pragma once

#include <string>
#include <string_view>

#include "core/config/value.h"

namespace stagewright::config {

std::string pythonFloat(double value);               // repr: "1e-05", "0.5", "3.0", "inf", "nan"
std::string pythonString(std::string_view utf8);     // repr of a str, with its quotes
std::string pythonStr(const Value &value);           // str(): strings bare, "inf" bare
std::string pythonRepr(const Value &value);          // repr() as Python prints it: "inf" bare, which toPython() avoids

} // namespace stagewright::config
