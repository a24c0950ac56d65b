#include "core/config/convert.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "core/base/files.h"
#include "core/config/base_chain.h"
#include "core/config/config_writer.h"

namespace stagewright::config {

namespace {

using std::filesystem::path;

bool isThere(const path &file)
{
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
}

// The same path with the extension of the other format; a base of that format keeps its own.
std::string counterpart(const std::string &base, const path &out)
{
    if (formatOf(base) == formatOf(out))
        return base;
    return path(base).replace_extension(out.extension()).string();
}

class Converter
{
public:
    explicit Converter(Bases bases) : m_bases(bases) {}

    Result<Conversion> run(const path &in, const path &out)
    {
        for (const path &file : {in, out}) {
            const std::string extension = file.extension().string();
            if (extension != ".py" && extension != ".yaml" && extension != ".yml")
                return Error(ExitCode::Usage, "config.convert", file.string() + ": convert works between .py and .yaml files");
        }
        if (auto status = one(in, out); !status)
            return status.error();
        return std::move(m_result);
    }

private:
    Status one(const path &in, const path &out)
    {
        if (!m_done.insert(out.lexically_normal().string()).second)
            return Done{};
        auto own = readOwnValues(in);
        if (!own)
            return own.error();
        const std::size_t place = m_result.files.size();
        m_result.files.push_back({out, {}});
        const bool keep = !own->bases.empty() && keepsBases(*own, in, out);
        auto text = keep || own->bases.empty() ? written(*own, in, out) : flattened(in, out);
        if (!text)
            return text.error();
        m_result.files[place].text = std::move(text.value());
        if (!keep || m_bases != Bases::ConvertToo)
            return Done{};
        for (const std::string &base : own->bases) {
            const path from = (in.parent_path() / base).lexically_normal(), to = (out.parent_path() / counterpart(base, out)).lexically_normal();
            if (from == to)
                continue;
            if (auto status = one(from, to); !status)
                return status;
        }
        return Done{};
    }

    bool keepsBases(const OwnValues &own, const path &in, const path &out)
    {
        if (m_bases == Bases::Flatten)
            return false;
        if (own.changesBase) {
            m_result.notes.push_back(in.string() + " changes values of its base through `_base_`, so everything is written into " + out.string());
            return false;
        }
        for (const std::string &base : own.bases) {
            if (path(base).is_absolute() && formatOf(base) != formatOf(out) && m_bases == Bases::ConvertToo)
                return false;
            if (m_bases == Bases::KeepIfConverted && !isThere(out.parent_path() / counterpart(base, out))) {
                m_result.notes.push_back("its base " + base + " is not converted (there is no " + (out.parent_path() / counterpart(base, out)).lexically_normal().string()
                    + "), so the base's values are written into " + out.string());
                return false;
            }
        }
        return true;
    }

    Result<std::string> written(const OwnValues &own, const path &in, const path &out)
    {
        auto content = readFile(in);
        if (!content)
            return content.error();
        if (formatOf(in) == formatOf(out) && in.parent_path() == out.parent_path())
            return std::move(content.value());
        ConfigWriter writer(formatOf(out));
        auto comments = CommentMap::make(*content, in, formatOf(in));
        if (!comments)
            return comments.error();
        writer.addComments(in.string(), std::move(comments.value()));
        if (!own.bases.empty()) {
            std::vector<std::string> bases;
            for (const std::string &base : own.bases)
                bases.push_back(counterpart(base, out));
            writer.writeBase(bases, in.string());
        }
        if (auto status = writer.write(own.values); !status)
            return status.error();
        std::string text = writer.finish();
        auto again = readOwnValues(text, out, formatOf(out), own.base);
        return checked(std::move(text), again ? Result<Dict>(std::move(again->values)) : Result<Dict>(again.error()), own.values, in, out);
    }

    Result<std::string> flattened(const path &in, const path &out)
    {
        auto loaded = loadDocument(in);
        if (!loaded)
            return loaded.error();
        ConfigWriter writer(formatOf(out));
        std::string from;
        for (const path &file : loaded->baseChain) {
            auto content = readFile(file);
            if (!content)
                return content.error();
            auto comments = CommentMap::make(*content, file, formatOf(file));
            if (!comments)
                return comments.error();
            writer.addComments(file.string(), std::move(comments.value()));
            from += (from.empty() ? "" : ", ") + file.filename().string();
        }
        if (auto status = writer.write(loaded->values); !status)
            return status.error();
        if (m_bases == Bases::Flatten)
            m_result.notes.push_back(out.string() + " holds the values of " + from);
        std::string text = "# Made of " + from + ", laid over each other.\n" + writer.finish();
        auto again = loadDocumentText(text, out);
        return checked(std::move(text), again ? Result<Dict>(std::move(again->values)) : Result<Dict>(again.error()), loaded->values, in, out);
    }

    // A conversion that would change a value is an error and never a file. Texts with {{ fileExtname }} and the like may differ.
    static Result<std::string> checked(std::string text, const Result<Dict> &again, const Dict &values, const path &in, const path &out)
    {
        if (!again)
            return again.error().during("writing " + in.string() + " as " + out.string());
        for (const auto &[key, value] : values) {
            const Value *read = again->find(key);
            if (!read || (!(*read == value) && text.find("{{") == std::string::npos && toPython(*read) != toPython(value)))
                return Error(ExitCode::Other, "config.convert", in.string() + ": `" + key.text() + "` cannot be written as " + out.extension().string() + " without a change",
                    in.string(), value.origin.line);
        }
        return text;
    }

    Bases m_bases;
    Conversion m_result;
    std::set<std::string> m_done;
};

} // namespace

Result<Conversion> convert(const path &in, const path &out, Bases bases)
{
    return Converter(bases).run(in, out);
}

} // namespace stagewright::config
