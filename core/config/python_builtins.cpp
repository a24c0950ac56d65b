#include "core/config/python_builtins.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text.h"
#include "core/config/value_text.h"

namespace stagewright::config::python {

namespace {

constexpr std::int64_t kMaxRange = 100'000;

using Arguments = std::vector<Argument>;
using Keywords = std::vector<std::pair<std::string, Argument>>;

struct Call {
    std::string_view name;
    const Arguments &arguments;
    const Keywords &keywords;
    Budget &budget;

    const Value &at(std::size_t i) const { return arguments[i].value; }
    std::size_t count() const { return arguments.size(); }
    // What a function that wants a plain value gets; iterators have no type of a config.
    const Value &plain(std::size_t i) const
    {
        if (arguments[i].iterator)
            throw Trouble{std::string(name) + "() does not take a range, zip or enumerate"};
        return at(i);
    }
    List items(std::size_t i) const { return arguments[i].iterator ? at(i).items() : iterated(at(i), budget); }
};

Argument plain(Value value) { return {std::move(value), false}; }

Argument absolute(const Call &call)
{
    const Value &value = call.plain(0);
    if (value.type() == Type::Float)
        return plain(std::fabs(value.number()));
    const std::int64_t number = asInteger(value, "abs()'s value");
    return plain(number < 0 ? unary('-', value) : Value(number));
}

Argument rounded(const Call &call)
{
    const Value &value = call.plain(0);
    const bool digitsGiven = call.count() > 1 && !call.at(1).isNone();
    std::int64_t digits = digitsGiven ? asInteger(call.at(1), "round()'s digits") : 0;
    if (value.type() != Type::Float) {
        const std::int64_t number = asInteger(value, "round()'s value");
        if (!digitsGiven || digits >= 0)
            return plain(number);
        if (digits < -18)
            return plain(0);
        std::int64_t unit = 1;
        for (std::int64_t i = 0; i < -digits; ++i)
            unit *= 10;
        std::int64_t rest = ((number % unit) + unit) % unit;
        std::int64_t down = number - rest, result = 0;
        const bool up = rest > unit - rest || (rest == unit - rest && (down / unit) % 2 != 0);
        if (__builtin_add_overflow(down, up ? unit : 0, &result))
            throw Trouble{"round()'s result is too large", "config.too-large"};
        return plain(result);
    }
    const double number = value.number();
    if (!digitsGiven) {
        if (!std::isfinite(number))
            throw Trouble{"inf and nan cannot be rounded to a whole number"};
        const double whole = std::nearbyint(number);
        if (std::fabs(whole) >= 9.2e18)
            throw Trouble{"round()'s result is too large", "config.too-large"};
        return plain(static_cast<std::int64_t>(whole));
    }
    if (!std::isfinite(number) || digits > 323)
        return plain(number);
    if (digits < -308)
        return plain(std::copysign(0.0, number));
    if (digits < 0) {
        const double unit = std::pow(10.0, static_cast<double>(-digits));
        return plain(std::nearbyint(number / unit) * unit);
    }
    std::string text(800, '\0');                     // correctly rounded decimal text, read back: as Python does it
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), number)));
    return plain(std::strtod(text.c_str(), nullptr));
}

Argument extreme(const Call &call)
{
    const List list = call.count() == 1 ? call.items(0) : List();
    std::vector<const Value *> candidates;
    if (call.count() == 1) {
        for (const Value &value : list)
            candidates.push_back(&value);
    } else {
        for (std::size_t i = 0; i < call.count(); ++i)
            candidates.push_back(&call.plain(i));
    }
    if (candidates.empty())
        throw Trouble{std::string(call.name) + "() of nothing"};
    const Value *best = candidates.front();
    for (const Value *candidate : candidates) {
        if (compare(*candidate, *best) == (call.name == "min" ? -1 : 1))
            best = candidate;
    }
    return plain(*best);
}

std::string withoutUnderscores(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = [&](std::size_t k) { return k < text.size() && text[k] >= '0' && text[k] <= '9'; };
        if (text[i] == '_' && i > 0 && digit(i - 1) && digit(i + 1))
            continue;
        out += text[i];
    }
    return out;
}

Argument toInteger(const Call &call)
{
    if (call.count() == 0)
        return plain(0);
    if (call.count() > 1)
        throw Trouble{"int() with a base needs real Python; write the number", "config.needs-python"};
    const Value &value = call.plain(0);
    if (value.type() == Type::Float) {
        if (!(std::fabs(value.number()) < 9.2e18))
            throw Trouble{"int() of " + described(value) + " is too large or no number", "config.too-large"};
        return plain(static_cast<std::int64_t>(value.number()));
    }
    if (value.type() == Type::String) {
        const std::string text = withoutUnderscores(trimmed(value.string()));
        std::int64_t number = 0;
        const char *begin = text.data() + (text.starts_with('+') && text.size() > 1 && text[1] != '-' ? 1 : 0);
        const auto result = std::from_chars(begin, text.data() + text.size(), number);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size())
            throw Trouble{"int() cannot read " + described(value)};
        return plain(number);
    }
    return plain(asInteger(value, "int()'s value"));
}

Argument toFloat(const Call &call)
{
    if (call.count() == 0)
        return plain(0.0);
    const Value &value = call.plain(0);
    if (value.type() == Type::String) {
        std::string text = lowered(withoutUnderscores(trimmed(value.string())));
        const bool negative = text.starts_with('-');
        if (negative || text.starts_with('+'))
            text.erase(0, 1);
        double number = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
        if (result.ec == std::errc::result_out_of_range)
            number = std::strtod(text.c_str(), nullptr);
        else if (result.ec != std::errc() || text.starts_with('-') || text.find('(') != std::string::npos)
            throw Trouble{"float() cannot read " + described(value)};
        if (result.ptr != text.data() + text.size())
            throw Trouble{"float() cannot read " + described(value)};
        return plain(negative ? -number : number);
    }
    if (value.type() == Type::Float)
        return plain(value.number());
    return plain(static_cast<double>(asInteger(value, "float()'s value")));
}

Argument sum(const Call &call)
{
    Value total = call.count() > 1 ? call.plain(1) : Value(0);
    if (total.type() == Type::String)
        throw Trouble{"sum() does not join texts"};
    for (const Value &value : call.items(0))
        total = binary('+', total, value, call.budget);
    return plain(std::move(total));
}

Argument sorted(const Call &call)
{
    bool reverse = false;
    for (const auto &[name, argument] : call.keywords) {
        if (name != "reverse")
            throw Trouble{"sorted(" + name + "=…) needs real Python", "config.needs-python"};
        reverse = truth(argument.value);
    }
    List items = call.items(0);
    for (std::size_t i = 1; i < items.size(); ++i) {
        if (compare(items[0], items[i]) == 2)
            throw Trouble{"nan cannot be sorted"};
    }
    // Comparisons of mixed types throw; insertion order of equals stays, reversed or not.
    std::stable_sort(items.begin(), items.end(), [&](const Value &a, const Value &b) { return reverse ? compare(b, a) == -1 : compare(a, b) == -1; });
    return plain(Value::list(std::move(items)));
}

Argument range(const Call &call)
{
    std::int64_t begin = 0, end = 0, step = 1;
    if (call.count() == 1) {
        end = asInteger(call.at(0), "range()'s end");
    } else {
        begin = asInteger(call.at(0), "range()'s begin");
        end = asInteger(call.at(1), "range()'s end");
        step = call.count() > 2 ? asInteger(call.at(2), "range()'s step") : 1;
    }
    if (step == 0)
        throw Trouble{"range()'s step is 0"};
    List items;
    for (std::int64_t i = begin; step > 0 ? i < end : i > end;) {
        if (static_cast<std::int64_t>(items.size()) >= kMaxRange)
            throw Trouble{"range() with more than " + std::to_string(kMaxRange) + " numbers", "config.too-large"};
        call.budget.takeValues(1);
        items.emplace_back(i);
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return {Value::list(std::move(items)), true};
}

Argument zip(const Call &call)
{
    std::vector<List> columns;
    std::size_t rows = call.count() ? std::size_t(-1) : 0;
    for (std::size_t i = 0; i < call.count(); ++i) {
        columns.push_back(call.items(i));
        rows = std::min(rows, columns.back().size());
    }
    List out;
    for (std::size_t row = 0; row < rows; ++row) {
        List items;
        for (const List &column : columns)
            items.push_back(column[row]);
        out.push_back(Value::tuple(std::move(items)));
        call.budget.takeTree(out.back());
    }
    return {Value::list(std::move(out)), true};
}

Argument enumerate(const Call &call)
{
    std::int64_t number = call.count() > 1 ? asInteger(call.at(1), "enumerate()'s start") : 0;
    List out;
    for (Value &value : call.items(0)) {
        call.budget.takeValues(2);
        List pair;
        pair.emplace_back(number++);
        pair.push_back(std::move(value));
        out.push_back(Value::tuple(std::move(pair)));
    }
    return {Value::list(std::move(out)), true};
}

Argument reversed(const Call &call)
{
    List items = call.items(0);
    std::reverse(items.begin(), items.end());
    return {Value::list(std::move(items)), true};
}

Argument anyOrAll(const Call &call)
{
    const List items = call.items(0);
    const bool any = call.name == "any";
    const bool found = std::any_of(items.begin(), items.end(), [&](const Value &value) { return truth(value) == any; });
    return plain(found == any);
}

Argument length(const Call &call)
{
    return plain(static_cast<std::int64_t>(python::length(call.at(0))));
}

Argument divmod(const Call &call)
{
    List pair{binary('F', call.plain(0), call.plain(1), call.budget), binary('%', call.plain(0), call.plain(1), call.budget)};
    return plain(Value::tuple(std::move(pair)));
}

struct Function {
    std::string_view name;
    std::size_t least, most;
    Argument (*run)(const Call &);
};

const Function kFunctions[] = {
    {"abs", 1, 1, absolute},
    {"all", 1, 1, anyOrAll},
    {"any", 1, 1, anyOrAll},
    {"bool", 0, 1, [](const Call &c) { return plain(c.count() ? truth(c.plain(0)) : false); }},
    {"divmod", 2, 2, divmod},
    {"enumerate", 1, 2, enumerate},
    {"float", 0, 1, toFloat},
    {"int", 0, 2, toInteger},
    {"len", 1, 1, length},
    {"list", 0, 1, [](const Call &c) { return plain(Value::list(c.count() ? c.items(0) : List())); }},
    {"max", 1, 1000, extreme},
    {"min", 1, 1000, extreme},
    {"pow", 2, 2, [](const Call &c) { return plain(binary('P', c.plain(0), c.plain(1), c.budget)); }},
    {"range", 1, 3, range},
    {"repr", 1, 1, [](const Call &c) { return plain(pythonRepr(c.plain(0))); }},
    {"reversed", 1, 1, reversed},
    {"round", 1, 2, rounded},
    {"sorted", 1, 1, sorted},
    {"str", 0, 1, [](const Call &c) { return plain(c.count() ? pythonStr(c.plain(0)) : std::string()); }},
    {"sum", 1, 2, sum},
    {"tuple", 0, 1, [](const Call &c) { return plain(Value::tuple(c.count() ? c.items(0) : List())); }},
    {"zip", 0, 100, zip},
};

} // namespace

bool isBuiltin(std::string_view name)
{
    return std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](const Function &function) { return function.name == name; });
}

Argument callBuiltin(std::string_view name, const Arguments &arguments, const Keywords &keywords, Budget &budget)
{
    const auto function = std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function &f) { return f.name == name; });
    if (function == std::end(kFunctions))
        throw Trouble{std::string(name) + "() needs real Python", "config.needs-python"};
    if (!keywords.empty() && name != "sorted")
        throw Trouble{std::string(name) + "(" + keywords.front().first + "=…) needs real Python", "config.needs-python"};
    if (arguments.size() < function->least || arguments.size() > function->most)
        throw Trouble{std::string(name) + "() does not take " + std::to_string(arguments.size()) + " values"};
    Argument result = function->run({name, arguments, keywords, budget});
    if (!result.iterator)
        budget.takeTree(result.value);
    return result;
}

List iterated(const Value &value, Budget &budget)
{
    List out;
    if (value.isSequence()) {
        budget.takeTree(value);
        return value.items();
    }
    if (value.isDict()) {
        for (const auto &[key, item] : value.dict()) {
            budget.takeValues(1);
            out.push_back(key.isInteger() ? Value(std::get<std::int64_t>(key.key)) : Value(key.text()));
        }
        return out;
    }
    if (value.type() == Type::String) {
        const std::string &text = value.string();
        budget.takeValues(text.size());
        for (std::size_t i = 0; i < text.size();) {
            std::size_t next = i + 1;
            while (next < text.size() && (text[next] & 0xC0) == 0x80)
                ++next;
            out.emplace_back(text.substr(i, next - i));
            i = next;
        }
        return out;
    }
    throw Trouble{described(value) + " holds no items"};
}

DictKey keyOf(const Value &value)
{
    if (value.type() == Type::String) {
        if (value.string().size() > kMaxKeyBytes)
            throw Trouble{"a key of more than " + std::to_string(kMaxKeyBytes) + " bytes", "config.too-large"};
        return DictKey(value.string());
    }
    if (value.type() == Type::Int)
        return DictKey(value.integer());
    throw Trouble{"a key of a dict must be a text or a whole number, not " + described(value)};
}

} // namespace stagewright::config::python
