// What the original's asynchronous writer says of its own files. It gives them their final names before it writes them, looks at no result of a
// write, and adds a line to async_file_io.log for each file that it has finished: a program that is killed leaves a folder that looks complete.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.h"

namespace stagewright::ckptfile {

// The files of a folder of the original's that its asynchronous writer made, relative and sorted: every safetensors file in the asynchronous
// form, master.safetensors alone in the synchronous one.
std::vector<std::filesystem::path> asynchronousFiles(const std::filesystem::path &checkpoint);

// Errors: the log has fewer lines than there are files; parts of a file were never written (holes) and no log says that it was finished. Warnings: no log;
// holes in spite of it (a full disk, or a file system that leaves zeros out). Not for checkpoints with a manifest.
Problems unfinishedSave(const std::filesystem::path &checkpoint);

} // namespace stagewright::ckptfile
