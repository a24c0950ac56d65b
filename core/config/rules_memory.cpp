#include <algorithm>

#include "core/base/units.h"
#include "core/config/activation_need.h"
#include "core/config/overrides.h"
#include "core/config/rules.h"

namespace stagewright::config {

namespace {

constexpr std::int64_t kMebi = std::int64_t(1) << 20;

bool isIntPair(const Value &value)
{
    return value.isSequence() && value.items().size() == 2 && value.items()[0].type() == Type::Int && value.items()[1].type() == Type::Int;
}

void checkDepths(const Stage &stage, const Facts &facts, Findings &findings)
{
    const std::string path = "model.grad_ckpt_settings";
    const Value *settings = lookUp(stage.values(), path);
    if (!settings || !isIntPair(*settings))
        return;
    const CheckpointedBlocks blocks = checkpointedBlocks(stage);
    const std::int64_t doubles = settings->items()[0].integer(), singles = settings->items()[1].integer();
    if (doubles < 0 || singles < 0) {
        findings.at(*settings, Severity::Warning, "config.negative-depth", path,
            path + " = " + toPython(*settings) + " counts from the end, as Python slices do: " + words(blocks));
    }
    const bool asksForSome = doubles != 0 || singles != 0;
    if (facts.boolean("grad_checkpoint") != false || !asksForSome)
        return;
    const Value *off = lookUp(stage.values(), "grad_checkpoint");
    const bool sameLayer = off && off->origin.kind == settings->origin.kind && off->origin.fileName() == settings->origin.fileName();
    const std::string sentence = "grad_checkpoint is off, so " + path + " = " + toPython(*settings) + " has no effect and no block is checkpointed";
    Problem &problem = findings.at(*settings, sameLayer ? Severity::Error : Severity::Warning, "config.depth-while-off", path, sentence);
    problem.fix = setTo(stage, "Switch gradient checkpointing on", "grad_checkpoint", Value(true));
}

std::string bucketWords(const ActivationNeed &need)
{
    return need.row.resolution + ", " + std::to_string(need.row.frames) + (need.row.frames == 1 ? " frame" : " frames") + ", batch "
        + std::to_string(need.row.batchSize) + ", " + std::to_string(need.size.height) + "×" + std::to_string(need.size.width);
}

class BufferRule
{
public:
    BufferRule(const Stage &stage, Findings &findings, std::int64_t elements)
        : m_stage(stage), m_facts(stage), m_findings(findings), m_elements(elements), m_bytes(bytesPerElement(m_facts.string("dtype").value_or("bf16")))
    {
    }

    void check()
    {
        const CheckpointedBlocks blocks = checkpointedBlocks(m_stage);
        if (blocks.doubleTotal + blocks.singleTotal > 0 && blocks.count() == 0) {
            warning("config.buffer-without-checkpointing", "grad_ckpt_buffer_size is set, but no block is checkpointed, so nothing is moved and no memory is locked")
                .fix = setTo(m_stage, "Switch the buffer off", "grad_ckpt_buffer_size", Value(0));
            return;
        }
        if (m_elements < kMebi / 1024) {
            warning("config.buffer-tiny", "grad_ckpt_buffer_size = " + std::to_string(m_elements) + " counts elements, not GiB: " + std::to_string(m_elements)
                    + " GiB would be " + formatCount(m_elements * static_cast<std::int64_t>(kGiB) / m_bytes) + " elements")
                .fix = setTo(m_stage, "Make it " + std::to_string(m_elements) + " GiB", "grad_ckpt_buffer_size",
                    Value(m_elements * static_cast<std::int64_t>(kGiB) / m_bytes));
            return;
        }
        const auto needs = activationNeeds(m_stage);
        const auto largest = largestNeed(needs);
        if (!largest)
            return;
        if (largest->elements > m_elements)
            overflow(needs, *largest);
        else if (std::max(largest->elements, kMebi) * 2 < m_elements)
            oversized(*largest);
    }

private:
    void overflow(const std::vector<ActivationNeed> &needs, const ActivationNeed &largest)
    {
        const auto tooLarge = std::count_if(needs.begin(), needs.end(), [&](const ActivationNeed &need) { return need.elements > m_elements; });
        const bool stops = m_facts.is("grad_ckpt_buffer_overflow", "error");
        std::string sentence = "grad_ckpt_buffer_size holds " + inWords(m_elements) + ", but bucket " + bucketWords(largest) + " needs " + inWords(largest.elements);
        if (tooLarge > 1)
            sentence += " (and " + std::to_string(tooLarge - 1) + " more buckets do not fit)";
        sentence += stops ? "; training would stop there" : "; what does not fit stays on the device";
        Problem &problem = m_findings.at(place(), stops ? Severity::Error : Severity::Warning, "memory.activation-buffer", "grad_ckpt_buffer_size", sentence);
        const std::int64_t enough = (largest.elements + kMebi - 1) / kMebi * kMebi;
        problem.fix = setTo(m_stage, "Enlarge the buffer to " + formatBytes(static_cast<double>(enough * m_bytes)), "grad_ckpt_buffer_size", Value(enough));
    }

    void oversized(const ActivationNeed &largest)
    {
        const std::int64_t enough = std::max(kMebi, (largest.elements + kMebi - 1) / kMebi * kMebi);
        Problem &problem = m_findings.at(place(), Severity::Hint, "memory.buffer-oversized", "grad_ckpt_buffer_size",
            "grad_ckpt_buffer_size locks " + inWords(m_elements) + " of host memory for each process, but the largest bucket (" + bucketWords(largest) + ") needs only "
                + inWords(largest.elements));
        problem.fix = setTo(m_stage, "Shrink the buffer to " + formatBytes(static_cast<double>(enough * m_bytes)), "grad_ckpt_buffer_size", Value(enough));
    }

    std::string inWords(std::int64_t elements) const
    {
        return formatCount(elements) + " elements (" + formatBytes(static_cast<double>(elements) * m_bytes) + ")";
    }

    const Value &place() const { return *lookUp(m_stage.values(), "grad_ckpt_buffer_size"); }
    Problem &warning(const char *code, const std::string &sentence) { return m_findings.at(place(), Severity::Warning, code, "grad_ckpt_buffer_size", sentence); }

    const Stage &m_stage;
    Facts m_facts;
    Findings &m_findings;
    std::int64_t m_elements;
    int m_bytes;
};

} // namespace

void checkMemory(const Stage &stage, Findings &findings)
{
    const Facts facts(stage);
    checkDepths(stage, facts, findings);
    const auto buffer = facts.integer("grad_ckpt_buffer_size");
    if (buffer && *buffer > 0 && *buffer < std::int64_t(1) << 50)
        BufferRule(stage, findings, *buffer).check();
}

} // namespace stagewright::config
