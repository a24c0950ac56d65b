#include "core/config/diff.h"

#include <algorithm>
#include <set>

#include "core/config/option.h"
#include "core/config/walk.h"

namespace stagewright::config {

namespace {

// Equal for a reader: 1 and 1.0, (8, 100) and [8, 100].
bool sameMeaning(const Value &a, const Value &b)
{
    if (a.isNumber() && b.isNumber())
        return a.number() == b.number();
    if (a.isSequence() && b.isSequence())
        return a.items().size() == b.items().size() && std::equal(a.items().begin(), a.items().end(), b.items().begin(), sameMeaning);
    if (a.isDict() && b.isDict()) {
        return a.dict().size() == b.dict().size() && std::all_of(a.dict().begin(), a.dict().end(), [&](const auto &entry) {
            const Value *other = b.dict().find(entry.first);
            return other && sameMeaning(entry.second, *other);
        });
    }
    return a == b;
}

class Differ
{
public:
    Differ(const Stage &a, const Stage &b, Compare compare) : m_a(a), m_b(b), m_compare(compare) {}

    std::vector<Change> changes()
    {
        for (const Option &option : allOptions())
            compareOption(option);
        compareUndeclared();
        return std::move(m_changes);
    }

private:
    void compareOption(const Option &option)
    {
        m_option = &option;
        const std::string path(option.path);
        const Value *a = lookUp(m_a.values(), path), *b = lookUp(m_b.values(), path);
        if (option.type == OptionType::Dict)
            return compareSection(path, a, b);
        if (option.type == OptionType::BucketTable || option.type == OptionType::WeightTable || (a && a->isDict()) || (b && b->isDict()))
            return compareTables(path, a, b);
        const bool fillIn = m_compare == Compare::Resolved && option.keyClass == KeyClass::Read && (a || b);
        const Value *left = a ? a : fillIn ? &defaultOf(m_a, option) : nullptr;
        const Value *right = b ? b : fillIn ? &defaultOf(m_b, option) : nullptr;
        compareValues(path, left, right, !a, !b);
    }

    // A section that one side switches off (lora_config = None) or writes as something else than a dict.
    void compareSection(const std::string &path, const Value *a, const Value *b)
    {
        const auto isSection = [](const Value *value) { return !value || value->isDict(); };
        if (isSection(a) && isSection(b))
            return;
        const bool bothOff = (!a || a->isNone()) && (!b || b->isNone());
        if (!bothOff)
            compareValues(path, a, b, !a, !b);
    }

    void compareTables(const std::string &path, const Value *a, const Value *b)
    {
        const auto isTable = [](const Value *value) { return value && value->isDict(); };
        if (isTable(a) && isTable(b))
            return compareRows(path + ".", a->dict(), b->dict());
        if (isTable(a) && (!b || b->isNone()))
            return compareRows(path + ".", a->dict(), Dict());
        if (isTable(b) && (!a || a->isNone()))
            return compareRows(path + ".", Dict(), b->dict());
        const bool bothOff = (!a || a->isNone()) && (!b || b->isNone());
        if (!bothOff)
            compareValues(path, a, b, !a, !b);
    }

    void compareRows(const std::string &prefix, const Dict &a, const Dict &b)
    {
        for (const auto &[key, value] : a)
            compareRow(prefix + key.text(), &value, b.find(key));
        for (const auto &[key, value] : b) {
            if (!a.find(key))
                compareRow(prefix + key.text(), nullptr, &value);
        }
    }

    void compareRow(const std::string &path, const Value *a, const Value *b)
    {
        static const Dict empty;
        const bool aIsDict = a && a->isDict(), bIsDict = b && b->isDict();
        if ((aIsDict || !a) && (bIsDict || !b))
            compareRows(path + ".", aIsDict ? a->dict() : empty, bIsDict ? b->dict() : empty);
        else
            compareValues(path, a, b, false, false);
    }

    void compareValues(const std::string &path, const Value *a, const Value *b, bool aIsDefault, bool bIsDefault)
    {
        if ((!a && !b) || (a && b && sameMeaning(*a, *b)))
            return;
        Change change;
        change.path = path;
        if (a)
            change.a = *a;
        if (b)
            change.b = *b;
        change.aIsDefault = a && aIsDefault;
        change.bIsDefault = b && bIsDefault;
        change.changesResults = !m_option || m_option->changesResults;
        m_changes.push_back(std::move(change));
    }

    static bool isDeclared(std::string path)
    {
        if (findOption(path))
            return true;
        for (auto dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
            path.resize(dot);
            if (const Option *option = findOption(path))
                return option->type != OptionType::Dict;         // a table's row is the table's; an unknown key of a section is nobody's
        }
        return false;
    }

    void compareUndeclared()
    {
        m_option = nullptr;
        std::vector<std::string> paths;
        std::set<std::string> seen;
        for (const Stage *stage : {&m_a, &m_b}) {
            forEachLeaf(stage->values(), [&](const std::string &path, const Value &) {
                if (!isDeclared(path) && seen.insert(path).second)
                    paths.push_back(path);
            });
        }
        for (const std::string &path : paths)
            compareValues(path, lookUp(m_a.values(), path), lookUp(m_b.values(), path), false, false);
    }

    const Stage &m_a;
    const Stage &m_b;
    Compare m_compare;
    const Option *m_option = nullptr;
    std::vector<Change> m_changes;
};

} // namespace

std::vector<Change> diff(const Stage &a, const Stage &b, Compare compare)
{
    return Differ(a, b, compare).changes();
}

} // namespace stagewright::config
