#include "core/ckptfile/pickle_reader.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

namespace stagewright::ckptfile {

namespace {

// While the machine runs, values are nodes that the memo may share and a faulty file may tie into circles. All nodes live in one arena;
// at the end the root is copied into a tree with limits, and the arena goes away as a whole.
struct Node {
    PickleValue::Kind kind = PickleValue::Kind::None;
    std::int64_t integer = 0;
    double number = 0;
    std::string text;
    std::vector<Node *> items;               // a dict's keys and values take turns
    PickledTensor tensor;
    enum class Special { Plain, Global, Storage } special = Special::Plain;
};

using Kind = PickleValue::Kind;

std::optional<DType> storageType(std::string_view name)
{
    static const std::unordered_map<std::string_view, DType> types{
        {"torch.DoubleStorage", DType::F64}, {"torch.FloatStorage", DType::F32}, {"torch.HalfStorage", DType::F16},
        {"torch.BFloat16Storage", DType::BF16}, {"torch.LongStorage", DType::I64}, {"torch.IntStorage", DType::I32},
        {"torch.ShortStorage", DType::I16}, {"torch.CharStorage", DType::I8}, {"torch.ByteStorage", DType::U8},
        {"torch.BoolStorage", DType::Bool}, {"torch.UntypedStorage", DType::U8}, {"torch.storage.UntypedStorage", DType::U8}};
    const auto found = types.find(name);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

std::optional<DType> torchDtype(std::string_view name)
{
    static const std::unordered_map<std::string_view, DType> types{
        {"torch.float64", DType::F64}, {"torch.float32", DType::F32}, {"torch.float16", DType::F16}, {"torch.bfloat16", DType::BF16},
        {"torch.int64", DType::I64}, {"torch.int32", DType::I32}, {"torch.int16", DType::I16}, {"torch.int8", DType::I8},
        {"torch.uint64", DType::U64}, {"torch.uint32", DType::U32}, {"torch.uint16", DType::U16}, {"torch.uint8", DType::U8},
        {"torch.bool", DType::Bool}, {"torch.float8_e4m3fn", DType::F8E4M3}, {"torch.float8_e5m2", DType::F8E5M2}};
    const auto found = types.find(name);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

bool isAllowedFunction(std::string_view name)
{
    return name == "collections.OrderedDict" || name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor_v3"
        || name == "torch._utils._rebuild_parameter" || name == "torch.Size" || name == "_codecs.encode";
}

struct Failure {
    std::string sentence;
};

class Machine
{
public:
    Machine(std::string_view bytes) : m_bytes(bytes) {}

    // Throws Failure; the caller turns it into an Error. Internal to this file.
    PickleValue run()
    {
        while (!m_stopped)
            step();
        if (m_stack.size() != 1 || !m_marks.empty())
            fail("the stack does not hold exactly one value at the end");
        m_charged = 0;                       // the tree counts anew
        return tree(*m_stack.back(), 0);
    }

private:
    [[noreturn]] void fail(const std::string &sentence) const { throw Failure{sentence + " (at byte " + std::to_string(m_at) + " of the pickle)"}; }

    // --- bytes
    std::string_view take(std::uint64_t count)
    {
        if (count > m_bytes.size() - m_at)
            fail("the pickle ends too early");
        const std::string_view part = m_bytes.substr(m_at, count);
        m_at += count;
        return part;
    }
    template <class Number>
    Number number()
    {
        Number value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view line()
    {
        const std::size_t end = m_bytes.find('\n', m_at);
        if (end == std::string_view::npos)
            fail("the pickle ends too early");
        const std::string_view text = m_bytes.substr(m_at, end - m_at);
        m_at = end + 1;
        return text;
    }

    // --- nodes and stack
    // Everything that takes memory counts, so that a small file cannot ask for much by repeating what it remembered.
    void charge(std::size_t values)
    {
        m_charged += values;
        if (m_charged > kMostPickleValues)
            fail("more than " + std::to_string(kMostPickleValues) + " values");
    }
    Node &make(Kind kind)
    {
        charge(1);
        m_arena.push_back(std::make_unique<Node>());
        m_arena.back()->kind = kind;
        return *m_arena.back();
    }
    void push(Node &node) { m_stack.push_back(&node); }
    void pushInteger(std::int64_t value)
    {
        Node &node = make(Kind::Int);
        node.integer = value;
        push(node);
    }
    void pushText(Kind kind, std::string_view text)
    {
        charge(text.size() / 64);
        Node &node = make(kind);
        node.text = text;
        push(node);
    }
    void pushGlobal(const std::string &name)
    {
        if (!isAllowedFunction(name) && !storageType(name) && !torchDtype(name))
            fail("it asks for \"" + name + "\", which is not on the list of names that a checkpoint needs; nothing of it was run. "
                 "If you trust the file, load it in Python and save its tensors as safetensors");
        Node &node = make(Kind::Name);
        node.text = name;
        node.special = Node::Special::Global;
        push(node);
    }
    Node &pop()
    {
        if (m_stack.size() <= (m_marks.empty() ? 0 : m_marks.back()))
            fail("the stack is empty where a value is needed");
        Node *node = m_stack.back();
        m_stack.pop_back();
        return *node;
    }
    Node &top(Kind kind)
    {
        if (m_stack.size() <= (m_marks.empty() ? 0 : m_marks.back()) || m_stack.back()->kind != kind)
            fail(std::string("a ") + kindName(kind) + " is needed on the stack");
        return *m_stack.back();
    }
    std::vector<Node *> popToMark()
    {
        if (m_marks.empty())
            fail("a mark is missing");
        std::vector<Node *> items(m_stack.begin() + static_cast<std::ptrdiff_t>(m_marks.back()), m_stack.end());
        m_stack.resize(m_marks.back());
        m_marks.pop_back();
        return items;
    }
    void pushItems(Kind kind, std::vector<Node *> items)
    {
        if (kind == Kind::Dict && items.size() % 2 != 0)
            fail("a dict with a key but no value");
        charge(items.size());
        Node &node = make(kind);
        node.items = std::move(items);
        push(node);
    }
    void addTo(Kind kind, const std::vector<Node *> &items)
    {
        Node &target = top(kind);
        if (kind == Kind::Dict && items.size() % 2 != 0)
            fail("a dict with a key but no value");
        charge(items.size());
        target.items.insert(target.items.end(), items.begin(), items.end());
    }
    void remember(std::uint64_t key)
    {
        if (m_stack.empty())
            fail("nothing to remember");
        m_memo[key] = m_stack.back();
    }
    void recall(std::uint64_t key)
    {
        const auto found = m_memo.find(key);
        if (found == m_memo.end())
            fail("a remembered value that does not exist");
        push(*found->second);
    }

    // --- numbers in text and in little-endian two's complement
    std::int64_t parseInteger(std::string_view text)
    {
        if (!text.empty() && text.back() == 'L')
            text.remove_suffix(1);
        std::int64_t value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
            fail("\"" + std::string(text.substr(0, 40)) + "\" is not a whole number of 64 bits");
        return value;
    }
    std::int64_t longValue(std::string_view bytes)
    {
        while (bytes.size() > 8) {           // only sign bytes may be dropped
            const unsigned char last = static_cast<unsigned char>(bytes.back());
            const bool negative = static_cast<unsigned char>(bytes[bytes.size() - 2]) >> 7;
            if (last != (negative ? 0xff : 0))
                fail("a whole number of more than 64 bits");
            bytes.remove_suffix(1);
        }
        std::uint64_t value = 0;
        for (std::size_t at = 0; at < bytes.size(); ++at)
            value |= std::uint64_t(static_cast<unsigned char>(bytes[at])) << (8 * at);
        if (!bytes.empty() && bytes.size() < 8 && static_cast<unsigned char>(bytes.back()) >> 7)
            value |= ~std::uint64_t(0) << (8 * bytes.size());
        return static_cast<std::int64_t>(value);
    }

    // --- calls that are understood
    std::vector<std::int64_t> integers(const Node &node, const char *what)
    {
        if (node.kind != Kind::Tuple && node.kind != Kind::List)
            fail(std::string("a tensor's ") + what + " is not a tuple");
        if (node.items.size() > 64)
            fail("a tensor with more than 64 dimensions");
        std::vector<std::int64_t> values;
        for (const Node *item : node.items) {
            if (item->kind != Kind::Int || item->integer < 0)
                fail(std::string("a tensor's ") + what + " has an entry that is not a whole number from 0 on");
            values.push_back(item->integer);
        }
        return values;
    }

    Node &rebuildTensor(const std::vector<Node *> &arguments, bool typed)
    {
        if (arguments.size() < (typed ? 7u : 4u) || arguments[0]->special != Node::Special::Storage || arguments[1]->kind != Kind::Int)
            fail("a tensor is put together in a way that is not understood");
        Node &node = make(Kind::Tensor);
        node.tensor = arguments[0]->tensor;
        node.tensor.offset = arguments[1]->integer;
        node.tensor.shape = integers(*arguments[2], "shape");
        node.tensor.strides = integers(*arguments[3], "strides");
        if (typed) {
            const auto dtype = torchDtype(arguments[6]->text);
            if (!dtype)
                fail("a tensor of a type that is not understood");
            node.tensor.storageElements = node.tensor.storageElements * bytesOf(node.tensor.dtype) / bytesOf(*dtype);
            node.tensor.dtype = *dtype;
        }
        checkWindow(node.tensor);
        return node;
    }
    // Every element that shape and strides reach lies inside the storage.
    void checkWindow(const PickledTensor &tensor)
    {
        if (tensor.shape.size() != tensor.strides.size() || tensor.offset < 0)
            fail("a tensor whose shape and strides do not fit together");
        std::int64_t last = tensor.offset, elements = 1;
        bool overflow = false, empty = false;
        for (std::size_t at = 0; at < tensor.shape.size(); ++at) {
            empty = empty || tensor.shape[at] == 0;
            overflow |= __builtin_mul_overflow(elements, std::max<std::int64_t>(tensor.shape[at], 1), &elements);
            std::int64_t reach = 0;
            overflow |= __builtin_mul_overflow(std::max<std::int64_t>(tensor.shape[at] - 1, 0), tensor.strides[at], &reach)
                || __builtin_add_overflow(last, reach, &last);
        }
        // Expanded tensors (stride 0) are legal but may not blow up: no more elements than a file of 2^40 could hold.
        if (overflow || elements > (std::int64_t(1) << 40) || (!empty && last >= tensor.storageElements))
            fail("a tensor of shape " + [&] { std::string text; for (auto extent : tensor.shape) text += (text.empty() ? "[" : ", ") + std::to_string(extent); return text.empty() ? "[" : text; }()
                 + "] that reaches outside its storage of " + std::to_string(tensor.storageElements) + " elements");
    }

    void call()
    {
        Node &arguments = pop();
        Node &function = pop();
        if (function.special != Node::Special::Global || arguments.kind != Kind::Tuple)
            fail("a call of something that is not a function");
        const auto &items = arguments.items;
        const std::string &name = function.text;
        if (name == "collections.OrderedDict")
            pushOrderedDict(items);
        else if (name == "torch._utils._rebuild_tensor_v2")
            push(rebuildTensor(items, false));
        else if (name == "torch._utils._rebuild_tensor_v3")
            push(rebuildTensor(items, true));
        else if (name == "torch._utils._rebuild_parameter" && !items.empty() && items[0]->kind == Kind::Tensor)
            push(*items[0]);
        else if (name == "torch.Size" && items.size() == 1)
            pushItems(Kind::Tuple, items[0]->items);
        else if (name == "_codecs.encode" && !items.empty() && items[0]->kind == Kind::String)
            pushText(Kind::Bytes, latin1(items[0]->text));
        else
            fail("\"" + name + "\" is called in a way that is not understood");
    }
    void pushOrderedDict(const std::vector<Node *> &arguments)
    {
        std::vector<Node *> entries;
        if (!arguments.empty()) {
            for (const Node *pair : arguments[0]->items) {
                if (pair->items.size() != 2)
                    fail("an OrderedDict that is not made of pairs");
                entries.insert(entries.end(), pair->items.begin(), pair->items.end());
            }
        }
        pushItems(Kind::Dict, std::move(entries));
    }
    std::string latin1(const std::string &utf8)
    {
        std::string bytes;
        for (std::size_t at = 0; at < utf8.size(); ++at) {
            const unsigned char byte = static_cast<unsigned char>(utf8[at]);
            if (byte < 0x80)
                bytes += utf8[at];
            else if ((byte == 0xc2 || byte == 0xc3) && at + 1 < utf8.size())
                bytes += static_cast<char>((byte & 3) << 6 | (utf8[++at] & 0x3f));
            else
                fail("bytes that are not Latin-1");
        }
        return bytes;
    }

    // ('storage', torch.FloatStorage, '0', 'cpu', 128)
    void persistent()
    {
        Node &id = pop();
        const auto &items = id.items;
        if (id.kind != Kind::Tuple || items.size() < 5 || items[0]->text != "storage" || items[1]->special != Node::Special::Global
            || items[2]->kind != Kind::String || items[4]->kind != Kind::Int || items[4]->integer < 0)
            fail("a reference to outside data that is not a tensor's storage");
        const auto dtype = storageType(items[1]->text);
        if (!dtype)
            fail("a storage of the type \"" + items[1]->text + "\", which is not understood");
        Node &node = make(Kind::None);
        node.special = Node::Special::Storage;
        node.tensor.dtype = *dtype;
        node.tensor.storage = items[2]->text;
        node.tensor.storageElements = items[4]->integer;
        push(node);
    }

    // An OrderedDict's attributes (a state dict's _metadata) say nothing about its tensors.
    void build()
    {
        pop();
        if (m_stack.empty() || m_stack.back()->kind != Kind::Dict)
            fail("attributes are set on something that is not a dict");
    }

    void step();
    PickleValue tree(const Node &node, int depth)
    {
        if (depth > 200)
            fail("values nested deeper than 200 (or in a circle)");
        charge(1 + node.text.size() / 64 + node.tensor.shape.size());
        if (node.special == Node::Special::Storage)
            fail("a storage without its tensor");
        PickleValue value;
        value.kind = node.kind;
        value.integer = node.integer;
        value.number = node.number;
        value.text = node.text;
        value.tensor = node.tensor;
        for (const Node *item : node.items)
            value.items.push_back(tree(*item, depth + 1));
        return value;
    }

    std::string_view m_bytes;
    std::size_t m_at = 0;
    bool m_stopped = false;
    std::size_t m_charged = 0;
    std::vector<Node *> m_stack;
    std::vector<std::size_t> m_marks;
    std::unordered_map<std::uint64_t, Node *> m_memo;
    std::vector<std::unique_ptr<Node>> m_arena;
};

void Machine::step()
{
    const unsigned char opcode = static_cast<unsigned char>(take(1)[0]);
    switch (opcode) {
    case 0x80: if (number<std::uint8_t>() > 5) fail("a protocol newer than 5"); return;      // PROTO
    case 0x95: number<std::uint64_t>(); return;                                              // FRAME
    case '.': m_stopped = true; return;
    case '(': m_marks.push_back(m_stack.size()); return;
    case '0': pop(); return;
    case '1': popToMark(); return;
    case '2': { Node &node = pop(); push(node); push(node); return; }
    case 'N': push(make(Kind::None)); return;
    case 0x88: { Node &node = make(Kind::Bool); node.integer = 1; push(node); return; }
    case 0x89: push(make(Kind::Bool)); return;
    case 'I': {
        const std::string_view text = line();
        if (text == "00" || text == "01") {
            Node &node = make(Kind::Bool);
            node.integer = text == "01";
            push(node);
        } else {
            pushInteger(parseInteger(text));
        }
        return;
    }
    case 'L': pushInteger(parseInteger(line())); return;
    case 'J': pushInteger(number<std::int32_t>()); return;
    case 'K': pushInteger(number<std::uint8_t>()); return;
    case 'M': pushInteger(number<std::uint16_t>()); return;
    case 0x8a: pushInteger(longValue(take(number<std::uint8_t>()))); return;
    case 0x8b: {
        const auto length = number<std::int32_t>();
        if (length < 0)
            fail("a negative length");
        pushInteger(longValue(take(static_cast<std::uint64_t>(length))));
        return;
    }
    case 'G': {
        std::uint64_t bits = 0;
        for (const char byte : take(8))
            bits = bits << 8 | static_cast<unsigned char>(byte);
        Node &node = make(Kind::Float);
        node.number = std::bit_cast<double>(bits);
        push(node);
        return;
    }
    case 'F': {
        const std::string text(line());
        char *end = nullptr;
        Node &node = make(Kind::Float);
        node.number = std::strtod(text.c_str(), &end);
        if (text.empty() || end != text.c_str() + text.size())
            fail("a text that is not a number");
        push(node);
        return;
    }
    case 'X': pushText(Kind::String, take(number<std::uint32_t>())); return;
    case 0x8c: pushText(Kind::String, take(number<std::uint8_t>())); return;
    case 0x8d: pushText(Kind::String, take(number<std::uint64_t>())); return;
    case 'U': pushText(Kind::String, take(number<std::uint8_t>())); return;                  // Python 2's str
    case 'T': pushText(Kind::String, take(number<std::uint32_t>())); return;
    case 'C': pushText(Kind::Bytes, take(number<std::uint8_t>())); return;
    case 'B': pushText(Kind::Bytes, take(number<std::uint32_t>())); return;
    case 0x8e: pushText(Kind::Bytes, take(number<std::uint64_t>())); return;
    case ']': push(make(Kind::List)); return;
    case '}': push(make(Kind::Dict)); return;
    case ')': push(make(Kind::Tuple)); return;
    case 'l': pushItems(Kind::List, popToMark()); return;
    case 'd': pushItems(Kind::Dict, popToMark()); return;
    case 't': pushItems(Kind::Tuple, popToMark()); return;
    case 0x85: case 0x86: case 0x87: {
        std::vector<Node *> items(opcode - 0x84u);
        for (std::size_t at = items.size(); at-- > 0;)
            items[at] = &pop();
        pushItems(Kind::Tuple, std::move(items));
        return;
    }
    case 'a': { Node &item = pop(); addTo(Kind::List, {&item}); return; }
    case 'e': addTo(Kind::List, popToMark()); return;
    case 's': { Node &value = pop(); Node &key = pop(); addTo(Kind::Dict, {&key, &value}); return; }
    case 'u': addTo(Kind::Dict, popToMark()); return;
    case 'p': remember(static_cast<std::uint64_t>(parseInteger(line()))); return;
    case 'q': remember(number<std::uint8_t>()); return;
    case 'r': remember(number<std::uint32_t>()); return;
    case 0x94: remember(m_memo.size()); return;
    case 'g': recall(static_cast<std::uint64_t>(parseInteger(line()))); return;
    case 'h': recall(number<std::uint8_t>()); return;
    case 'j': recall(number<std::uint32_t>()); return;
    case 'c': { const std::string module(line()); pushGlobal(module + "." + std::string(line())); return; }
    case 0x93: {
        const std::string name = pop().text;
        const std::string module = pop().text;
        pushGlobal(module + "." + name);
        return;
    }
    case 'R': call(); return;
    case 'Q': persistent(); return;
    case 'b': build(); return;
    default: {
        char text[8];
        std::snprintf(text, sizeof text, "0x%02x", opcode);
        fail(std::string("the instruction ") + text + ", which a checkpoint does not need; nothing was run");
    }
    }
}

} // namespace

Result<PickleValue> readPickle(std::string_view bytes, const std::string &file)
{
    try {
        return Machine(bytes).run();
    } catch (const Failure &failure) {
        return Error(ExitCode::Checkpoint, "checkpoint.bad-pickle", file + ": cannot be read: " + failure.sentence, file);
    }
}

} // namespace stagewright::ckptfile
