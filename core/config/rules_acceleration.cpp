#include "core/config/rules.h"

namespace stagewright::config {

namespace {

class HybridRule
{
public:
    HybridRule(const Stage &stage, const Surroundings &surroundings, Findings &findings)
        : m_stage(stage), m_facts(stage), m_surroundings(surroundings), m_findings(findings), m_tensor(size("tp_size")), m_stages(size("pp_size")),
          m_sequence(size("sp_size"))
    {
    }

    void check()
    {
        checkHeads();
        checkPipeline();
        checkWorld();
        if (m_sequence > 1 && !m_facts.isOn("plugin_config.enable_sequence_parallelism"))
            m_findings.warning("config.sequence-parallel-off", "plugin_config.sp_size", "plugin_config.sp_size is " + std::to_string(m_sequence)
                    + ", but enable_sequence_parallelism is off")
                .fix = setTo(m_stage, "Switch sequence parallelism on", "plugin_config.enable_sequence_parallelism", Value(true));
        if (m_tensor > 1 && m_stage.isSet("lora_config"))
            m_findings.error("config.lora-tensor-parallel", "plugin_config.tp_size", "adapters (lora_config) cannot be trained with plugin_config.tp_size above 1")
                .fix = setTo(m_stage, "Set tp_size to 1", "plugin_config.tp_size", Value(1));
    }

private:
    std::int64_t size(const std::string &name) const { return std::max<std::int64_t>(1, m_facts.integer("plugin_config." + name).value_or(1)); }

    void checkHeads()
    {
        const auto heads = m_facts.integer("model.num_heads");
        if (!heads)
            return;
        const auto mode = m_facts.string("plugin_config.sequence_parallelism_mode").value_or("all_to_all");
        if (m_tensor > 1 && *heads % m_tensor != 0)
            m_findings.error("config.heads-parallel", "plugin_config.tp_size", "plugin_config.tp_size " + std::to_string(m_tensor) + " does not divide the "
                    + std::to_string(*heads) + " attention heads");
        if (m_sequence > 1 && mode == "all_to_all" && *heads % m_sequence != 0)
            m_findings.error("config.heads-parallel", "plugin_config.sp_size", "with all_to_all, plugin_config.sp_size " + std::to_string(m_sequence)
                    + " must divide the " + std::to_string(*heads) + " attention heads")
                .fix = setTo(m_stage, "Use ring_attn", "plugin_config.sequence_parallelism_mode", Value("ring_attn"));
    }

    void checkPipeline()
    {
        if (m_stages <= 1)
            return;
        if (!m_stage.isSet("plugin_config.num_microbatches") && !m_stage.isSet("plugin_config.microbatch_size"))
            m_findings.error("config.pipeline", "plugin_config.pp_size", "plugin_config.pp_size above 1 needs num_microbatches or microbatch_size");
        if (m_facts.integer("plugin_config.zero_stage").value_or(0) > 1)
            m_findings.error("config.pipeline", "plugin_config.zero_stage", "with pipeline stages, plugin_config.zero_stage can be at most 1")
                .fix = setTo(m_stage, "Set zero_stage to 1", "plugin_config.zero_stage", Value(1));
    }

    void checkWorld()
    {
        const std::int64_t product = m_tensor * m_stages * m_sequence;
        if (m_surroundings.worldSize % product == 0)
            return;
        const std::string sentence = "tp_size × pp_size × sp_size is " + std::to_string(product) + ", so the number of processes must be a multiple of that, not "
            + std::to_string(m_surroundings.worldSize);
        if (m_surroundings.worldSize > 1)
            m_findings.error("config.world-size", "plugin_config", sentence);
        else
            m_findings.hint("config.world-size", "plugin_config", sentence);
    }

    const Stage &m_stage;
    Facts m_facts;
    const Surroundings &m_surroundings;
    Findings &m_findings;
    std::int64_t m_tensor, m_stages, m_sequence;
};

} // namespace

void checkAcceleration(const Stage &stage, const Surroundings &surroundings, Findings &findings)
{
    if (Facts(stage).is("plugin", "hybrid"))
        HybridRule(stage, surroundings, findings).check();
}

} // namespace stagewright::config
