// Whether a checkpoint is the one before it once more.
#pragma once

#include <filesystem>
#include <optional>

namespace stagewright::ckptfile {

// The checkpoint with the next lower step in the same folder, where all files with weights are equal. Ours of one run by their manifests' hashes; with
// readBytes others too: their files are compared byte by byte, up to the first difference.
std::optional<std::filesystem::path> identicalPredecessor(const std::filesystem::path &checkpoint, bool readBytes);

} // namespace stagewright::ckptfile
