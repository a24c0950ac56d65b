// One config file by itself: its own names and values, and which bases it names. Both formats give the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/python_evaluator.h"
#include "core/config/source_text.h"
#include "core/config/text_document.h"

namespace stagewright::config {

class ConfigFile
{
public:
    // Parses the text; the values come with evaluate(), once the bases are known.
    static Result<ConfigFile> parse(const std::string &text, const std::filesystem::path &file, Format format, OriginKind kind, python::Budget &budget);

    struct BaseReference {
        std::string path;                // as written
        int line = 0;
    };
    const std::vector<BaseReference> &bases() const { return m_bases; }
    const SourceText &source() const { return *m_source; }

    // base: what the bases resolve to. May be called once.
    Result<python::Evaluated> evaluate(Dict base, python::Budget &budget);

private:
    void readPython(python::Budget &budget);
    void readYaml(python::Budget &budget);
    void readBases(const Value &value, std::size_t offset);
    void putReferences(Value &value, const Dict &base, const std::string &path, python::Evaluated &out, python::Budget &budget) const;

    Format m_format = Format::Python;
    OriginKind m_kind = OriginKind::File;
    std::shared_ptr<const SourceText> m_source;
    std::shared_ptr<const std::string> m_name;
    python::Module m_module;                           // Python
    Dict m_yaml;                                       // YAML, `_base_` taken out, {{_base_.x}} still to be put in
    std::vector<std::string> m_references;             // what those stand for
    Problems m_problems;
    std::vector<BaseReference> m_bases;
};

} // namespace stagewright::config
