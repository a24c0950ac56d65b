// What a person types into a field or after a flag.
#include "core/base/text.h"
#include "core/config/python_evaluator.h"
#include "core/config/python_parser.h"
#include "core/config/text_document.h"

namespace stagewright::config {

Result<Value> parseLiteral(std::string_view text)
{
    const std::string trimmedText(trimmed(text));
    const std::string shown = trimmedText.size() > 60 ? "the value" : "'" + trimmedText + "'";
    const auto failed = [&](const std::string &code, const std::string &why) { return Error(ExitCode::Usage, code, shown + ": " + why); };
    if (trimmedText.empty())
        return Error(ExitCode::Usage, "config.syntax", "no value was given");
    auto source = SourceText::make(trimmedText, {}, SourceText::Substitute::Nothing);
    if (!source)
        return failed(source.error().problem.code, "it is no UTF-8 text, or it is too long");
    try {
        python::Budget budget;
        const python::Node node = python::parseExpression(source->text());
        Value value = python::evaluateAlone(node, *source, budget);
        value.origin = {};
        return value;
    } catch (const Refusal &refusal) {
        return failed(refusal.code, refusal.message);
    } catch (const python::Trouble &trouble) {
        return failed(trouble.code, trouble.message);
    }
}

} // namespace stagewright::config
