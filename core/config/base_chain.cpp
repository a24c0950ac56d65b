#include "core/config/base_chain.h"

#include <algorithm>
#include <system_error>

#include "core/base/files.h"
#include "core/config/config_file.h"
#include "core/config/merge.h"
#include "core/config/stale_helper.h"

namespace stagewright::config {

namespace {

constexpr std::size_t kMaxFiles = 200;
constexpr std::size_t kMaxDepth = 64;

using python::Evaluated;

std::filesystem::path identityOf(const std::filesystem::path &file)
{
    std::error_code ignored;
    std::filesystem::path canonical = std::filesystem::weakly_canonical(file, ignored);
    return ignored || canonical.empty() ? file.lexically_normal() : canonical;
}

bool isConfigName(const std::filesystem::path &file)
{
    const std::string extension = file.extension().string();
    return extension == ".py" || extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// A config that is not there is a mistake in what was typed; one that cannot be read is a matter of the disk.
Result<std::string> readConfig(const std::filesystem::path &file)
{
    auto content = readFile(file, std::int64_t(kMaxTextBytes) + 1);
    if (content || (content.error().problem.code != "env.missing-file" && content.error().problem.code != "env.not-a-file"))
        return content;
    Error error = content.error();
    error.exit = ExitCode::Usage;
    return error;
}

class Chain
{
public:
    LoadedConfig out;
    std::vector<python::NameUse> uses;

    Result<OwnValues> loadOwn(const std::filesystem::path &file)
    {
        auto content = readConfig(file);
        if (!content)
            return content.error();
        auto parsed = ConfigFile::parse(*content, file, formatOf(file), OriginKind::File, m_budget);
        if (!parsed)
            return parsed.error();
        out.baseChain.push_back(file);
        m_open.push_back(identityOf(file));
        auto base = loadBases(*parsed, file);
        if (!base)
            return base.error();
        OwnValues own;
        own.base = *base;
        auto evaluated = parsed->evaluate(std::move(base.value()), m_budget);
        if (!evaluated)
            return evaluated.error();
        own.changesBase = !(evaluated->base == own.base);
        own.values = std::move(evaluated->names);
        for (const ConfigFile::BaseReference &reference : parsed->bases())
            own.bases.push_back(reference.path);
        return own;
    }

    Result<Dict> load(const std::filesystem::path &file, const std::string *text, Format format, OriginKind kind)
    {
        if (out.baseChain.size() >= kMaxFiles || m_open.size() >= kMaxDepth)
            return Error(ExitCode::Usage, "config.too-large", file.string() + ": more files are based on each other than a config needs (limits: "
                + std::to_string(kMaxFiles) + " files, " + std::to_string(kMaxDepth) + " levels)", file.string());
        std::string content;
        if (!text) {
            auto read = readConfig(file);
            if (!read)
                return read.error();
            content = std::move(read.value());
        }
        auto parsed = ConfigFile::parse(text ? *text : content, file, format, kind, m_budget);
        if (!parsed)
            return parsed.error();
        if (!file.empty())
            out.baseChain.push_back(file);
        m_open.push_back(identityOf(file));
        auto base = loadBases(*parsed, file);
        m_open.pop_back();
        if (!base)
            return base.error();
        auto own = parsed->evaluate(std::move(base.value()), m_budget);
        if (!own)
            return own.error();
        return laidOver(std::move(own.value()), *parsed);
    }

private:
    Result<Dict> loadBases(const ConfigFile &child, const std::filesystem::path &file)
    {
        Dict all;
        for (const ConfigFile::BaseReference &reference : child.bases()) {
            auto path = pathOf(child, reference, file);
            if (!path)
                return path.error();
            auto base = load(*path, nullptr, formatOf(*path), OriginKind::Base);
            if (!base)
                return base.error();
            for (auto &[key, value] : *base) {
                if (const Value *other = all.find(key)) {
                    return refused(child, reference, "config.base-clash", "`" + key.text() + "` is set in two of its bases, " + placeOf(other->origin) + " and "
                        + placeOf(value.origin) + "; keep it in one of them, or base one file on the other");
                }
                all.set(key, std::move(value));
            }
        }
        return all;
    }

    Result<std::filesystem::path> pathOf(const ConfigFile &child, const ConfigFile::BaseReference &reference, const std::filesystem::path &file)
    {
        if (reference.path.find("::") != std::string::npos)
            return refused(child, reference, "config.needs-python", "the base `" + reference.path + "` lies in a Python package; copy the file beside this one and name it here");
        const std::filesystem::path path = (file.parent_path() / reference.path).lexically_normal();
        if (!isConfigName(path))
            return refused(child, reference, "config.base-missing", "the base `" + reference.path + "` is no .py, .yaml or .json file");
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored))
            return refused(child, reference, "config.base-missing", "the base `" + reference.path + "` does not exist (looked for " + path.string() + "); correct `_base_`");
        const auto loop = std::find(m_open.begin(), m_open.end(), identityOf(path));
        if (loop != m_open.end()) {
            std::string round;
            for (auto step = loop; step != m_open.end(); ++step)
                round += step->filename().string() + " → ";
            return refused(child, reference, "config.base-cycle", "the files are based on each other in a circle (" + round + path.filename().string() + "); remove one `_base_`");
        }
        return path;
    }

    static std::string placeOf(const Origin &origin)
    {
        return origin.file ? *origin.file + ":" + std::to_string(origin.line) : "line " + std::to_string(origin.line);
    }

    static Error refused(const ConfigFile &child, const ConfigFile::BaseReference &reference, const char *code, const std::string &message)
    {
        const std::string &name = child.source().name();
        return Error(ExitCode::Usage, code, name + ":" + std::to_string(reference.line) + ": " + message, name, reference.line);
    }

    Result<Dict> laidOver(Evaluated own, const ConfigFile &file)
    {
        for (const Problem &problem : own.problems)
            out.problems.push_back(problem);
        if (const Value *note = own.names.find("_deprecation_")) {
            Problem problem;
            problem.severity = Severity::Warning;
            problem.code = "config.deprecated-file";
            problem.message = file.source().name() + ": says of itself that it is deprecated: " + toPython(*note);
            problem.file = file.source().name();
            problem.line = note->origin.line;
            out.problems.push_back(std::move(problem));
            own.names.remove("_deprecation_");
        }
        uses.insert(uses.end(), std::make_move_iterator(own.uses.begin()), std::make_move_iterator(own.uses.end()));
        Dict resolved = std::move(own.base);
        try {
            mergeOver(resolved, std::move(own.names), out.problems);
        } catch (const TypeClash &clash) {
            Error error(ExitCode::Usage, "config.type-clash", placeOf(clash.child.origin) + ": `" + clash.path + "` is a dict here, but " + shown(clash.base) + " in "
                + placeOf(clash.base.origin) + "; give it a value of that kind, or put `_delete_=True` into the dict to replace the base's value",
                file.source().name(), clash.child.origin.line);
            error.problem.path = clash.path;
            error.problem.column = clash.child.origin.column;
            return error;
        }
        for (auto entry = resolved.begin(); entry != resolved.end(); ++entry) {
            if (entry->first.text().starts_with("__")) {
                resolved.remove(DictKey(entry->first));
                return laidOver({std::move(resolved), {}, {}, {}}, file);
            }
        }
        return resolved;
    }

    static std::string shown(const Value &value)
    {
        return value.isNone() ? "None" : "of type " + std::string(typeName(value.type()));
    }

    python::Budget m_budget;
    std::vector<std::filesystem::path> m_open;
};

Status refuseReserved(const Dict &values)
{
    for (const char *name : {"filename", "text", "pretty_text", "env_variables"}) {
        if (const Value *value = values.find(name)) {
            const std::string place = value->origin.file ? *value->origin.file + ":" + std::to_string(value->origin.line) : "line " + std::to_string(value->origin.line);
            return Error(ExitCode::Usage, "config.reserved-name", place + ": `" + name + "` is a name that the original keeps for itself; choose another",
                value->origin.fileName(), value->origin.line);
        }
    }
    return Done{};
}

} // namespace

Result<LoadedConfig> resolveChain(const std::filesystem::path &leaf, const std::string *text, Format format)
{
    Chain chain;
    auto values = chain.load(leaf, text, format, OriginKind::File);
    if (!values)
        return values.error();
    if (auto status = refuseReserved(*values); !status)
        return status.error();
    LoadedConfig out = std::move(chain.out);
    out.values = std::move(values.value());
    for (const python::NameUse &use : chain.uses)
        out.helperNames.insert(use.source.substr(0, use.source.find('.')));
    out.staleHelpers = findStaleHelpers(out.values, chain.uses, out.problems);
    dropStrayDeletes(out.values, out.problems);
    return out;
}

Result<OwnValues> readOwnValues(const std::filesystem::path &file)
{
    return Chain().loadOwn(file);
}

Result<OwnValues> readOwnValues(const std::string &text, const std::filesystem::path &file, Format format, const Dict &base)
{
    python::Budget budget;
    auto parsed = ConfigFile::parse(text, file, format, OriginKind::File, budget);
    if (!parsed)
        return parsed.error();
    auto evaluated = parsed->evaluate(base, budget);
    if (!evaluated)
        return evaluated.error();
    return OwnValues{std::move(evaluated->names), base, false, {}};
}

} // namespace stagewright::config
