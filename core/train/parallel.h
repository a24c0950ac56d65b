// A loop over chunks on the OpenMP threads that Torch computes with, so that no second pool competes for the cores.
#pragma once

#include <cstddef>
#include <type_traits>

namespace stagewright::train {

// Calls body(context, i) for every i in [0, count), on up to `threads` threads; returns when all are done. body must not throw and must
// write to places of its own: then the result does not depend on the number of threads.
void forEachChunk(std::size_t count, int threads, void (*body)(void *context, std::size_t index), void *context);

template <class Body>
void forEachChunk(std::size_t count, int threads, Body &&body)
{
    forEachChunk(count, threads, [](void *context, std::size_t index) { (*static_cast<std::remove_reference_t<Body> *>(context))(index); }, &body);
}

} // namespace stagewright::train
