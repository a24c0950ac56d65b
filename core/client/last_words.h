// What a process printed last, for a sentence about its death.
#pragma once

#include <filesystem>
#include <string>

namespace stagewright::client {

// "; its last words: …" from console.log, or nothing where it printed nothing.
std::string lastWords(const std::filesystem::path &runFolder);

} // namespace stagewright::client
