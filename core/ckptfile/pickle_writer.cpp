#include "core/ckptfile/pickle_writer.h"

#include <bit>
#include <cassert>
#include <map>

namespace stagewright::ckptfile {

namespace {

void appendLittle(std::string &out, std::uint64_t value, int bytes)
{
    for (int at = 0; at < bytes; ++at)
        out += static_cast<char>(value >> (8 * at) & 0xff);
}

// BININT1, BININT2, BININT, or LONG1 with as few bytes as the sign allows.
std::string integerOpcode(std::int64_t value)
{
    std::string out;
    if (value >= 0 && value <= 0xff) {
        out += 'K';
        appendLittle(out, static_cast<std::uint64_t>(value), 1);
    } else if (value >= 0 && value <= 0xffff) {
        out += 'M';
        appendLittle(out, static_cast<std::uint64_t>(value), 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        out += 'J';
        appendLittle(out, static_cast<std::uint64_t>(value), 4);
    } else {
        int bytes = 8;
        // The top byte may go while the next one carries the same sign.
        while (bytes > 1 && (value >> (8 * (bytes - 1) - 1) == 0 || value >> (8 * (bytes - 1) - 1) == -1))
            --bytes;
        out += static_cast<char>(0x8a);
        appendLittle(out, static_cast<std::uint64_t>(bytes), 1);
        appendLittle(out, static_cast<std::uint64_t>(value), bytes);
    }
    return out;
}

class Writer
{
public:
    std::string out;

    void write(const PickleValue &value)
    {
        switch (value.kind) {
        case PickleValue::Kind::None: out += 'N'; return;
        case PickleValue::Kind::Bool: out += static_cast<char>(value.integer ? 0x88 : 0x89); return;
        case PickleValue::Kind::Int: out += integerOpcode(value.integer); return;
        case PickleValue::Kind::Float: writeFloat(value.number); return;
        case PickleValue::Kind::String: writeString(value.text); return;
        case PickleValue::Kind::List: writeList(value); return;
        case PickleValue::Kind::Tuple: writeTuple(value); return;
        case PickleValue::Kind::Dict: writeDict(value); return;
        default: assert(false && "only plain values are written");
        }
    }

private:
    void put()
    {
        if (m_next < 256) {
            out += 'q';
            appendLittle(out, m_next, 1);
        } else {
            out += 'r';
            appendLittle(out, m_next, 4);
        }
        ++m_next;
    }
    void writeFloat(double number)
    {
        out += 'G';
        const auto bits = std::bit_cast<std::uint64_t>(number);
        for (int at = 7; at >= 0; --at)
            out += static_cast<char>(bits >> (8 * at) & 0xff);
    }
    void writeString(const std::string &text)
    {
        out += 'X';
        appendLittle(out, text.size(), 4);
        out += text;
        put();
    }
    // Python's pickler sends batches of at most 1000; a single one goes without a mark.
    void writeBatches(const PickleValue &value, std::size_t width, char one, char many)
    {
        const std::size_t count = value.items.size() / width;
        for (std::size_t at = 0; at < count; at += 1000) {
            const std::size_t size = std::min<std::size_t>(1000, count - at);
            if (size > 1)
                out += '(';
            for (std::size_t index = at * width; index < (at + size) * width; ++index)
                write(value.items[index]);
            out += size > 1 ? many : one;
        }
    }
    void writeList(const PickleValue &value)
    {
        out += ']';
        put();
        writeBatches(value, 1, 'a', 'e');
    }
    void writeDict(const PickleValue &value)
    {
        out += '}';
        put();
        writeBatches(value, 2, 's', 'u');
    }
    void writeTuple(const PickleValue &value)
    {
        if (value.items.empty()) {
            out += ')';
            return;
        }
        if (value.items.size() > 3)
            out += '(';
        for (const PickleValue &item : value.items)
            write(item);
        out += value.items.size() > 3 ? 't' : static_cast<char>(0x84 + value.items.size());
        put();
    }

    std::uint64_t m_next = 0;
};

} // namespace

std::string pickle2(const PickleValue &value)
{
    Writer writer;
    writer.out = "\x80\x02";
    writer.write(value);
    return writer.out + ".";
}

std::string pickledInt4(std::int64_t value)
{
    const std::string body = integerOpcode(value) + ".";
    std::string out = "\x80\x04";
    if (body.size() >= 4) {                  // Python frames what is at least 4 bytes long
        out += static_cast<char>(0x95);
        appendLittle(out, body.size(), 8);
    }
    return out + body;
}

} // namespace stagewright::ckptfile
