#include "core/config/value.h"

#include <cassert>
#include <charconv>
#include <functional>
#include <unordered_map>

namespace stagewright::config {

namespace {

struct KeyHash {
    std::size_t operator()(const DictKey &key) const
    {
        return key.isInteger() ? std::hash<std::int64_t>()(std::get<1>(key.key)) : std::hash<std::string>()(std::get<0>(key.key));
    }
};
using Index = std::unordered_map<DictKey, std::size_t, KeyHash>;

constexpr std::size_t kIndexFrom = 24;     // below this a linear search is faster than hashing

} // namespace

const char *originKindName(OriginKind kind)
{
    switch (kind) {
    case OriginKind::Default: return "default";
    case OriginKind::Base: return "base";
    case OriginKind::File: return "file";
    case OriginKind::Preset: return "preset";
    case OriginKind::Override: return "override";
    case OriginKind::Edit: return "edit";
    }
    return "default";
}

const char *typeName(Type type)
{
    switch (type) {
    case Type::None: return "None";
    case Type::Bool: return "bool";
    case Type::Int: return "int";
    case Type::Float: return "float";
    case Type::String: return "str";
    case Type::List: return "list";
    case Type::Tuple: return "tuple";
    case Type::Dict: return "dict";
    }
    return "None";
}

Value::Value() = default;
Value::Value(bool value) : m_type(Type::Bool), m_data(value) {}
Value::Value(int value) : m_type(Type::Int), m_data(std::int64_t(value)) {}
Value::Value(std::int64_t value) : m_type(Type::Int), m_data(value) {}
Value::Value(double value) : m_type(Type::Float), m_data(value) {}
Value::Value(const char *value) : m_type(Type::String), m_data(std::string(value)) {}
Value::Value(std::string value) : m_type(Type::String), m_data(std::move(value)) {}

Value Value::list(List items)
{
    Value value;
    value.m_type = Type::List;
    value.m_data = std::make_shared<List>(std::move(items));
    return value;
}

Value Value::tuple(List items)
{
    Value value = list(std::move(items));
    value.m_type = Type::Tuple;
    return value;
}

Value Value::dict(Dict items)
{
    Value value;
    value.m_type = Type::Dict;
    value.m_data = std::make_shared<Dict>(std::move(items));
    return value;
}

Value::~Value() = default;
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(Value &&) noexcept = default;

Value::Value(const Value &other) : origin(other.origin), spelling(other.spelling), m_type(other.m_type), m_data(other.m_data)
{
    if (auto *items = std::get_if<std::shared_ptr<List>>(&m_data); items && *items)
        *items = std::make_shared<List>(**items);
    else if (auto *dict = std::get_if<std::shared_ptr<Dict>>(&m_data); dict && *dict)
        *dict = std::make_shared<Dict>(**dict);
}

Value &Value::operator=(const Value &other)
{
    if (this != &other)
        *this = Value(other);
    return *this;
}

bool Value::boolean() const
{
    assert(m_type == Type::Bool);
    return std::get<bool>(m_data);
}

std::int64_t Value::integer() const
{
    assert(m_type == Type::Int);
    return std::get<std::int64_t>(m_data);
}

double Value::number() const
{
    assert(isNumber());
    return m_type == Type::Int ? static_cast<double>(std::get<std::int64_t>(m_data)) : std::get<double>(m_data);
}

const std::string &Value::string() const
{
    assert(m_type == Type::String);
    return std::get<std::string>(m_data);
}

const List &Value::items() const
{
    assert(isSequence());
    return *std::get<std::shared_ptr<List>>(m_data);
}

List &Value::items()
{
    assert(isSequence());
    return *std::get<std::shared_ptr<List>>(m_data);
}

const Dict &Value::dict() const
{
    assert(isDict());
    return *std::get<std::shared_ptr<Dict>>(m_data);
}

Dict &Value::dict()
{
    assert(isDict());
    return *std::get<std::shared_ptr<Dict>>(m_data);
}

bool Value::operator==(const Value &other) const
{
    if (m_type != other.m_type)
        return false;
    switch (m_type) {
    case Type::List:
    case Type::Tuple: return items() == other.items();
    case Type::Dict: return dict() == other.dict();
    default: return m_data == other.m_data;
    }
}

std::string DictKey::text() const
{
    return isInteger() ? std::to_string(std::get<1>(key)) : std::get<0>(key);
}

// The index exists from kIndexFrom entries on and then always names every entry's place. Copies of a Dict share it until one of them
// changes: only the sole owner of an index writes to it.
const Value *Dict::find(const DictKey &key) const
{
    if (const auto *index = static_cast<const Index *>(m_index.get())) {
        const auto found = index->find(key);
        return found == index->end() ? nullptr : &m_entries[found->second].second;
    }
    for (const Entry &entry : m_entries) {
        if (entry.first == key)
            return &entry.second;
    }
    return nullptr;
}

Value *Dict::find(const DictKey &key)
{
    return const_cast<Value *>(std::as_const(*this).find(key));
}

Value &Dict::set(const DictKey &key, Value value)
{
    if (Value *old = find(key))
        return *old = std::move(value);
    m_entries.emplace_back(key, std::move(value));
    if (m_entries.size() >= kIndexFrom) {
        if (!m_index || m_index.use_count() > 1) {
            auto fresh = std::make_shared<Index>();
            fresh->reserve(2 * m_entries.size());
            for (std::size_t i = 0; i < m_entries.size(); ++i)
                fresh->emplace(m_entries[i].first, i);
            m_index = fresh;
        } else {
            static_cast<Index *>(m_index.get())->emplace(key, m_entries.size() - 1);
        }
    }
    return m_entries.back().second;
}

bool Dict::remove(const DictKey &key)
{
    const Value *value = find(key);
    if (!value)
        return false;
    for (auto entry = m_entries.begin(); entry != m_entries.end(); ++entry) {
        if (&entry->second == value) {
            m_entries.erase(entry);
            break;
        }
    }
    m_index.reset();
    if (m_entries.size() >= kIndexFrom) {
        auto fresh = std::make_shared<Index>();
        for (std::size_t i = 0; i < m_entries.size(); ++i)
            fresh->emplace(m_entries[i].first, i);
        m_index = fresh;
    }
    return true;
}

bool Dict::operator==(const Dict &other) const
{
    if (size() != other.size())
        return false;
    for (const Entry &entry : m_entries) {
        const Value *theirs = other.find(entry.first);
        if (!theirs || !(*theirs == entry.second))
            return false;
    }
    return true;
}

const Value *lookUp(const Dict &root, std::string_view dottedPath)
{
    const Dict *dict = &root;
    while (true) {
        const std::size_t dot = dottedPath.find('.');
        const std::string_view part = dottedPath.substr(0, dot);
        const Value *value = dict->find(DictKey(std::string(part)));
        std::int64_t number = 0;
        if (!value && std::from_chars(part.data(), part.data() + part.size(), number).ptr == part.data() + part.size() && !part.empty())
            value = dict->find(DictKey(number));
        if (!value || dot == std::string_view::npos)
            return value;
        if (!value->isDict())
            return nullptr;
        dict = &value->dict();
        dottedPath.remove_prefix(dot + 1);
    }
}

Value *lookUp(Dict &root, std::string_view dottedPath)
{
    return const_cast<Value *>(lookUp(std::as_const(root), dottedPath));
}

} // namespace stagewright::config
