// Whether a checkpoint may be used: every byte as it was written, every value a number.
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

// Ours: every byte against the manifest, through the kernel's cache where it fits, since somebody reads it next. Other programs': the checksums
// of its torch.save files. Both: no weight, average or moment is NaN or infinite. Damage of ours is remembered, where the folder can be written,
// so that no list offers it again. Errors: the first fault, unreadable, cancelled. Any thread.
Status checkSound(const Contents &contents, const ReadProgress &progress = {});

bool isTorchArchive(const std::filesystem::path &file);          // by its name: .bin, .pt, lr_scheduler, sampler
Status checkArchive(const std::filesystem::path &file);          // opens it and compares the checksum of each entry

} // namespace stagewright::ckptfile
