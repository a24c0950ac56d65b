// One checkpoint as a list shows it: a manifest and some stat calls, or for a foreign one its index files and the ends of headers.
#pragma once

#include <filesystem>

#include "core/ckptfile/layout.h"
#include "core/ckptfile/listing.h"

namespace stagewright::ckptfile {

ListedCheckpoint quickLook(const std::filesystem::path &path, CheckpointName name);

} // namespace stagewright::ckptfile
