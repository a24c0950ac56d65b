#include "core/events/json_out.h"

namespace stagewright::events {

namespace {

// Length of the well-formed UTF-8 sequence at the beginning, 0 where there is none.
std::size_t sequenceLength(std::string_view text)
{
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const auto follows = [&](std::size_t at, unsigned low = 0x80, unsigned high = 0xBF) { return byte(at) >= low && byte(at) <= high; };
    const unsigned lead = byte(0);
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return follows(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF)           // no overlong forms, no surrogates
        return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    if (lead >= 0xF0 && lead <= 0xF4)
        return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
    return 0;
}

bool isPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F && c != '"' && c != '\\'; }

} // namespace

void JsonOut::text(std::string_view value)
{
    static constexpr char hex[] = "0123456789abcdef";
    m_out += '"';
    while (!value.empty()) {
        std::size_t plain = 0;
        while (plain < value.size() && isPlain(value[plain]))
            ++plain;
        m_out.append(value.substr(0, plain));
        value.remove_prefix(plain);
        if (value.empty())
            break;
        const auto c = static_cast<unsigned char>(value.front());
        std::size_t taken = 1;
        if (c == '"' || c == '\\') {
            m_out += '\\';
            m_out += value.front();
        } else if (c == '\n') {
            m_out += "\\n";
        } else if (c < 0x20 || c == 0x7F) {
            m_out += "\\u00";
            m_out += hex[c >> 4];
            m_out += hex[c & 15];
        } else if (const std::size_t length = sequenceLength(value)) {
            m_out.append(value.substr(0, length));
            taken = length;
        } else {
            m_out += "\xEF\xBF\xBD";
        }
        value.remove_prefix(taken);
    }
    m_out += '"';
}

} // namespace stagewright::events
