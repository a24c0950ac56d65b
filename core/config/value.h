// The value tree of a config: what Python literals can be, in their order, each knowing where it was written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace stagewright::config {

// Which layer of the configuration set a value, lowest first; a later layer wins.
enum class OriginKind { Default, Base, File, Preset, Override, Edit };
const char *originKindName(OriginKind kind);           // "default", "base", "file", "preset", "override", "edit"

struct Origin {
    OriginKind kind = OriginKind::Default;
    std::shared_ptr<const std::string> file;           // path as opened; null where there is none
    int line = 0;                                      // 1-based, 0 unknown
    int column = 0;
    std::string fileName() const { return file ? *file : std::string(); }
};

class Value;
struct DictKey;                                        // a string or an integer (bucket tables have frame counts as keys)

using List = std::vector<Value>;
struct Tuple;
class Dict;

enum class Type { None, Bool, Int, Float, String, List, Tuple, Dict };
const char *typeName(Type type);                       // as Python says it: "None", "bool", "int", "float", "str", "list", "tuple", "dict"

class Value
{
public:
    Value();                                           // None
    Value(bool value);
    Value(int value);
    Value(std::int64_t value);
    Value(double value);
    Value(const char *value);
    Value(std::string value);
    static Value list(List items);
    static Value tuple(List items);
    static Value dict(Dict items);
    ~Value();
    Value(const Value &);
    Value(Value &&) noexcept;
    Value &operator=(const Value &);
    Value &operator=(Value &&) noexcept;

    Type type() const { return m_type; }
    bool isNone() const { return m_type == Type::None; }
    bool isNumber() const { return m_type == Type::Int || m_type == Type::Float; }
    bool isSequence() const { return m_type == Type::List || m_type == Type::Tuple; }
    bool isDict() const { return m_type == Type::Dict; }

    // Each asserts the type it names; number() takes Int and Float, items() takes List and Tuple.
    bool boolean() const;
    std::int64_t integer() const;
    double number() const;
    const std::string &string() const;
    const List &items() const;
    List &items();
    const Dict &dict() const;
    Dict &dict();

    Origin origin;                                     // not part of equality
    std::string spelling;                              // the expression as written ("25 * 1024**3"), empty where it is the plain repr

    bool operator==(const Value &other) const;         // type and content; 1, 1.0 and True differ

private:
    Type m_type = Type::None;
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::shared_ptr<List>, std::shared_ptr<Dict>> m_data;
    // Copies are deep: the shared_ptrs are never shared between two Values.
};

struct DictKey {
    std::variant<std::string, std::int64_t> key;
    DictKey(const char *text) : key(std::string(text)) {}
    DictKey(std::string text) : key(std::move(text)) {}
    DictKey(std::int64_t number) : key(number) {}
    bool isInteger() const { return key.index() == 1; }
    std::string text() const;                          // the string, or the number's digits
    bool operator==(const DictKey &) const = default;
};

// Keeps insertion order; assigning to a key that exists keeps its place, as Python's dict does.
class Dict
{
public:
    using Entry = std::pair<DictKey, Value>;
    const Value *find(const DictKey &key) const;
    Value *find(const DictKey &key);
    Value &set(const DictKey &key, Value value);
    bool remove(const DictKey &key);
    bool empty() const { return m_entries.empty(); }
    std::size_t size() const { return m_entries.size(); }
    auto begin() const { return m_entries.begin(); }
    auto end() const { return m_entries.end(); }
    auto begin() { return m_entries.begin(); }
    auto end() { return m_entries.end(); }
    bool operator==(const Dict &other) const;          // same keys and values, order ignored (as Python)

private:
    std::vector<Entry> m_entries;                      // linear search up to a few dozen keys, an index beyond (see value.cpp)
    std::shared_ptr<void> m_index;
};

// "model.grad_ckpt_settings" → the value there, or null. A part of digits also matches an integer key ("bucket_config.256px.129").
const Value *lookUp(const Dict &root, std::string_view dottedPath);
Value *lookUp(Dict &root, std::string_view dottedPath);

std::string toPython(const Value &value);              // repr: "(8, 100)", "5e-05", "'a'"; reads back to an equal value
nlohmann::json toJson(const Value &value);             // as the original's config.txt: integer keys become strings, tuples lists

} // namespace stagewright::config
