#include "core/config/text_document.h"

#include "core/base/text.h"
#include "core/config/python_edit.h"
#include "core/config/python_parser.h"
#include "core/config/yaml_edit.h"
#include "core/config/yaml_reader.h"

namespace stagewright::config {

namespace {

Error badPath(std::string_view path)
{
    return Error(ExitCode::Usage, "config.edit", "'" + std::string(path) + "' is no path of a value");
}

bool isPath(const std::vector<std::string> &path)
{
    for (const std::string &part : path) {
        if (part.empty())
            return false;
    }
    return !path.empty();
}

// The new text, if it still parses; an edit never leaves a broken file behind.
Status accepted(std::string &text, Result<std::string> edited, Format format)
{
    if (!edited)
        return edited.error();
    const auto check = [&]() -> Status {
        if (format == Format::Python) {
            auto parsed = python::EditableText::parse(*edited);
            return parsed ? Status(Done{}) : Status(parsed.error());
        }
        auto parsed = yaml::EditableText::parse(*edited);
        return parsed ? Status(Done{}) : Status(parsed.error());
    };
    if (auto parsed = check(); !parsed)
        return Error(ExitCode::Usage, "config.edit", "this edit would leave a file that cannot be read (" + parsed.error().message() + "); edit the text");
    text = std::move(edited.value());
    return Done{};
}

} // namespace

TextDocument::TextDocument(std::string text, Format format) : m_text(std::move(text)), m_format(format) {}

Status TextDocument::setValue(std::string_view dottedPath, std::string_view expression)
{
    m_parsed.reset();
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return badPath(dottedPath);
    const std::string spelled(trimmed(expression));
    if (m_format == Format::Python) {
        auto document = python::EditableText::parse(m_text);
        if (!document)
            return document.error();
        return accepted(m_text, document->set(path, spelled), m_format);
    }
    auto value = parseLiteral(spelled);
    if (!value)
        return value.error();
    if (value->isNumber())
        value->spelling = spelled;
    auto document = yaml::EditableText::parse(m_text);
    if (!document)
        return document.error();
    std::string text = m_text;
    if (auto status = accepted(text, document->set(path, *value, spelled), m_format); !status)
        return status;
    // YAML has many ways to write a key; an edit that did not arrive is none.
    const auto again = yaml::EditableText::parse(text);
    const auto written = again ? again->valueAt(path) : std::nullopt;
    if (!written || toPython(*written) != toPython(*value))
        return Error(ExitCode::Usage, "config.edit", "`" + std::string(dottedPath) + "` is written in a form that cannot be edited value by value; edit the text");
    m_text = std::move(text);
    return Done{};
}

Status TextDocument::removeKey(std::string_view dottedPath)
{
    m_parsed.reset();
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return badPath(dottedPath);
    if (m_format == Format::Python) {
        auto document = python::EditableText::parse(m_text);
        return document ? accepted(m_text, document->remove(path), m_format) : Status(document.error());
    }
    auto document = yaml::EditableText::parse(m_text);
    return document ? accepted(m_text, document->remove(path), m_format) : Status(document.error());
}

Status TextDocument::renameKey(std::string_view dottedPath, std::string_view newName)
{
    m_parsed.reset();
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return badPath(dottedPath);
    if (newName.empty() || newName.find('.') != newName.npos)
        return badPath(newName);
    if (m_format == Format::Python) {
        auto document = python::EditableText::parse(m_text);
        return document ? accepted(m_text, document->rename(path, std::string(newName)), m_format) : Status(document.error());
    }
    auto document = yaml::EditableText::parse(m_text);
    return document ? accepted(m_text, document->rename(path, std::string(newName)), m_format) : Status(document.error());
}

std::optional<int> TextDocument::lineOf(std::string_view dottedPath) const
{
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return std::nullopt;
    if (m_format == Format::Python) {
        if (!m_parsed) {
            auto document = python::EditableText::parse(m_text);
            if (!document)
                return std::nullopt;
            m_parsed = std::make_shared<python::EditableText>(std::move(document.value()));
        }
        return static_cast<const python::EditableText *>(m_parsed.get())->lineOf(path);
    }
    if (!m_parsed) {
        auto document = yaml::EditableText::parse(m_text);
        if (!document)
            return std::nullopt;
        m_parsed = std::make_shared<yaml::EditableText>(std::move(document.value()));
    }
    return static_cast<const yaml::EditableText *>(m_parsed.get())->lineOf(path);
}

} // namespace stagewright::config
