#include "core/config/merge.h"

#include <filesystem>

#include "core/config/python_arithmetic.h"

namespace stagewright::config {

namespace {

const DictKey kDelete("_delete_");

std::string placeOf(const Origin &origin)
{
    return origin.file ? *origin.file + ":" + std::to_string(origin.line) : std::string("the text");
}

Value stub(const Value &value)
{
    Value out = value.isDict() ? Value::dict({}) : value.isSequence() ? Value::list({}) : value;
    if (value.type() == Type::Tuple)
        out = Value::tuple({});
    out.origin = value.origin;
    return out;
}

void merge(Dict &base, Dict child, const std::string &path, Problems &problems)
{
    for (auto &[key, value] : child) {
        const std::string here = path + (path.empty() ? "" : ".") + key.text();
        Value *old = base.find(key);
        if (!old || !value.isDict()) {
            if (old && old->isDict() && !value.isNone()) {
                Problem problem;
                problem.severity = Severity::Warning;
                problem.code = "config.type-change";
                problem.path = here;
                problem.file = value.origin.fileName();
                problem.line = value.origin.line;
                problem.column = value.origin.column;
                problem.message = placeOf(value.origin) + ": `" + here + "` is a " + typeName(value.type()) + " here, but a dict in " + placeOf(old->origin)
                    + "; the whole dict is replaced";
                problems.push_back(std::move(problem));
            }
            base.set(key, std::move(value));
            continue;
        }
        const Value *mark = value.dict().find(kDelete);
        const bool replace = mark && python::truth(*mark);
        if (mark)
            value.dict().remove(kDelete);
        if (replace) {
            *old = std::move(value);
        } else if (!old->isDict()) {
            throw TypeClash{here, stub(*old), stub(value)};
        } else {
            old->origin = value.origin;
            merge(old->dict(), std::move(value.dict()), here, problems);
        }
    }
}

void warnOfStray(const std::string &path, const Value &value, bool dropped, Problems &problems)
{
    Problem problem;
    problem.severity = Severity::Warning;
    problem.code = "config.stray-delete";
    problem.path = path;
    problem.file = value.origin.fileName();
    problem.line = value.origin.line;
    problem.column = value.origin.column;
    problem.message = placeOf(value.origin) + ": `_delete_` has nothing to replace here, since no base has this dict"
        + (dropped ? "; it is left out and not taken for a resolution" : " (it stays a plain key, as in the original)") + "; remove it";
    problem.fix = Fix{"Remove _delete_", {Edit{path, toPython(value), std::nullopt}}};
    if (problems.size() < 1000)
        problems.push_back(std::move(problem));
}

void visit(Dict &dict, const std::string &path, bool inTable, Problems &problems)
{
    if (const Value *mark = dict.find(kDelete); mark && !path.empty()) {
        warnOfStray(path + "._delete_", *mark, inTable, problems);
        if (inTable)
            dict.remove(kDelete);
    }
    for (auto &[key, value] : dict) {
        if (value.isDict())
            visit(value.dict(), path + (path.empty() ? "" : ".") + key.text(), inTable || (path.empty() && key.text() == "bucket_config"), problems);
    }
}

} // namespace

void mergeOver(Dict &base, Dict child, Problems &problems)
{
    merge(base, std::move(child), {}, problems);
}

void dropStrayDeletes(Dict &values, Problems &problems)
{
    visit(values, {}, false, problems);
}

} // namespace stagewright::config
