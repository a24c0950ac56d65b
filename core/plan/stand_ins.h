// What a dry run puts in the place of data, draws and encoders: the same shapes in the same memory, and no numbers.
#pragma once

#include <memory>

#include "core/data/batch.h"
#include "core/plan/work.h"
#include "core/train/draws.h"
#include "core/train/encoding.h"

namespace stagewright::plan {

// A batch of the shape. Where the device is the CPU its pixels lie in the device's memory; elsewhere on the host, which is not counted here.
data::Batch standInBatch(const Work &work, const ClipShape &shape);

// Draws on the device's memory where that is the CPU, on the host elsewhere.
std::unique_ptr<train::Draws> standInDraws(const Work &work);

// The stage's encoders on meta: the embedded ones as they are, learned ones as their weights and an estimate of their work. With a divided sequence
// what the model is given is one process's part.
std::unique_ptr<train::Encoding> standInEncoding(const Work &work, const ClipShape &shape);

} // namespace stagewright::plan
