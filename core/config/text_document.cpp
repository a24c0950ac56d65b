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

} // namespace

TextDocument::TextDocument(std::string text, Format format) : m_text(std::move(text)), m_format(format) {}

template <class Editable>
Result<Editable> TextDocument::parsed() const
{
    if (!m_parsed) {
        auto document = Editable::parse(m_text);
        if (!document)
            return document.error();
        m_parsed = std::make_shared<const Editable>(std::move(document.value()));
    }
    return *static_cast<const Editable *>(m_parsed.get());
}

// Takes a text that is known to parse.
Status TextDocument::take(Result<std::string> edited)
{
    if (!edited)
        return edited.error();
    if (m_text != *edited) {
        m_text = std::move(edited.value());
        m_parsed.reset();
    }
    return Done{};
}

void TextDocument::prepare() const
{
    if (m_format == Format::Python)
        (void)parsed<python::EditableText>().ok();
    else
        (void)parsed<yaml::EditableText>().ok();
}

// Takes the new text, if it still parses; an edit never leaves a broken file behind.
template <class Editable>
Status TextDocument::accept(Result<std::string> edited)
{
    if (!edited)
        return edited.error();
    auto document = Editable::parse(*edited);
    if (!document)
        return Error(ExitCode::Usage, "config.edit", "this edit would leave a file that cannot be read (" + document.error().message() + "); edit the text");
    m_parsed = std::make_shared<const Editable>(std::move(document.value()));
    m_text = std::move(edited.value());
    return Done{};
}

Status TextDocument::setValue(std::string_view dottedPath, std::string_view expression)
{
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return badPath(dottedPath);
    const std::string spelled(trimmed(expression));
    if (m_format == Format::Python) {
        const auto document = parsed<python::EditableText>();
        if (document && document->replacesSimply(path, spelled))
            return take(document->set(path, spelled));
        return document ? accept<python::EditableText>(document->set(path, spelled)) : Status(document.error());
    }
    auto value = parseLiteral(spelled);
    if (!value)
        return value.error();
    if (value->isNumber())
        value->spelling = spelled;
    const auto document = parsed<yaml::EditableText>();
    if (!document)
        return document.error();
    if (document->replacesSimply(path, *value))
        return take(document->set(path, *value, spelled));
    TextDocument attempt = *this;
    if (auto status = attempt.accept<yaml::EditableText>(document->set(path, *value, spelled)); !status)
        return status;
    // YAML has many ways to write a key; an edit that did not arrive is none.
    const auto again = attempt.parsed<yaml::EditableText>();
    const auto written = again ? again->valueAt(path) : std::nullopt;
    if (!written || toPython(*written) != toPython(*value))
        return Error(ExitCode::Usage, "config.edit", "`" + std::string(dottedPath) + "` is written in a form that cannot be edited value by value; edit the text");
    *this = std::move(attempt);
    return Done{};
}

Status TextDocument::removeKey(std::string_view dottedPath)
{
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return badPath(dottedPath);
    if (m_format == Format::Python) {
        const auto document = parsed<python::EditableText>();
        return document ? accept<python::EditableText>(document->remove(path)) : Status(document.error());
    }
    const auto document = parsed<yaml::EditableText>();
    return document ? accept<yaml::EditableText>(document->remove(path)) : Status(document.error());
}

Status TextDocument::renameKey(std::string_view dottedPath, std::string_view newName)
{
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return badPath(dottedPath);
    if (newName.empty() || newName.find('.') != newName.npos)
        return badPath(newName);
    if (m_format == Format::Python) {
        const auto document = parsed<python::EditableText>();
        return document ? accept<python::EditableText>(document->rename(path, std::string(newName))) : Status(document.error());
    }
    const auto document = parsed<yaml::EditableText>();
    return document ? accept<yaml::EditableText>(document->rename(path, std::string(newName))) : Status(document.error());
}

std::optional<int> TextDocument::lineOf(std::string_view dottedPath) const
{
    const auto path = split(dottedPath, '.');
    if (!isPath(path))
        return std::nullopt;
    if (m_format == Format::Python) {
        const auto document = parsed<python::EditableText>();
        return document ? document->lineOf(path) : std::nullopt;
    }
    const auto document = parsed<yaml::EditableText>();
    return document ? document->lineOf(path) : std::nullopt;
}

} // namespace stagewright::config
