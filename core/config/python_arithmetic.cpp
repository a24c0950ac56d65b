#include "core/config/python_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/config/python_format.h"
#include "core/config/value_text.h"

namespace stagewright::config::python {

namespace {

constexpr std::size_t kMaxRepeated = 100'000;       // items of one repeated sequence
constexpr std::size_t kMaxString = 1u << 20;

bool isIntegral(const Value &v) { return v.type() == Type::Int || v.type() == Type::Bool; }
bool isNumeric(const Value &v) { return isIntegral(v) || v.type() == Type::Float; }
std::int64_t integral(const Value &v) { return v.type() == Type::Bool ? v.boolean() : v.integer(); }
double numeric(const Value &v) { return isIntegral(v) ? static_cast<double>(integral(v)) : v.number(); }

const char *signOf(char op)
{
    switch (op) {
    case 'P': return "**";
    case 'F': return "//";
    case 'L': return "<<";
    case 'R': return ">>";
    case '+': return "+";
    case '-': return "-";
    case '*': return "*";
    case '/': return "/";
    case '%': return "%";
    case '&': return "&";
    case '|': return "|";
    default: return "^";
    }
}

[[noreturn]] void tooLarge(char op)
{
    throw Trouble{std::string("the result of '") + signOf(op) + "' is too large; whole numbers go up to 9223372036854775807", "config.too-large"};
}

[[noreturn]] void unsupported(char op, const Value &a, const Value &b)
{
    throw Trouble{std::string("'") + signOf(op) + "' does not work between " + described(a) + " and " + described(b)};
}

std::int64_t power(std::int64_t base, std::int64_t exponent)
{
    if (base == 0 || base == 1 || exponent == 0)
        return exponent == 0 ? 1 : base;
    if (base == -1)
        return exponent % 2 ? -1 : 1;
    if (exponent > 64)
        tooLarge('P');
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) {
        if (__builtin_mul_overflow(result, base, &result))
            tooLarge('P');
    }
    return result;
}

Value integers(char op, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    switch (op) {
    case '+':
        if (__builtin_add_overflow(a, b, &result))
            tooLarge(op);
        return result;
    case '-':
        if (__builtin_sub_overflow(a, b, &result))
            tooLarge(op);
        return result;
    case '*':
        if (__builtin_mul_overflow(a, b, &result))
            tooLarge(op);
        return result;
    case '/': return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
    case 'F':
    case '%': {
        if (b == -1) {
            if (op == '%')
                return std::int64_t(0);
            if (a == std::numeric_limits<std::int64_t>::min())
                tooLarge(op);
            return -a;
        }
        std::int64_t quotient = a / b, rest = a % b;
        if (rest != 0 && (rest < 0) != (b < 0)) {        // Python rounds towards minus infinity
            --quotient;
            rest += b;
        }
        return op == 'F' ? quotient : rest;
    }
    case 'P': return power(a, b);
    case 'L':
        if (b < 0)
            throw Trouble{"a shift by a negative number"};
        if (a == 0)
            return std::int64_t(0);
        if (b > 62 || __builtin_mul_overflow(a, std::int64_t(1) << b, &result))
            tooLarge(op);
        return result;
    case 'R':
        if (b < 0)
            throw Trouble{"a shift by a negative number"};
        return a >> std::min<std::int64_t>(b, 63);
    case '&': return a & b;
    case '|': return a | b;
    default: return a ^ b;
    }
}

Value floats(char op, double a, double b)
{
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    case 'F':
    case '%': {
        double rest = std::fmod(a, b);
        double quotient = (a - rest) / b;
        if (rest != 0 && (rest < 0) != (b < 0)) {
            rest += b;
            quotient -= 1;
        }
        if (rest == 0)
            rest = std::copysign(0.0, b);
        if (op == '%')
            return rest;
        if (quotient == 0)
            return std::copysign(0.0, a / b);
        const double whole = std::floor(quotient);
        return quotient - whole > 0.5 ? whole + 1 : whole;
    }
    default: {
        if (a == 0 && b < 0)
            throw Trouble{"division by zero (0.0 to a negative power)"};
        if (a < 0 && std::isfinite(b) && b != std::floor(b))
            throw Trouble{"a negative number to a broken power is complex, which is no config value"};
        const double result = std::pow(a, b);
        if (std::isinf(result) && std::isfinite(a) && std::isfinite(b))
            throw Trouble{"the result of '**' is too large for a float", "config.too-large"};
        return result;
    }
    }
}

Value numbers(char op, const Value &a, const Value &b)
{
    const bool bits = op == 'L' || op == 'R' || op == '&' || op == '|' || op == '^';
    if ((op == '/' || op == 'F' || op == '%') && numeric(b) == 0)
        throw Trouble{"division by zero"};
    if (isIntegral(a) && isIntegral(b)) {
        if (a.type() == Type::Bool && b.type() == Type::Bool && (op == '&' || op == '|' || op == '^'))
            return op == '&' ? a.boolean() && b.boolean() : op == '|' ? a.boolean() || b.boolean() : a.boolean() != b.boolean();
        if (op == 'P' && integral(b) < 0)
            return floats(op, numeric(a), numeric(b));
        return integers(op, integral(a), integral(b));
    }
    if (bits)
        unsupported(op, a, b);
    return floats(op, numeric(a), numeric(b));
}

Value repeated(const Value &sequence, std::int64_t times, Budget &budget)
{
    times = std::max<std::int64_t>(times, 0);
    if (sequence.type() == Type::String) {
        const std::string &text = sequence.string();
        if (!text.empty() && static_cast<std::uint64_t>(times) > kMaxString / text.size())
            throw Trouble{"the repeated text would be too long", "config.too-large"};
        budget.takeBytes(text.size() * static_cast<std::size_t>(times));
        std::string out;
        for (std::int64_t i = 0; i < times && !text.empty(); ++i)
            out += text;
        return out;
    }
    const List &items = sequence.items();
    if (!items.empty() && static_cast<std::uint64_t>(times) > kMaxRepeated / items.size())
        throw Trouble{"the repeated list would have more than " + std::to_string(kMaxRepeated) + " items", "config.too-large"};
    List out;
    if (!items.empty())
        out.reserve(items.size() * static_cast<std::size_t>(times));
    for (std::int64_t i = 0; i < times && !items.empty(); ++i) {
        budget.takeTree(sequence);
        out.insert(out.end(), items.begin(), items.end());
    }
    return sequence.type() == Type::List ? Value::list(std::move(out)) : Value::tuple(std::move(out));
}

Value joinedSequences(const Value &a, const Value &b, Budget &budget)
{
    budget.takeTree(a);
    budget.takeTree(b);
    List out = a.items();
    out.insert(out.end(), b.items().begin(), b.items().end());
    return a.type() == Type::List ? Value::list(std::move(out)) : Value::tuple(std::move(out));
}

int compareNumbers(const Value &a, const Value &b)
{
    if (isIntegral(a) && isIntegral(b))
        return integral(a) < integral(b) ? -1 : integral(a) > integral(b);
    // 64 bits of mantissa hold both an int64 and a double exactly.
    const long double x = isIntegral(a) ? static_cast<long double>(integral(a)) : static_cast<long double>(a.number());
    const long double y = isIntegral(b) ? static_cast<long double>(integral(b)) : static_cast<long double>(b.number());
    if (std::isnan(x) || std::isnan(y))
        return 2;
    return x < y ? -1 : x > y;
}

std::size_t characters(const std::string &text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Byte offsets of all characters, and the end.
std::vector<std::size_t> characterStarts(const std::string &text)
{
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] & 0xC0) != 0x80)
            starts.push_back(i);
    }
    starts.push_back(text.size());
    return starts;
}

} // namespace

void Budget::takeValues(std::size_t count)
{
    if (count > values)
        throw Trouble{"the config grows beyond 400000 values here", "config.too-large"};
    values -= count;
}

void Budget::takeBytes(std::size_t count)
{
    if (count > bytes)
        throw Trouble{"the texts of the config grow beyond 32 MiB here", "config.too-large"};
    bytes -= count;
}

void Budget::takeTree(const Value &value, int depth)
{
    if (depth > 90)
        throw Trouble{"more than 90 lists or dicts inside each other", "config.too-large"};
    takeValues(1);
    takeBytes(value.spelling.size());
    if (value.type() == Type::String) {
        takeBytes(value.string().size());
    } else if (value.isSequence()) {
        for (const Value &item : value.items())
            takeTree(item, depth + 1);
    } else if (value.isDict()) {
        for (const auto &[key, item] : value.dict())
            takeTree(item, depth + 1);
    }
}

std::string described(const Value &value)
{
    if (value.isNone())
        return "None";
    if (value.isSequence() || value.isDict())
        return std::string("a ") + typeName(value.type());
    std::string text = toPython(value);
    if (text.size() > 40)
        return std::string("a ") + typeName(value.type());
    return std::string("the ") + typeName(value.type()) + " " + text;
}

bool truth(const Value &value)
{
    switch (value.type()) {
    case Type::None: return false;
    case Type::Bool: return value.boolean();
    case Type::Int: return value.integer() != 0;
    case Type::Float: return value.number() != 0;
    case Type::String: return !value.string().empty();
    case Type::List:
    case Type::Tuple: return !value.items().empty();
    case Type::Dict: return !value.dict().empty();
    }
    return false;
}

bool equal(const Value &a, const Value &b)
{
    if (isNumeric(a) && isNumeric(b))
        return compareNumbers(a, b) == 0;
    if (a.type() != b.type())
        return false;
    if (a.isSequence())
        return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), [](const Value &x, const Value &y) { return equal(x, y); });
    if (a.isDict()) {
        if (a.dict().size() != b.dict().size())
            return false;
        return std::all_of(a.dict().begin(), a.dict().end(), [&](const Dict::Entry &entry) {
            const Value *other = b.dict().find(entry.first);
            return other && equal(entry.second, *other);
        });
    }
    return a == b;
}

int compare(const Value &a, const Value &b)
{
    if (isNumeric(a) && isNumeric(b))
        return compareNumbers(a, b);
    if (a.type() == Type::String && b.type() == Type::String)
        return a.string() < b.string() ? -1 : a.string() > b.string();
    if (a.isSequence() && a.type() == b.type()) {
        for (std::size_t i = 0; i < std::min(a.items().size(), b.items().size()); ++i) {
            if (!equal(a.items()[i], b.items()[i]))
                return compare(a.items()[i], b.items()[i]);
        }
        return a.items().size() < b.items().size() ? -1 : a.items().size() > b.items().size();
    }
    throw Trouble{described(a) + " and " + described(b) + " have no order"};
}

Value binary(char op, const Value &a, const Value &b, Budget &budget)
{
    if (isNumeric(a) && isNumeric(b))
        return numbers(op, a, b);
    if (op == '+' && a.type() == Type::String && b.type() == Type::String) {
        budget.takeBytes(a.string().size() + b.string().size());
        if (a.string().size() + b.string().size() > kMaxString)
            throw Trouble{"the joined text would be too long", "config.too-large"};
        return a.string() + b.string();
    }
    if (op == '+' && a.isSequence() && a.type() == b.type())
        return joinedSequences(a, b, budget);
    if (op == '*' && (a.isSequence() || a.type() == Type::String) && isIntegral(b))
        return repeated(a, integral(b), budget);
    if (op == '*' && (b.isSequence() || b.type() == Type::String) && isIntegral(a))
        return repeated(b, integral(a), budget);
    if (op == '%' && a.type() == Type::String)
        return percentFormat(a.string(), b, budget);
    if (op == '|' && a.isDict() && b.isDict()) {
        budget.takeTree(a);
        budget.takeTree(b);
        Dict out = a.dict();
        for (const auto &[key, item] : b.dict())
            out.set(key, item);
        return Value::dict(std::move(out));
    }
    unsupported(op, a, b);
}

Value unary(char op, const Value &a)
{
    if (op == '!')
        return !truth(a);
    if (isIntegral(a)) {
        const std::int64_t value = integral(a);
        if (op == '-' && value == std::numeric_limits<std::int64_t>::min())
            tooLarge('-');
        return op == '-' ? -value : op == '~' ? ~value : value;
    }
    if (a.type() == Type::Float && op != '~')
        return op == '-' ? -a.number() : a.number();
    throw Trouble{std::string("'") + op + "' does not work on " + described(a)};
}

bool contains(const Value &container, const Value &item)
{
    if (container.type() == Type::String) {
        if (item.type() != Type::String)
            throw Trouble{described(item) + " cannot be looked for in a text"};
        return container.string().find(item.string()) != std::string::npos;
    }
    if (container.isSequence())
        return std::any_of(container.items().begin(), container.items().end(), [&](const Value &value) { return equal(value, item); });
    if (container.isDict()) {
        if (item.type() == Type::String)
            return container.dict().find(DictKey(item.string())) != nullptr;
        return isIntegral(item) && container.dict().find(DictKey(integral(item))) != nullptr;
    }
    throw Trouble{"nothing can be looked for in " + described(container)};
}

std::size_t length(const Value &value)
{
    if (value.type() == Type::String)
        return characters(value.string());
    if (value.isSequence())
        return value.items().size();
    if (value.isDict())
        return value.dict().size();
    throw Trouble{described(value) + " has no length"};
}

std::int64_t asInteger(const Value &value, const char *what)
{
    if (!isIntegral(value))
        throw Trouble{std::string(what) + " must be a whole number, not " + described(value)};
    return integral(value);
}

Value itemAt(const Value &container, const Value &index)
{
    if (!container.isSequence() && container.type() != Type::String)
        throw Trouble{described(container) + " has no items"};
    const std::int64_t count = static_cast<std::int64_t>(length(container));
    std::int64_t at = asInteger(index, "an index");
    if (at < 0)
        at += count;
    if (at < 0 || at >= count)
        throw Trouble{"index " + std::to_string(asInteger(index, "an index")) + " is outside the " + std::to_string(count) + " items of " + described(container)};
    if (container.isSequence())
        return container.items()[static_cast<std::size_t>(at)];
    const auto starts = characterStarts(container.string());
    return container.string().substr(starts[static_cast<std::size_t>(at)], starts[static_cast<std::size_t>(at) + 1] - starts[static_cast<std::size_t>(at)]);
}

Value slice(const Value &sequence, const Value &begin, const Value &end, const Value &stepValue, Budget &budget)
{
    if (!sequence.isSequence() && sequence.type() != Type::String)
        throw Trouble{described(sequence) + " cannot be sliced"};
    const std::int64_t count = static_cast<std::int64_t>(length(sequence));
    const std::int64_t step = stepValue.isNone() ? 1 : asInteger(stepValue, "a slice's step");
    if (step == 0)
        throw Trouble{"a slice's step is 0"};
    const auto bound = [&](const Value &value, std::int64_t fallback) {
        if (value.isNone())
            return fallback;
        const std::int64_t at = asInteger(value, "a slice's bound");
        if (step > 0)
            return at < 0 ? std::max<std::int64_t>(at + count, 0) : std::min(at, count);
        return at < 0 ? std::max<std::int64_t>(at + count, -1) : std::min(at, count - 1);
    };
    const std::int64_t from = bound(begin, step > 0 ? 0 : count - 1);
    const std::int64_t to = bound(end, step > 0 ? count : -1);
    std::vector<std::size_t> picked;
    for (std::int64_t i = from; step > 0 ? i < to : i > to;) {
        picked.push_back(static_cast<std::size_t>(i));
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    if (sequence.type() == Type::String) {
        const auto starts = characterStarts(sequence.string());
        std::string out;
        for (std::size_t i : picked)
            out += sequence.string().substr(starts[i], starts[i + 1] - starts[i]);
        budget.takeBytes(out.size());
        return out;
    }
    List out;
    for (std::size_t i : picked) {
        budget.takeTree(sequence.items()[i]);
        out.push_back(sequence.items()[i]);
    }
    return sequence.type() == Type::List ? Value::list(std::move(out)) : Value::tuple(std::move(out));
}

} // namespace stagewright::config::python
