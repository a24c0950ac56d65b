// NaN and infinities in stored tensors, found by their bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/stored_tensor.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

struct NotFinite {
    const StoredTensor *tensor = nullptr;
    std::int64_t count = 0;                  // of its values that are NaN or infinite
};
Error notFinite(const NotFinite &found);     // checkpoint.not-finite, naming file, tensor and counts

// Reads all of them, kReaders at once, and returns those with such values in the order given. Types without such values are passed over.
// Error: unreadable, cancelled. progress is called by one thread at a time.
Result<std::vector<NotFinite>> findNotFinite(const std::vector<const StoredTensor *> &tensors, const ReadProgress &progress = {});

} // namespace stagewright::ckptfile
