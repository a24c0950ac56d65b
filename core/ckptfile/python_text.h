// Text exactly as Python's json module writes it: what makes our headers and index files equal to the original's, byte for byte.
#pragma once

#include <string>
#include <string_view>

namespace stagewright::ckptfile {

std::string pythonJsonString(std::string_view utf8);     // with quotes; everything outside ASCII as \uXXXX (pairs above U+FFFF)
std::string pythonFloat(double value);                   // repr(): "4.0", "1e-06", "22680.623168945312", "NaN"

} // namespace stagewright::ckptfile
