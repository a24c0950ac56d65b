#include "core/ckptfile/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "core/base/units.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

namespace {

constexpr std::int64_t kChunk = 4 << 20;
const std::string kEqual = "equal, bit for bit";

using Named = std::map<std::string, const StoredTensor *>;

Named byName(const std::vector<StoredTensor> &tensors, std::string_view prefix = {})
{
    Named named;
    for (const StoredTensor &tensor : tensors) {
        if (tensor.name.starts_with(prefix))
            named.emplace(withoutPrefixes(tensor.name).substr(prefix.size()), &tensor);
    }
    return named;
}

// Squares of the difference and of the first's values, for the types in which training keeps its numbers.
struct Distance {
    double difference = 0, norm = 0;
    double relative() const { return difference == 0 ? 0 : norm > 0 ? std::sqrt(difference / norm) : std::numeric_limits<double>::infinity(); }
};

double valueAt(const std::vector<char> &bytes, std::int64_t index, DType dtype)
{
    std::uint32_t bits = 0;
    if (dtype == DType::BF16)
        std::memcpy(reinterpret_cast<char *>(&bits) + 2, bytes.data() + 2 * index, 2);
    else
        std::memcpy(&bits, bytes.data() + 4 * index, 4);
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

void measure(const std::vector<char> &first, const std::vector<char> &second, std::int64_t bytes, DType dtype, Distance &distance)
{
    if (dtype != DType::BF16 && dtype != DType::F32)
        return;
    for (std::int64_t at = 0; at < bytes / bytesOf(dtype); ++at) {
        const double a = valueAt(first, at, dtype), b = valueAt(second, at, dtype);
        distance.norm += a * a;
        distance.difference += (a - b) * (a - b);
    }
}

class Comparer
{
public:
    Comparer(const Contents &first, const Contents &second, const std::function<bool(std::int64_t)> &progress)
        : m_first(first), m_second(second), m_progress(progress)
    {
    }

    Result<std::vector<PartComparison>> run()
    {
        Status done = tensors("weights", byName(m_first.weights), byName(m_second.weights));
        if (done)
            done = tensors("master weights", byName(m_first.master), byName(m_second.master));
        if (done)
            done = tensors("EMA", byName(m_first.ema), byName(m_second.ema));
        if (done)
            done = tensors("optimizer", moments(m_first), moments(m_second));
        if (done)
            done = tensors("accumulated gradients", byName(m_first.extras, kGradientPrefix), byName(m_second.extras, kGradientPrefix));
        if (done)
            done = tensors("random streams", byName(m_first.extras, kRandomPrefix), byName(m_second.extras, kRandomPrefix));
        if (!done)
            return done.error();
        smallStates();
        return std::move(m_parts);
    }

private:
    static Named moments(const Contents &contents)
    {
        Named named;
        for (const auto &[index, entry] : contents.optimizer) {
            if (entry.expAvg)
                named.emplace("first moment of parameter " + std::to_string(index), &*entry.expAvg);
            if (entry.expAvgSq)
                named.emplace("second moment of parameter " + std::to_string(index), &*entry.expAvgSq);
        }
        return named;
    }

    static std::string described(const Named &named)
    {
        std::int64_t bytes = 0;
        for (const auto &[name, tensor] : named)
            bytes += tensor->bytes();
        return named.empty() ? "none" : std::to_string(named.size()) + " tensors, " + formatBytes(static_cast<double>(bytes));
    }

    Status tensors(const std::string &part, const Named &first, const Named &second)
    {
        if (first.empty() && second.empty())
            return Done{};
        PartComparison result{part, described(first), described(second), true, 0, kEqual};
        Distance distance;
        std::int64_t different = 0;
        for (const auto &[name, tensor] : first) {
            const auto other = second.find(name);
            std::string fault;
            if (other == second.end())
                fault = name + " is missing in the second";
            else if (other->second->dtype != tensor->dtype || other->second->shape != tensor->shape)
                fault = name + " has another type or shape in the second";
            else if (auto same = isSame(*tensor, *other->second, distance); !same)
                return same.error();
            else if (!*same)
                fault = name + " differs";
            if (!fault.empty() && different++ == 0)
                result.sentence = fault;
        }
        for (const auto &[name, tensor] : second) {
            if (first.count(name) == 0 && different++ == 0)
                result.sentence = name + " is missing in the first";
        }
        result.equal = different == 0;
        result.distance = distance.relative();
        if (different > 1)
            result.sentence += ", and " + std::to_string(different - 1) + " more of " + std::to_string(std::max(first.size(), second.size()));
        if (result.distance > 0)
            result.sentence += "; relative distance " + formatNumber(result.distance);
        m_parts.push_back(std::move(result));
        return Done{};
    }

    Result<bool> isSame(const StoredTensor &first, const StoredTensor &second, Distance &distance)
    {
        bool same = true;
        for (std::int64_t at = 0; at < first.bytes();) {
            const std::int64_t part = std::min(kChunk, first.bytes() - at);
            m_a.resize(static_cast<std::size_t>(part));
            m_b.resize(static_cast<std::size_t>(part));
            if (Status read = first.read(at, m_a.data(), part); !read)
                return read.error();
            if (Status read = second.read(at, m_b.data(), part); !read)
                return read.error();
            same = std::memcmp(m_a.data(), m_b.data(), static_cast<std::size_t>(part)) == 0 && same;
            measure(m_a, m_b, part, first.dtype, distance);
            at += part;
            m_done += part;
            if (m_progress && !m_progress(m_done))
                return cancelled(first.file());
        }
        return same;
    }

    void add(const std::string &part, const std::string &inFirst, const std::string &inSecond, bool equal)
    {
        m_parts.push_back({part, inFirst, inSecond, equal, 0, equal ? kEqual : "differs"});
    }

    void smallStates()
    {
        steps();
        const auto lr = [](const Contents &contents) { return contents.groups ? "learning rate " + formatNumber(contents.groups->group.lr) : std::string("none"); };
        if (m_first.groups || m_second.groups)
            add("hyper-parameters", lr(m_first), lr(m_second), m_first.groups && m_second.groups && m_first.groups->group == m_second.groups->group);
        const auto schedule = [](const Contents &contents) { return contents.scheduler ? "at " + std::to_string(contents.scheduler->lastEpoch) : std::string("none"); };
        if (m_first.scheduler || m_second.scheduler)
            add("schedule", schedule(m_first), schedule(m_second), m_first.scheduler == m_second.scheduler);
        const auto counters = [](const Contents &contents) {
            return contents.counters ? "step " + std::to_string(contents.counters->updates) + ", epoch " + std::to_string(contents.counters->epoch) + ", micro-step " + std::to_string(contents.counters->microStep) : std::string("none");
        };
        add("counters", counters(m_first), counters(m_second), m_first.counters == m_second.counters);
        own();
    }

    void own()
    {
        if (!m_first.own || !m_second.own)
            return;
        const auto position = [](const Contents &contents) {
            return contents.own->position ? "epoch " + std::to_string(contents.own->position->epoch) + ", batch " + std::to_string(contents.own->position->index) : std::string("none");
        };
        add("data position", position(m_first), position(m_second), m_first.own->position == m_second.own->position);
        if (m_first.own->scaler || m_second.own->scaler) {
            const auto scale = [](const Contents &contents) { return contents.own->scaler ? formatNumber(contents.own->scaler->scale) : std::string("none"); };
            add("loss scale", scale(m_first), scale(m_second), m_first.own->scaler == m_second.own->scaler);
        }
    }

    // Each parameter's own count of updates.
    void steps()
    {
        if (m_first.optimizer.empty() && m_second.optimizer.empty())
            return;
        const auto all = [](const Contents &contents) {
            std::map<std::int64_t, std::int64_t> found;
            for (const auto &[index, entry] : contents.optimizer)
                found[index] = entry.step.value_or(-1);
            return found;
        };
        const auto first = all(m_first), second = all(m_second);
        const auto text = [](const auto &found) { return found.empty() ? std::string("none") : "step " + std::to_string(found.begin()->second); };
        add("optimizer steps", text(first), text(second), first == second);
    }

    const Contents &m_first, &m_second;
    const std::function<bool(std::int64_t)> &m_progress;
    std::vector<PartComparison> m_parts;
    std::vector<char> m_a, m_b;
    std::int64_t m_done = 0;
};

Result<Contents> openWhole(const std::filesystem::path &folder)
{
    auto contents = openCheckpoint(folder);
    if (!contents)
        return contents;
    for (const Problem &problem : contents->problems) {
        if (problem.severity == Severity::Error)
            return Error(ExitCode::Checkpoint, problem.code, problem.message, problem.file);
    }
    return contents;
}

} // namespace

Result<std::vector<PartComparison>> compareCheckpoints(const std::filesystem::path &first, const std::filesystem::path &second,
                                                       const std::function<bool(std::int64_t)> &progress)
{
    const auto a = openWhole(first);
    if (!a)
        return a.error();
    const auto b = openWhole(second);
    if (!b)
        return b.error();
    return Comparer(*a, *b, progress).run();
}

} // namespace stagewright::ckptfile
