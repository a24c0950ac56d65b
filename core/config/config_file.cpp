#include "core/config/config_file.h"

#include <algorithm>
#include <charconv>

#include "core/config/python_parser.h"
#include "core/config/value_text.h"
#include "core/config/yaml_reader.h"

namespace stagewright::config {

namespace {

// A private character that begins the text which stands for the N-th {{_base_.x}} of a YAML file until its value is known.
constexpr std::string_view kMarker = "\xee\x80\x80";

// Replaces every {{_base_.x}} by a quoted text of the same length, so that places stay.
std::string withMarkers(std::string text, std::vector<std::string> &references)
{
    for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
        const Template found = templateAt(text, at);
        if (found.kind != TemplateKind::Base)
            continue;
        const std::size_t end = at + found.length;
        const char before = at ? text[at - 1] : '\0', after = end < text.size() ? text[end] : '\0';
        const bool quoted = (before == '"' || before == '\'') && before == after;
        std::string stand = std::string(kMarker) + std::to_string(references.size());
        references.push_back(found.name);
        stand.resize(found.length - (quoted ? 0 : 2), ' ');
        text.replace(at, found.length, quoted ? stand : '"' + stand + '"');
    }
    return text;
}

Refusal refusal(std::string message, std::size_t offset, const char *code = "config.syntax")
{
    return {code, std::move(message), offset};
}

} // namespace

Result<ConfigFile> ConfigFile::parse(const std::string &text, const std::filesystem::path &file, Format format, OriginKind kind, python::Budget &budget)
{
    auto source = SourceText::make(text, file, SourceText::Substitute::Templates);
    if (!source)
        return source.error();
    ConfigFile out;
    out.m_format = format;
    out.m_kind = kind;
    out.m_source = std::make_shared<SourceText>(std::move(source.value()));
    out.m_name = file.empty() ? nullptr : std::make_shared<const std::string>(file.string());
    try {
        if (format == Format::Python)
            out.readPython(budget);
        else
            out.readYaml(budget);
    } catch (const Refusal &refused) {
        return out.m_source->error(refused);
    } catch (const python::Trouble &trouble) {
        return out.m_source->error(refusal(trouble.message, 0, trouble.code));
    }
    if (out.m_source->hasByteOrderMark() && format == Format::Python) {
        Problem problem;
        problem.severity = Severity::Hint;
        problem.code = "config.byte-order-mark";
        problem.message = out.m_source->name() + ": begins with a byte order mark, which the original does not read; save it as UTF-8 without one";
        problem.file = out.m_source->name();
        problem.line = 1;
        out.m_problems.push_back(std::move(problem));
    }
    return out;
}

void ConfigFile::readPython(python::Budget &budget)
{
    m_module = python::parseModule(m_source->text());
    bool found = false;
    for (const python::Statement &statement : m_module.statements) {
        if (!python::isBaseStatement(statement))
            continue;
        if (found)
            throw refusal("`_base_` is set a second time, which the original ignores; put all files into one list", statement.begin);
        found = true;
        readBases(python::evaluateAlone(statement.value, *m_source, budget), statement.value.begin);
    }
}

void ConfigFile::readYaml(python::Budget &budget)
{
    const std::string marked = withMarkers(m_source->text(), m_references);
    if (!m_references.empty() && m_source->text().find(kMarker) != std::string::npos)
        throw refusal("the private character U+E000 cannot be used together with {{_base_.…}}", m_source->text().find(kMarker));
    yaml::Document document = yaml::read(*m_source, marked, m_name, m_kind, budget);
    m_problems = std::move(document.problems);
    if (document.root.isNone())
        return;
    if (!document.root.isDict())
        throw refusal("a config is a mapping (`name: value` lines), not a " + std::string(typeName(document.root.type())), 0);
    m_yaml = std::move(document.root.dict());
    for (const auto &[key, value] : m_yaml) {
        if (key.isInteger())
            throw refusal("the key " + key.text() + " at the top must be a name", 0);
    }
    if (const Value *base = m_yaml.find("_base_")) {
        const int line = base->origin.line;
        readBases(*base, 0);
        for (BaseReference &reference : m_bases)
            reference.line = line;
        m_yaml.remove("_base_");
    }
}

void ConfigFile::readBases(const Value &value, std::size_t offset)
{
    List one;
    if (value.type() == Type::String)
        one.push_back(value);
    const List &items = value.type() == Type::List ? value.items() : one;
    if (value.type() != Type::String && value.type() != Type::List)
        throw refusal("`_base_` is the path of a file or a list of paths, not " + python::described(value), offset);
    for (const Value &item : items) {
        if (item.type() != Type::String || item.string().empty())
            throw refusal("`_base_` holds " + python::described(item) + " where the path of a file belongs", offset);
        m_bases.push_back({item.string(), m_source->positionOf(offset).line});
    }
}

Result<python::Evaluated> ConfigFile::evaluate(Dict base, python::Budget &budget)
{
    python::Evaluated out;
    try {
        if (m_format == Format::Python) {
            out = python::evaluateModule(m_module, *m_source, m_name, m_kind, std::move(base), budget);
        } else {
            Value all = Value::dict(std::move(m_yaml));
            putReferences(all, base, {}, out, budget);
            out.names = std::move(all.dict());
            out.base = std::move(base);
        }
    } catch (const Refusal &refused) {
        return m_source->error(refused);
    } catch (const python::Trouble &trouble) {
        return m_source->error(refusal(trouble.message, 0, trouble.code));
    }
    out.problems.insert(out.problems.begin(), m_problems.begin(), m_problems.end());
    return out;
}

// Puts the values of {{_base_.x}} where their markers stand.
void ConfigFile::putReferences(Value &value, const Dict &base, const std::string &path, python::Evaluated &out, python::Budget &budget) const
{
    if (m_references.empty())
        return;
    if (value.isSequence()) {
        for (Value &item : value.items())
            putReferences(item, base, path, out, budget);
    } else if (value.isDict()) {
        for (auto &[key, item] : value.dict()) {
            if (!key.isInteger() && key.text().find(kMarker) != std::string::npos)
                throw refusal("{{_base_.…}} cannot be a key", 0);
            putReferences(item, base, path + (path.empty() ? "" : ".") + key.text(), out, budget);
        }
    } else if (value.type() == Type::String && value.string().find(kMarker) != std::string::npos) {
        std::size_t number = 0;
        const std::string &text = value.string();
        const auto parsed = std::from_chars(text.data() + std::min(kMarker.size(), text.size()), text.data() + text.size(), number);
        const bool whole = text.starts_with(kMarker) && std::all_of(parsed.ptr, text.data() + text.size(), [](char c) { return c == ' '; });
        const std::string where = m_source->name() + ":" + std::to_string(value.origin.line);
        if (!whole || number >= m_references.size())
            throw refusal("{{_base_.…}} must be a whole value (in line " + std::to_string(value.origin.line) + ")", 0);
        const std::string &name = m_references[number];
        const Value *found = lookUp(base, name);
        if (!found)
            throw refusal("no base sets `" + name + "` (used in line " + std::to_string(value.origin.line) + ")", 0);
        budget.takeTree(*found);
        out.uses.push_back({name, found->origin, path, value.origin});
        const Origin origin = value.origin;
        value = *found;
        value.origin = origin;
        value.spelling = "{{_base_." + name + "}}";
    }
}

} // namespace stagewright::config
