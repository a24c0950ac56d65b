#include "core/config/python_evaluator.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/config/python_builtins.h"
#include "core/config/python_format.h"
#include "core/config/python_parser.h"
#include "core/config/value_text.h"

namespace stagewright::config::python {

namespace {

struct Variable {
    bool shared = false;       // other values may hold the same list or dict: changing it in place would need Python's references
    bool config = false;       // came out of `_base_`, whose dicts take attribute access
};

struct Operand {
    Value value;                       // where `ref` is null
    const Value *ref = nullptr;        // into a variable or the base; valid until the next statement
    bool shared = false, config = false, iterator = false;
    bool baseRoot = false;             // the chain began with `_base_`
    Variable *root = nullptr;          // the variable that the chain began with
    Origin sourceOrigin;
    std::string source;                // dotted path from the root, as far as it is known

    const Value &get() const { return ref ? *ref : value; }
};

std::string stepText(const Value &key)
{
    return key.type() == Type::String ? key.string() : toPython(key);
}

class Evaluator
{
public:
    Evaluator(const SourceText &source, std::shared_ptr<const std::string> file, OriginKind kind, Dict base, Budget &budget)
        : m_source(source), m_file(std::move(file)), m_kind(kind), m_base(Value::dict(std::move(base))), m_budget(budget)
    {
    }

    Evaluated run(const Module &module)
    {
        for (const Statement &statement : module.statements) {
            if (!isBaseStatement(statement))
                execute(statement);
        }
        for (const auto &[name, value] : std::vector<Dict::Entry>(m_names.begin(), m_names.end())) {
            if (name.text().starts_with("__"))
                m_names.remove(name);
        }
        m_out.names = std::move(m_names);
        m_out.base = std::move(m_base.dict());
        return std::move(m_out);
    }

    Value alone(const Node &node)
    {
        m_alone = true;
        return placed(evaluate(node), node);
    }

private:
    [[noreturn]] void refuse(const std::string &message, const Node &node, const char *code = "config.expression") { throw Refusal{code, message, node.begin}; }
    [[noreturn]] void needsPython(const std::string &what, const Node &node)
    {
        refuse(what + " needs real Python, which is never run here; write the value itself", node, "config.needs-python");
    }
    std::string shown(const Node &node) const
    {
        std::string text = m_source.text().substr(node.begin, std::min<std::size_t>(node.end - node.begin, 60));
        text = text.substr(0, text.find_first_of("\r\n"));
        while (!text.empty() && node.end - node.begin > 60 && (text.back() & 0x80))
            text.pop_back();
        return text;
    }

    Origin originOf(const Node &node) const
    {
        const Position position = m_source.positionOf(node.begin);
        return {m_kind, m_file, position.line, position.column};
    }

    // The operand as a value of its own that was written at `node`.
    Value placed(Operand operand, const Node &node)
    {
        if (operand.iterator)
            refuse("`" + shown(node) + "` gives its items one by one and is no value; write list(" + shown(node) + ")", node);
        if (operand.ref)
            m_budget.takeTree(*operand.ref);
        else
            m_budget.takeValues(1);
        Value value = operand.ref ? *operand.ref : std::move(operand.value);
        value.origin = originOf(node);
        value.spelling = spellingOf(node, value, m_source);
        m_budget.takeBytes(value.spelling.size());
        return value;
    }

    // The value that `node` gives its entry or item: literals at once, everything else by evaluation.
    Value item(const Node &node, bool &shared)
    {
        switch (node.kind) {
        case NodeKind::Int:
        case NodeKind::Float:
        case NodeKind::None:
        case NodeKind::True:
        case NodeKind::False:
            return placed(evaluateKind(node), node);
        default: break;
        }
        Operand operand = evaluate(node);
        shared |= operand.shared;
        return placed(std::move(operand), node);
    }

    // --- statements

    void execute(const Statement &statement)
    {
        m_path.clear();
        m_frozen = 0;
        switch (statement.kind) {
        case StatementKind::Pass:
        case StatementKind::Annotation: return;
        case StatementKind::Expression:
            evaluate(statement.value);
            return;
        case StatementKind::Delete:
            for (const Node &target : statement.targets)
                guarded(target, [&] { remove(target); });
            return;
        case StatementKind::Augmented: return guarded(statement.targets[0], [&] { augment(statement); });
        case StatementKind::Assign: return assignAll(statement);
        }
    }

    template <class Work>
    void guarded(const Node &node, Work work)
    {
        try {
            work();
        } catch (const Trouble &trouble) {
            throw Refusal{trouble.code, trouble.message, node.begin};
        }
    }

    void assignAll(const Statement &statement)
    {
        const Node &first = statement.targets[0];
        if (statement.targets.size() == 1 && isPlainUnpacking(first, statement.value)) {
            // a, b = x, y: all values first, then all names.
            std::vector<Operand> operands;
            for (std::size_t i = 0; i < first.children.size(); ++i) {
                beginPath(first.children[i], statement.value.children[i]);
                operands.push_back(own(evaluate(statement.value.children[i]), statement.value.children[i]));
            }
            for (std::size_t i = 0; i < first.children.size(); ++i)
                assign(first.children[i], std::move(operands[i]));
            return;
        }
        beginPath(first, statement.value);
        Operand operand = own(evaluate(statement.value), statement.value);
        const bool container = operand.value.isDict() || operand.value.type() == Type::List;
        operand.shared |= container && statement.targets.size() > 1;
        for (std::size_t i = 0; i + 1 < statement.targets.size(); ++i) {
            m_budget.takeTree(operand.value);
            assign(statement.targets[i], operand);
        }
        assign(statement.targets.back(), std::move(operand));
    }

    static bool isPlainUnpacking(const Node &target, const Node &value)
    {
        const auto starred = [](const Node &node) { return node.kind == NodeKind::Starred; };
        return (target.kind == NodeKind::Tuple || target.kind == NodeKind::List) && (value.kind == NodeKind::Tuple || value.kind == NodeKind::List)
            && target.children.size() == value.children.size() && std::none_of(target.children.begin(), target.children.end(), starred)
            && std::none_of(value.children.begin(), value.children.end(), starred);
    }

    // The operand with a value of its own, placed at `node`, flags kept.
    Operand own(Operand operand, const Node &node)
    {
        Operand out;
        out.shared = operand.shared;
        out.config = operand.config;
        out.value = placed(std::move(operand), node);
        return out;
    }

    void beginPath(const Node &target, const Node &value)
    {
        m_path.clear();
        std::vector<std::string> steps;
        const Node *node = &target;
        while (node->kind == NodeKind::Attribute || node->kind == NodeKind::Subscript) {
            if (node->kind == NodeKind::Attribute)
                steps.push_back(node->text);
            else if (node->children[1].kind == NodeKind::String)
                steps.push_back(node->children[1].text);
            else if (node->children[1].kind == NodeKind::Int)
                steps.push_back(std::to_string(node->children[1].magnitude));
            node = &node->children[0];
        }
        if (node->kind == NodeKind::Name && node->text != "_base_")
            steps.push_back(node->text);
        for (auto step = steps.rbegin(); step != steps.rend(); ++step)
            m_path += (m_path.empty() ? "" : ".") + *step;
        m_pathOrigin = originOf(value);
    }

    void assign(const Node &target, Operand operand)
    {
        guarded(target, [&] {
            switch (target.kind) {
            case NodeKind::Name: return setName(target, std::move(operand));
            case NodeKind::Tuple:
            case NodeKind::List: return unpack(target, operand);
            default: return setItem(target, std::move(operand.value), operand.shared);
            }
        });
    }

    void setName(const Node &target, Operand operand)
    {
        if (target.text == "_base_")
            refuse("`_base_` is set on a line of its own, `_base_ = [\"file.py\"]`, and not changed", target);
        if (target.text.size() > kMaxKeyBytes)
            refuse("a name of more than " + std::to_string(kMaxKeyBytes) + " bytes", target, "config.too-large");
        if (!m_scopes.empty()) {
            m_scopes.back().emplace_back(target.text, std::move(operand.value));
            return;
        }
        m_variables[target.text] = {operand.shared, operand.config};
        m_names.set(DictKey(target.text), std::move(operand.value));
    }

    void unpack(const Node &target, const Operand &operand)
    {
        List items = iterated(operand.value, m_budget);
        const auto star = std::find_if(target.children.begin(), target.children.end(), [](const Node &node) { return node.kind == NodeKind::Starred; });
        const std::size_t count = target.children.size();
        const bool starred = star != target.children.end();
        if (starred ? items.size() + 1 < count : items.size() != count)
            throw Trouble{"there are " + std::to_string(items.size()) + " values for " + std::to_string(count) + " names"};
        std::size_t next = 0;
        for (const Node &child : target.children) {
            Operand part;
            part.shared = operand.shared;
            part.config = operand.config;
            if (child.kind == NodeKind::Starred) {
                const std::size_t take = items.size() + 1 - count;
                part.value = Value::list(List(items.begin() + static_cast<std::ptrdiff_t>(next), items.begin() + static_cast<std::ptrdiff_t>(next + take)));
                next += take;
            } else {
                part.value = std::move(items[next++]);
            }
            part.value.origin = operand.value.origin;
            part.value.spelling.clear();
            assign(child.kind == NodeKind::Starred ? child.children[0] : child, std::move(part));
        }
    }

    // The container that `node` (a name, or an item of one) stands for, to be changed in place.
    struct Place {
        Value *value;
        bool config;
    };
    Place placeOf(const Node &node)
    {
        if (node.kind == NodeKind::Name) {
            if (node.text == "_base_")
                return {&m_base, true};
            Value *value = m_names.find(DictKey(node.text));
            if (!value)
                refuse("`" + node.text + "` is not defined here", node);
            const Variable &variable = m_variables[node.text];
            if (variable.shared)
                refuse("`" + node.text + "` is changed after its value was used elsewhere, which needs real Python; write the values where they belong", node,
                    "config.needs-python");
            return {value, variable.config};
        }
        if (node.kind != NodeKind::Attribute && node.kind != NodeKind::Subscript)
            refuse("this cannot be changed in place", node);
        const Place parent = placeOf(node.children[0]);
        if (node.kind == NodeKind::Attribute || parent.value->isDict()) {
            if (!parent.value->isDict())
                refuse(described(*parent.value) + " has no part '" + node.text + "'", node);
            Value *value = parent.value->dict().find(keyFrom(node, parent));
            if (!value)
                refuse("there is no such key to change", node);
            return {value, parent.config};
        }
        return {&itemFrom(node, parent), parent.config};
    }

    DictKey keyFrom(const Node &node, const Place &parent)
    {
        if (node.kind == NodeKind::Subscript)
            return keyOf(evaluate(node.children[1]).get());
        if (!parent.config)
            refuse("a dict's entry is written " + shown(node.children[0]) + "[\"" + node.text + "\"]; '." + node.text + "' only works on `_base_`", node);
        return DictKey(node.text);
    }

    Value &itemFrom(const Node &node, const Place &parent)
    {
        if (parent.value->type() != Type::List || node.children[1].kind == NodeKind::Slice)
            refuse("only items of a list or entries of a dict can be changed", node);
        List &items = parent.value->items();
        std::int64_t at = asInteger(evaluate(node.children[1]).get(), "an index");
        if (at < 0)
            at += static_cast<std::int64_t>(items.size());
        if (at < 0 || at >= static_cast<std::int64_t>(items.size()))
            refuse("the list has only " + std::to_string(items.size()) + " items", node);
        return items[static_cast<std::size_t>(at)];
    }

    void setItem(const Node &target, Value value, bool shared)
    {
        const Place parent = placeOf(target.children[0]);
        // What is put in may be in use elsewhere: from now on the whole variable counts as shared.
        if (shared) {
            const Node *root = &target;
            while (root->kind != NodeKind::Name)
                root = &root->children[0];
            m_variables[root->text].shared = true;
        }
        if (target.kind == NodeKind::Attribute && !parent.value->isDict())
            refuse(described(*parent.value) + " has no part '" + target.text + "'", target);
        if (parent.value->isDict())
            parent.value->dict().set(keyFrom(target, parent), std::move(value));
        else
            itemFrom(target, parent) = std::move(value);
    }

    void remove(const Node &target)
    {
        if (target.kind == NodeKind::Name) {
            if (!m_names.remove(DictKey(target.text)))
                refuse("`" + target.text + "` is not defined here", target);
            m_variables.erase(target.text);
            return;
        }
        if (target.kind != NodeKind::Subscript && target.kind != NodeKind::Attribute)
            refuse("only a name or an entry can be deleted", target);
        const Place parent = placeOf(target.children[0]);
        if (parent.value->isDict()) {
            if (!parent.value->dict().remove(keyFrom(target, parent)))
                refuse("there is no such key to delete", target);
            return;
        }
        const Value *item = &itemFrom(target, parent);
        List &items = parent.value->items();
        items.erase(items.begin() + (item - items.data()));
    }

    void augment(const Statement &statement)
    {
        const Node &target = statement.targets[0];
        if (target.kind == NodeKind::Name && target.text == "_base_")
            refuse("`_base_` cannot be changed", target);
        beginPath(target, statement.value);
        Operand right = evaluate(statement.value);
        if (right.iterator)
            right.value = Value::list(right.value.items());
        const Operand left = evaluate(target, true);
        Value result;
        if (left.get().type() == Type::List && statement.op == '+') {
            if (left.root && left.root->shared)
                refuse("`" + shown(target) + "` is changed after its value was used elsewhere, which needs real Python", target, "config.needs-python");
            result = binary('+', left.get(), Value::list(iterated(right.get(), m_budget)), m_budget);
        } else {
            result = binary(statement.op, left.get(), right.get(), m_budget);
        }
        m_budget.takeTree(result);
        result.origin = originOf(statement.value);
        if (target.kind != NodeKind::Name)
            return setItem(target, std::move(result), right.shared);
        Operand out;
        out.value = std::move(result);
        out.shared = left.shared || right.shared;
        setName(target, std::move(out));
    }

    // --- expressions

    // chain: the caller takes a part of the result only, so that a variable is not copied or marked as used as a whole.
    Operand evaluate(const Node &node, bool chain = false)
    {
        try {
            Operand operand = evaluateKind(node);
            if (!chain)
                endChain(operand);
            return operand;
        } catch (const Trouble &trouble) {
            throw Refusal{trouble.code, trouble.message, node.begin};
        }
    }

    void endChain(Operand &operand)
    {
        const bool container = operand.get().isDict() || operand.get().isSequence();
        if (container && (operand.root || operand.baseRoot)) {
            operand.shared = true;
            if (operand.root)
                operand.root->shared = true;
        }
        if (!operand.source.empty() && m_out.uses.size() < 100'000)
            m_out.uses.push_back({operand.source, operand.sourceOrigin, m_path, m_pathOrigin});
        operand.source.clear();
        operand.root = nullptr;
        operand.baseRoot = false;
    }

    Operand evaluateKind(const Node &node)
    {
        switch (node.kind) {
        case NodeKind::None: return {};
        case NodeKind::True: return of(true);
        case NodeKind::False: return of(false);
        case NodeKind::Int:
            if (node.magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                refuse("'" + shown(node) + "' is too large; whole numbers go up to 9223372036854775807", node, "config.too-large");
            return of(static_cast<std::int64_t>(node.magnitude));
        case NodeKind::Float: return of(node.number);
        case NodeKind::String:
            m_budget.takeBytes(node.text.size());
            return of(node.text);
        case NodeKind::Name: return name(node);
        case NodeKind::BaseTemplate: return baseTemplate(node);
        case NodeKind::OtherTemplate: needsPython("this {{…}}", node);
        case NodeKind::Attribute: return attribute(node);
        case NodeKind::Subscript: return subscript(node);
        case NodeKind::Dict: return dictDisplay(node);
        case NodeKind::Call: return call(node);
        case NodeKind::Set:
        case NodeKind::SetComprehension: refuse("a set is no config value; write a list", node, "config.needs-python");
        default: break;
        }
        // Whatever is inside these is a part of one value: paths of dict entries end here.
        struct Frozen {
            explicit Frozen(int &counter) : count(counter) { ++count; }
            ~Frozen() { --count; }
            int &count;
        } frozen(m_frozen);
        switch (node.kind) {
        case NodeKind::FormattedString: return formattedString(node);
        case NodeKind::List:
        case NodeKind::Tuple: return sequence(node);
        case NodeKind::Unary: return unaryOperator(node);
        case NodeKind::Binary: return binaryRun(node);
        case NodeKind::And:
        case NodeKind::Or: return boolean(node);
        case NodeKind::Compare: return comparison(node);
        case NodeKind::Conditional: return truth(evaluate(node.children[0]).get()) ? evaluate(node.children[1]) : evaluate(node.children[2]);
        case NodeKind::ListComprehension:
        case NodeKind::DictComprehension:
        case NodeKind::Generator: return comprehension(node);
        default: refuse("this cannot stand here", node, "config.syntax");
        }
    }

    static Operand of(Value value)
    {
        Operand operand;
        operand.value = std::move(value);
        return operand;
    }

    Operand name(const Node &node)
    {
        for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope) {
            for (auto entry = scope->rbegin(); entry != scope->rend(); ++entry) {
                if (entry->first == node.text) {
                    m_budget.takeTree(entry->second);
                    Operand operand = of(entry->second);
                    operand.shared = operand.value.isDict() || operand.value.isSequence();
                    return operand;
                }
            }
        }
        Operand operand;
        if (node.text == "_base_" && !m_alone) {
            operand.ref = &m_base;
            operand.baseRoot = operand.config = true;
            return operand;
        }
        operand.ref = m_names.find(DictKey(node.text));
        if (!operand.ref)
            undefined(node);
        Variable &variable = m_variables[node.text];
        operand.root = &variable;
        operand.shared = variable.shared;
        operand.config = variable.config;
        operand.source = node.text;
        operand.sourceOrigin = operand.ref->origin;
        return operand;
    }

    [[noreturn]] void undefined(const Node &node)
    {
        static const std::map<std::string, std::string> slips = {{"true", "True"}, {"false", "False"}, {"none", "None"}, {"null", "None"}, {"nan", "float('nan')"}, {"inf", "float('inf')"}};
        const auto slip = slips.find(node.text);
        if (slip != slips.end())
            refuse("`" + node.text + "` is not defined; Python writes " + slip->second, node);
        if (isBuiltin(node.text) || node.text == "dict")
            refuse("`" + node.text + "` is a function and no value", node);
        if (m_alone)
            refuse("`" + node.text + "` is no value; a text is written in quotes", node);
        refuse("`" + node.text + "` is not defined above this line" + (m_base.dict().find(DictKey(node.text)) ? "; a name of a base is written _base_." + node.text : std::string()), node);
    }

    Operand baseTemplate(const Node &node)
    {
        Operand operand;
        operand.ref = &m_base;
        operand.baseRoot = operand.config = true;
        std::size_t begin = 0;
        while (begin <= node.text.size()) {
            const std::size_t dot = std::min(node.text.find('.', begin), node.text.size());
            operand = step(std::move(operand), Value(node.text.substr(begin, dot - begin)), node);
            begin = dot + 1;
        }
        return operand;
    }

    // object[key] of a dict.
    Operand step(Operand object, const Value &key, const Node &node)
    {
        if (!object.get().isDict())
            refuse(described(object.get()) + " has no part " + toPython(key), node);
        const Value *found = object.get().dict().find(keyOf(key));
        if (!found)
            refuse(object.baseRoot && object.source.empty() ? "no base sets `" + stepText(key) + "`" : "there is no key " + toPython(key) + " in it", node);
        return part(std::move(object), found, key);
    }

    Operand part(Operand object, const Value *found, const Value &key)
    {
        if (object.ref) {
            if (!object.source.empty() || object.baseRoot)
                object.source += (object.source.empty() ? "" : ".") + stepText(key);
            object.ref = found;
            object.sourceOrigin = found->origin;
            return object;
        }
        m_budget.takeTree(*found);
        Operand out = of(*found);
        out.shared = object.shared;
        out.config = object.config;
        return out;
    }

    Operand attribute(const Node &node)
    {
        Operand object = evaluate(node.children[0], true);
        if (!object.get().isDict())
            needsPython("`" + shown(node) + "`", node);
        if (!object.config)
            refuse("a dict's entry is written " + shown(node.children[0]) + "[\"" + node.text + "\"]; '." + node.text + "' only works on `_base_`", node);
        return step(std::move(object), Value(node.text), node);
    }

    Operand subscript(const Node &node)
    {
        Operand object = evaluate(node.children[0], true);
        const Node &index = node.children[1];
        if (index.kind == NodeKind::Slice) {
            const auto bound = [&](std::size_t i) { return index.children[i].kind == NodeKind::Absent ? Value() : evaluate(index.children[i]).get(); };
            endChain(object);
            Operand out = of(slice(object.get(), bound(0), bound(1), bound(2), m_budget));
            out.shared = object.shared;
            return out;
        }
        const Operand keyOperand = evaluate(index);
        const Value key = keyOperand.get();
        if (object.get().isDict())
            return step(std::move(object), key, node);
        if (object.get().isSequence()) {
            const List &items = object.get().items();
            std::int64_t at = asInteger(key, "an index");
            if (at < 0)
                at += static_cast<std::int64_t>(items.size());
            if (at >= 0 && at < static_cast<std::int64_t>(items.size())) {
                const Value *found = &items[static_cast<std::size_t>(at)];
                return part(std::move(object), found, key);
            }
        }
        endChain(object);
        return of(itemAt(object.get(), key));
    }

    struct PathStep {
        PathStep(Evaluator &evaluator, const std::string &key, const Node &value) : e(evaluator), length(e.m_path.size()), origin(e.m_pathOrigin)
        {
            if (e.m_frozen == 0) {
                e.m_path += (e.m_path.empty() ? "" : ".") + key;
                e.m_pathOrigin = e.originOf(value);
            }
        }
        ~PathStep()
        {
            e.m_path.resize(length);
            e.m_pathOrigin = origin;
        }
        Evaluator &e;
        std::size_t length;
        Origin origin;
    };

    bool putEntry(Dict &dict, const Value &key, const Node &valueNode, bool &shared)
    {
        const DictKey dictKey = keyOf(key);
        const PathStep pathStep(*this, stepText(key), valueNode);
        Value value = item(valueNode, shared);
        const std::size_t before = dict.size();
        dict.set(dictKey, std::move(value));
        return dict.size() == before;
    }

    void mergeEntries(Dict &dict, const Node &node, bool &shared)
    {
        const Operand operand = evaluate(node);
        if (!operand.get().isDict())
            refuse("'**' unpacks a dict, not " + described(operand.get()), node);
        m_budget.takeTree(operand.get());
        shared |= operand.shared;
        for (const auto &[key, value] : operand.get().dict())
            dict.set(key, value);
    }

    Operand dictDisplay(const Node &node)
    {
        Dict dict;
        bool shared = false, unpacked = false;
        for (const Node &entry : node.children) {
            if (entry.kind == NodeKind::DoubleStarred) {
                mergeEntries(dict, entry.children[0], shared);
                unpacked = true;
                continue;
            }
            const Operand keyOperand = evaluate(entry.children[0]);
            const Value key = keyOperand.get();
            if (!key.isNumber() && key.type() != Type::String)
                guarded(entry, [&] { keyOf(key); });
            if (putEntry(dict, key, entry.children[1], shared) && !unpacked)
                noteDuplicate(key, entry);
        }
        Operand out = of(Value::dict(std::move(dict)));
        out.shared = shared;
        return out;
    }

    void noteDuplicate(const Value &key, const Node &entry)
    {
        const Position position = m_source.positionOf(entry.begin);
        Problem problem;
        problem.severity = Severity::Warning;
        problem.code = "config.duplicate-key";
        problem.path = m_path + (m_path.empty() ? "" : ".") + stepText(key);
        problem.message = m_source.place(entry.begin) + ": the key " + toPython(key) + " is written twice in this dict; the first value is lost, so remove one";
        problem.file = m_source.name();
        problem.line = position.line;
        problem.column = position.column;
        if (m_out.problems.size() < 100)
            m_out.problems.push_back(std::move(problem));
    }

    Operand call(const Node &node)
    {
        const Node &function = node.children[0];
        if (function.kind != NodeKind::Name)
            needsPython("the call `" + shown(node) + "`", node);
        if (m_names.find(DictKey(function.text)))
            refuse("`" + function.text + "` is a value here and cannot be called", node);
        if (function.text == "dict")
            return dictCall(node);
        if (!isBuiltin(function.text))
            needsPython("the call `" + shown(node) + "`", node);
        ++m_frozen;
        std::vector<Argument> arguments;
        std::vector<std::pair<std::string, Argument>> keywords;
        bool shared = false;
        for (std::size_t i = 1; i < node.children.size(); ++i) {
            const Node &child = node.children[i];
            if (child.kind == NodeKind::DoubleStarred)
                needsPython("'**' in this call", child);
            const Node &inner = child.kind == NodeKind::Keyword || child.kind == NodeKind::Starred ? child.children[0] : child;
            Operand operand = evaluate(inner);
            shared |= operand.shared;
            if (child.kind == NodeKind::Starred) {
                for (Value &value : operand.iterator ? operand.value.items() : iterated(operand.get(), m_budget))
                    arguments.push_back({std::move(value), false});
                continue;
            }
            if (operand.ref)
                m_budget.takeTree(*operand.ref);
            Argument argument{operand.ref ? *operand.ref : std::move(operand.value), operand.iterator};
            if (child.kind == NodeKind::Keyword)
                keywords.emplace_back(child.text, std::move(argument));
            else
                arguments.push_back(std::move(argument));
        }
        --m_frozen;
        Argument result = callBuiltin(function.text, arguments, keywords, m_budget);
        Operand out = of(std::move(result.value));
        out.iterator = result.iterator;
        out.shared = shared && (out.value.isSequence() || out.value.isDict());
        return out;
    }

    Operand dictCall(const Node &node)
    {
        Dict dict;
        bool shared = false;
        std::set<std::string_view> named;
        for (std::size_t i = 1; i < node.children.size(); ++i) {
            const Node &child = node.children[i];
            if (child.kind == NodeKind::Keyword) {
                if (!named.insert(child.text).second)
                    refuse("`" + child.text + "` is given twice in this dict(…); remove one", child, "config.syntax");
                putEntry(dict, Value(child.text), child.children[0], shared);
            } else if (child.kind == NodeKind::DoubleStarred) {
                mergeEntries(dict, child.children[0], shared);
            } else if (child.kind == NodeKind::Starred || i > 1) {
                refuse("dict() takes at most one value without a name", child);
            } else {
                fromPairs(dict, evaluate(child), child, shared);
            }
        }
        Operand out = of(Value::dict(std::move(dict)));
        out.shared = shared;
        return out;
    }

    // dict(mapping) or dict([(key, value), …])
    void fromPairs(Dict &dict, const Operand &operand, const Node &node, bool &shared)
    {
        shared |= operand.shared;
        m_budget.takeTree(operand.get());
        if (operand.get().isDict()) {
            for (const auto &[key, value] : operand.get().dict())
                dict.set(key, value);
            return;
        }
        for (const Value &pair : iterated(operand.get(), m_budget)) {
            if (!pair.isSequence() || pair.items().size() != 2)
                refuse("dict() of a list wants pairs of key and value", node);
            dict.set(keyOf(pair.items()[0]), pair.items()[1]);
        }
    }

    Operand formattedString(const Node &node)
    {
        std::string text;
        for (const Node &piece : node.children) {
            if (piece.kind == NodeKind::String) {
                text += piece.text;
                continue;
            }
            const Operand operand = evaluate(piece.children[0]);
            if (operand.iterator)
                needsPython("this field of the f-string", piece);
            Value value = operand.get();
            if (piece.op == 'r' || piece.op == 'a')
                value = Value(pythonRepr(value));
            else if (piece.op == 's')
                value = Value(pythonStr(value));
            if (piece.op == 'a' && std::any_of(value.string().begin(), value.string().end(), [](char c) { return (c & 0x80) != 0; }))
                needsPython("!a of such a text", piece);
            text += formatted(value, piece.text);
        }
        m_budget.takeBytes(text.size());
        return of(std::move(text));
    }

    Operand sequence(const Node &node)
    {
        List items;
        bool shared = false;
        items.reserve(node.children.size());
        for (const Node &child : node.children) {
            if (child.kind == NodeKind::Starred) {
                Operand operand = evaluate(child.children[0]);
                shared |= operand.shared;
                List more = operand.iterator ? std::move(operand.value.items()) : iterated(operand.get(), m_budget);
                std::move(more.begin(), more.end(), std::back_inserter(items));
                continue;
            }
            items.push_back(item(child, shared));
        }
        Operand out = of(node.kind == NodeKind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items)));
        out.shared = shared;
        return out;
    }

    Operand unaryOperator(const Node &node)
    {
        const Node &child = node.children[0];
        if (node.op == '-' && child.kind == NodeKind::Int && child.magnitude == std::uint64_t(1) << 63)
            return of(std::numeric_limits<std::int64_t>::min());
        return of(unary(node.op, plainOf(evaluate(child), child).get()));
    }

    Operand plainOf(Operand operand, const Node &node)
    {
        if (operand.iterator)
            refuse("`" + shown(node) + "` gives its items one by one; write list(" + shown(node) + ")", node);
        return operand;
    }

    Operand binaryRun(const Node &node)
    {
        Operand left = plainOf(evaluate(node.children[0]), node.children[0]);
        for (std::size_t i = 1; i < node.children.size(); ++i) {
            const Operand right = plainOf(evaluate(node.children[i]), node.children[i]);
            Operand result;
            try {
                result.value = binary(node.text[i - 1], left.get(), right.get(), m_budget);
            } catch (const Trouble &trouble) {
                throw Refusal{trouble.code, "`" + shown(node) + "`: " + trouble.message, node.children[i].begin};
            }
            const bool container = result.value.isSequence() || result.value.isDict();
            const auto holdsContainers = [](const Value &value) {
                return value.isSequence() && std::any_of(value.items().begin(), value.items().end(), [](const Value &item) { return item.isDict() || item.isSequence(); });
            };
            result.shared = container && (left.shared || right.shared || (node.text[i - 1] == '*' && holdsContainers(result.value)));
            left = std::move(result);
        }
        return left;
    }

    Operand boolean(const Node &node)
    {
        for (std::size_t i = 0; i + 1 < node.children.size(); ++i) {
            Operand operand = evaluate(node.children[i]);
            if (truth(operand.get()) == (node.kind == NodeKind::Or))
                return operand;
        }
        return evaluate(node.children.back());
    }

    Operand comparison(const Node &node)
    {
        Operand left = evaluate(node.children[0]);
        for (std::size_t i = 0; i < node.text.size(); ++i) {
            Operand right = evaluate(node.children[i + 1]);
            if (!holds(node.text[i], left.get(), right.get(), node))
                return of(false);
            left = std::move(right);
        }
        return of(true);
    }

    bool holds(char code, const Value &a, const Value &b, const Node &node)
    {
        switch (code) {
        case '=': return equal(a, b);
        case '!': return !equal(a, b);
        case '<': return compare(a, b) == -1;
        case '>': return compare(a, b) == 1;
        case 'l': return compare(a, b) == -1 || compare(a, b) == 0;
        case 'g': return compare(a, b) == 1 || compare(a, b) == 0;
        case 'i': return contains(b, a);
        case 'n': return !contains(b, a);
        default: break;
        }
        const auto single = [](const Value &value) { return value.isNone() || value.type() == Type::Bool; };
        if (!single(a) && !single(b))
            needsPython("'is' between such values", node);
        return (a == b) == (code == 's');
    }

    Operand comprehension(const Node &node)
    {
        List items;
        Dict dict;
        m_scopes.emplace_back();
        if (m_scopes.size() > 20)
            refuse("comprehensions inside each other too deeply", node, "config.too-large");
        loop(node, 1, items, dict);
        m_scopes.pop_back();
        Operand out = of(node.kind == NodeKind::DictComprehension ? Value::dict(std::move(dict)) : Value::list(std::move(items)));
        out.iterator = node.kind == NodeKind::Generator;
        out.shared = true;
        return out;
    }

    void loop(const Node &node, std::size_t part, List &items, Dict &dict)
    {
        if (part == node.children.size()) {
            const Node &element = node.children[0];
            if (node.kind == NodeKind::DictComprehension) {
                const Operand keyOperand = evaluate(element.children[0]);
                const DictKey key = keyOf(keyOperand.get());
                dict.set(key, placed(evaluate(element.children[1]), element.children[1]));
            } else {
                items.push_back(placed(evaluate(element), element));
            }
            return;
        }
        const Node &step = node.children[part];
        Operand source = evaluate(step.children[1]);
        const List values = source.iterator ? std::move(source.value.items()) : iterated(source.get(), m_budget);
        const std::size_t outer = m_scopes.back().size();
        for (const Value &value : values) {
            m_budget.takeValues(1);
            Operand operand = of(value);
            assign(step.children[0], std::move(operand));
            bool wanted = true;
            for (std::size_t i = 2; i < step.children.size() && wanted; ++i)
                wanted = truth(evaluate(step.children[i]).get());
            if (wanted)
                loop(node, part + 1, items, dict);
            m_scopes.back().resize(outer);
        }
    }

    const SourceText &m_source;
    std::shared_ptr<const std::string> m_file;
    OriginKind m_kind;
    Value m_base;
    Budget &m_budget;
    Dict m_names;
    std::unordered_map<std::string, Variable> m_variables;          // references to its values stay valid
    std::vector<std::vector<std::pair<std::string, Value>>> m_scopes;    // of comprehensions, innermost last
    Evaluated m_out;
    std::string m_path;                // of the value that is being made
    Origin m_pathOrigin;
    int m_frozen = 0;
    bool m_alone = false;
};

// Line breaks inside brackets become single spaces; empty where that would change the meaning.
std::string oneLine(std::string text)
{
    if (text.find_first_of("\r\n") == std::string::npos)
        return text;
    if (text.find_first_of("#\\") != std::string::npos || text.find("\"\"\"") != std::string::npos || text.find("'''") != std::string::npos)
        return {};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r' && text[i] != '\n') {
            out += text[i];
            continue;
        }
        while (!out.empty() && (out.back() == ' ' || out.back() == '\t'))
            out.pop_back();
        while (i + 1 < text.size() && std::string_view(" \t\r\n").find(text[i + 1]) != std::string_view::npos)
            ++i;
        const bool afterOpen = !out.empty() && std::string_view("([{").find(out.back()) != std::string_view::npos;
        const bool beforeClose = i + 1 < text.size() && std::string_view(")]}").find(text[i + 1]) != std::string_view::npos;
        if (!afterOpen && !beforeClose)
            out += ' ';
    }
    return out;
}

} // namespace

bool isBaseStatement(const Statement &statement)
{
    return statement.kind == StatementKind::Assign && statement.targets[0].kind == NodeKind::Name && statement.targets[0].text == "_base_";
}

std::string spellingOf(const Node &node, const Value &value, const SourceText &source)
{
    constexpr std::size_t kLongestDisplay = 200, kLongest = 500;
    const std::size_t length = node.end - node.begin;
    if (!node.parenthesized || node.kind == NodeKind::Tuple) {
        switch (node.kind) {
        case NodeKind::None:
        case NodeKind::True:
        case NodeKind::False:
        case NodeKind::Dict: return {};
        case NodeKind::String:
            if (node.plainLiteral && !(source.isSubstituted() && source.originalSlice(node.begin, node.end).find("{{") != std::string::npos))
                return {};
            break;
        case NodeKind::Call:
            if (value.isDict())
                return {};
            break;
        case NodeKind::List:
        case NodeKind::Tuple:
            if (length > kLongestDisplay)
                return {};
            break;
        default: break;
        }
    }
    if (length == 0 || length > kLongest)
        return {};
    if (node.kind == NodeKind::Int && !node.parenthesized) {
        const std::string_view digits = std::string_view(source.text()).substr(node.begin, length);
        if ((digits[0] != '0' || length == 1) && digits.find_first_not_of("0123456789") == digits.npos)
            return {};
    }
    const std::string text = oneLine(source.originalSlice(node.begin, node.end));
    if (text.empty() || (!value.isDict() && text == toPython(value)))
        return {};
    return text;
}

Evaluated evaluateModule(const Module &module, const SourceText &source, std::shared_ptr<const std::string> file, OriginKind kind, Dict base, Budget &budget)
{
    return Evaluator(source, std::move(file), kind, std::move(base), budget).run(module);
}

Value evaluateAlone(const Node &node, const SourceText &source, Budget &budget)
{
    Value value = Evaluator(source, nullptr, OriginKind::File, Dict(), budget).alone(node);
    return value;
}

} // namespace stagewright::config::python
