#include "core/checkpoint/load_plan.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "core/checkpoint/tensor_type.h"
#include "core/ckptfile/verify.h"

namespace stagewright::checkpoint {

using ckptfile::StoredTensor;

TensorMap::TensorMap(const std::vector<StoredTensor> &tensors)
{
    for (const StoredTensor &tensor : tensors) {
        const std::string name(ckptfile::withoutPrefixes(tensor.name));
        m_hadPrefixes = m_hadPrefixes || name.size() != tensor.name.size();
        if (m_byName.emplace(name, &tensor).second)
            m_order.push_back(name);
    }
}

const StoredTensor *TensorMap::find(const std::string &name) const
{
    const auto found = m_byName.find(name);
    return found == m_byName.end() ? nullptr : found->second;
}

std::vector<std::string> TensorMap::without(const std::vector<ParameterState> &parameters) const
{
    std::set<std::string_view> known;
    for (const ParameterState &parameter : parameters)
        known.insert(parameter.name);
    std::vector<std::string> unknown;
    std::copy_if(m_order.begin(), m_order.end(), std::back_inserter(unknown), [&](const std::string &name) { return known.count(name) == 0; });
    return unknown;
}

bool hasShape(const StoredTensor &stored, const torch::Tensor &tensor)
{
    return std::equal(stored.shape.begin(), stored.shape.end(), tensor.sizes().begin(), tensor.sizes().end());
}

std::string mismatchText(const std::string &name, const StoredTensor &stored, const torch::Tensor &tensor)
{
    return name + ": " + ckptfile::shapeText(stored.shape) + " in the checkpoint, " + ckptfile::shapeText(tensor.sizes().vec()) + " here";
}

namespace {

// Straight into the tensor where bytes need no change; else through a tensor of the stored type.
Status copyOne(const CopyStep &step)
{
    const torch::NoGradGuard noGrad;
    const at::ScalarType type = torchType(step.from->dtype);
    torch::Tensor into = step.into.detach();
    if (step.from->elements() == 0)
        return Done{};
    if (into.device().is_cpu() && into.is_contiguous() && into.scalar_type() == type)
        return step.from->read(0, into.mutable_data_ptr(), step.from->bytes());
    torch::Tensor stored = torch::empty({step.from->elements()}, torch::TensorOptions().dtype(type).device(torch::kCPU));
    if (Status read = step.from->read(0, stored.mutable_data_ptr(), step.from->bytes()); !read)
        return read;
    into.copy_(stored.view(into.sizes()));
    return Done{};
}

// On a thread of ours nothing may be thrown any further.
Status copyGuarded(const CopyStep &step)
{
    try {
        return copyOne(step);
    } catch (const c10::OutOfMemoryError &error) {
        return Error(ExitCode::OutOfMemory, "memory.host", std::string("reading ") + step.from->file().string() + ": " + error.what_without_backtrace());
    } catch (const std::exception &error) {
        return Error(ExitCode::Other, "checkpoint.not-restored", std::string("reading ") + step.from->file().string() + ": " + error.what());
    }
}

} // namespace

Status copyAll(const std::vector<CopyStep> &steps, const std::function<bool(std::int64_t)> &progress)
{
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::int64_t done = 0;                   // guarded by the mutex, as the next
    std::optional<Error> failure;
    const auto work = [&] {
        for (std::size_t at = next++; at < steps.size(); at = next++) {
            const Status copied = copyGuarded(steps[at]);
            const std::lock_guard lock(mutex);
            if (!copied && !failure)
                failure = copied.error();
            if (failure)
                return;
            done += steps[at].from->bytes();
            if (progress)
                progress(done);
        }
    };
    const bool onHost = std::all_of(steps.begin(), steps.end(), [](const CopyStep &step) { return step.into.device().is_cpu(); });
    std::vector<std::thread> others;
    for (int number = 1; onHost && number < ckptfile::kReaders; ++number)
        others.emplace_back(work);
    work();
    for (std::thread &other : others)
        other.join();
    if (failure)
        return *failure;
    return Done{};
}

} // namespace stagewright::checkpoint
