#include "core/ckptfile/relayout.h"

#include <array>
#include <map>
#include <numeric>

#include "core/ckptfile/model_shape.h"
#include "core/config/stage.h"

namespace stagewright::ckptfile {

std::optional<RopeOrder> ropeOrderNamed(std::string_view name)
{
    return name == "flux" ? std::optional(RopeOrder::Neighbours) : name == "opensora" ? std::optional(RopeOrder::Halves) : std::nullopt;
}

const char *ropeOrderName(RopeOrder order) { return order == RopeOrder::Neighbours ? "flux" : "opensora"; }

std::optional<RopeOrder> ropeOrderOf(const std::string &configYaml)
{
    if (configYaml.empty())
        return std::nullopt;
    const auto stage = config::stageFromYaml(configYaml);
    if (!stage || stage->at("model.use_liger_rope").type() != config::Type::Bool)
        return std::nullopt;
    return stage->boolean("model.use_liger_rope") ? RopeOrder::Halves : RopeOrder::Neighbours;
}

namespace {

// The parts of a fused projection, as the separate layers are called. Queries and keys come first.
struct Projection {
    std::string_view fused;
    std::array<std::string_view, 3> parts;
};
constexpr std::array<Projection, 2> kProjections{{{"qkv", {"q_proj", "k_proj", "v_proj"}}, {"linear1", {"q_proj", "k_proj", "v_mlp"}}}};

bool isSingle(std::string_view name) { return name.starts_with("single_blocks."); }

class Relayout
{
public:
    Relayout(const std::vector<StoredTensor> &weights, const LayoutChange &change, std::int64_t hidden) : m_change(change), m_hidden(hidden)
    {
        for (const StoredTensor &tensor : weights) {
            auto plain = std::make_shared<StoredTensor>(tensor);
            plain->name = std::string(withoutPrefixes(tensor.name));
            m_order.push_back(plain->name);
            m_source[plain->name] = std::move(plain);
        }
    }

    Result<std::vector<StoredTensor>> run()
    {
        for (const std::string &name : m_order) {
            if (Status done = place(name); !done)
                return done.error();
        }
        return std::move(m_result);
    }

private:
    // "double_blocks.3.img_attn." of "double_blocks.3.img_attn.qkv.weight"; the layer ("qkv") and the kind ("weight") behind it.
    struct Parsed { std::string base, layer, kind; };
    static std::optional<Parsed> parse(const std::string &name)
    {
        if (!isSingle(name) && !(name.starts_with("double_blocks.") && name.find("_attn.") != std::string::npos))
            return std::nullopt;
        const auto kind = name.rfind('.');
        const auto layer = name.rfind('.', kind - 1);
        return Parsed{name.substr(0, layer + 1), name.substr(layer + 1, kind - layer - 1), name.substr(kind + 1)};
    }

    Status place(const std::string &name)
    {
        const auto parsed = parse(name);
        const auto &source = m_source[name];
        if (!parsed)
            return keep(*source);
        if (parsed->kind == "scale")
            return m_change.from == m_change.to ? keep(*source) : scale(name);
        const Projection &projection = kProjections[isSingle(name) ? 1 : 0];
        if (parsed->layer == projection.fused)
            return fromFused(*parsed, projection, source);
        for (std::size_t part = 0; part < 3; ++part) {
            if (parsed->layer == projection.parts[part])
                return fromPart(*parsed, projection, part, source);
        }
        return keep(*source);
    }

    Status keep(const StoredTensor &tensor)
    {
        m_result.push_back(tensor);
        return Done{};
    }

    Status scale(const std::string &name)
    {
        const auto &source = m_source[name];
        std::vector<RowRun> rows;
        addHeads(rows, source, 0, source->shape.at(0), source->shape.at(0));
        m_result.emplace_back(name, std::move(rows));
        return Done{};
    }

    Status fromFused(const Parsed &parsed, const Projection &projection, const std::shared_ptr<const StoredTensor> &source)
    {
        const std::int64_t rows = source->shape.empty() ? 0 : source->shape[0];
        if (rows < 3 * m_hidden || (projection.parts[2] == "v_proj" && rows != 3 * m_hidden))
            return refuse(source->name + " has " + std::to_string(rows) + " rows, at least 3 x " + std::to_string(m_hidden) + " belong there");
        std::array<std::vector<RowRun>, 3> parts;
        for (std::size_t part = 0; part < 3; ++part) {
            const std::int64_t first = static_cast<std::int64_t>(part) * m_hidden, count = part == 2 ? rows - 2 * m_hidden : m_hidden;
            if (Status done = addPart(parts[part], source, first, count, part < 2, parsed); !done)
                return done;
        }
        if (m_change.fused.value_or(true)) {
            for (std::size_t part : {1, 2})
                parts[0].insert(parts[0].end(), parts[part].begin(), parts[part].end());
            m_result.emplace_back(source->name, std::move(parts[0]));
            return Done{};
        }
        for (std::size_t part = 0; part < 3; ++part)
            m_result.emplace_back(parsed.base + std::string(projection.parts[part]) + "." + parsed.kind, std::move(parts[part]));
        return Done{};
    }

    Status fromPart(const Parsed &parsed, const Projection &projection, std::size_t number, const std::shared_ptr<const StoredTensor> &source)
    {
        std::vector<RowRun> rows;
        if (!m_change.fused.value_or(false)) {
            if (Status done = addPart(rows, source, 0, source->shape.at(0), number < 2, parsed); !done)
                return done;
            m_result.emplace_back(source->name, std::move(rows));
            return Done{};
        }
        if (number > 0)
            return Done{};                       // went into the fused one with the queries
        for (std::size_t part = 0; part < 3; ++part) {
            const auto found = m_source.find(parsed.base + std::string(projection.parts[part]) + "." + parsed.kind);
            if (found == m_source.end())
                return refuse(parsed.base + std::string(projection.parts[part]) + "." + parsed.kind + " is missing");
            if (found->second->dtype != source->dtype)
                return refuse(found->second->name + " has another type than " + source->name);
            if (Status done = addPart(rows, found->second, 0, found->second->shape.at(0), part < 2, parsed); !done)
                return done;
        }
        m_result.emplace_back(parsed.base + std::string(projection.fused) + "." + parsed.kind, std::move(rows));
        return Done{};
    }

    // rotates: queries and keys.
    Status addPart(std::vector<RowRun> &rows, const std::shared_ptr<const StoredTensor> &source, std::int64_t first, std::int64_t count, bool rotates, const Parsed &parsed)
    {
        if (!rotates || m_change.from == m_change.to) {
            rows.push_back({source, first, count});
            return Done{};
        }
        const auto norm = m_source.find(parsed.base + "norm.query_norm.scale");
        const std::int64_t head = norm == m_source.end() || norm->second->shape.size() != 1 ? 0 : norm->second->shape[0];
        if (head <= 0 || head % 2 != 0 || count % head != 0)
            return refuse(parsed.base + "norm.query_norm.scale, which tells the size of a head, is missing or does not fit " + source->name);
        addHeads(rows, source, first, count, head);
        return Done{};
    }

    void addHeads(std::vector<RowRun> &rows, const std::shared_ptr<const StoredTensor> &source, std::int64_t first, std::int64_t count, std::int64_t head)
    {
        for (std::int64_t start = first; start < first + count; start += head) {
            for (std::int64_t at = 0; at < head; ++at) {
                // Row `at` of the result: to halves 0, 2, …, 1, 3, …; back again the inverse of that.
                const std::int64_t from = m_change.to == RopeOrder::Halves ? (at < head / 2 ? 2 * at : 2 * (at - head / 2) + 1) : at / 2 + (at % 2) * (head / 2);
                rows.push_back({source, start + from, 1});
            }
        }
    }

    Status refuse(const std::string &sentence) const
    {
        const std::string file = m_source.begin()->second->file().string();
        return Error(ExitCode::Checkpoint, "checkpoint.layout", file + ": the layout of the weights cannot be changed: " + sentence, file);
    }

    const LayoutChange &m_change;
    std::int64_t m_hidden;
    std::vector<std::string> m_order;
    std::map<std::string, std::shared_ptr<const StoredTensor>> m_source;
    std::vector<StoredTensor> m_result;
};

} // namespace

Result<std::vector<StoredTensor>> changeLayout(const std::vector<StoredTensor> &weights, const LayoutChange &change)
{
    const auto shape = modelShapeOf(weights);
    if (!shape) {
        const std::string file = weights.empty() ? std::string() : weights.front().file().string();
        return Error(ExitCode::Checkpoint, "checkpoint.layout", file + ": the layout of the weights cannot be changed: img_in.weight is missing, so this is no MMDiT", file);
    }
    return Relayout(weights, change, shape->hiddenSize).run();
}

} // namespace stagewright::ckptfile
