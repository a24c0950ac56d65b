// A small, strict reader of comma-separated text (RFC 4180) that knows where it is. Arrow reads the data; this one reads headers, and finds the line
// that Arrow stumbled over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stagewright::table {

// Fed with bytes in order; hands out records one by one. One thread.
class CsvScanner
{
public:
    struct Record {
        std::vector<std::string> fields;
        std::int64_t line = 1;                         // physical line on which it starts, 1-based
        std::int64_t offset = 0;                       // byte offset of its start in the file
        bool unterminated = false;                     // the text ended inside quotes
    };

    explicit CsvScanner(char separator = ',') : m_separator(separator) {}

    // Calls found(record) for each record that is complete; found returns false to stop. Returns false when stopped. Blank lines are no records.
    template <class Found>
    bool feed(std::string_view bytes, Found &&found)
    {
        for (const char c : bytes) {
            if (push(c) && !emit(found))
                return false;
        }
        return true;
    }
    // After the last byte: a record without a final newline.
    template <class Found>
    bool finish(Found &&found)
    {
        m_record.unterminated = m_state == State::Quoted;
        if (m_field.empty() && m_record.fields.empty() && m_state == State::Start)
            return true;
        endField();
        return emit(found);
    }

private:
    enum class State { Start, Plain, Quoted, Closing };

    template <class Found>
    bool emit(Found &&found)
    {
        const bool blank = m_record.fields.size() == 1 && m_record.fields[0].empty() && !m_wasQuoted;
        const bool goOn = blank || found(m_record);
        m_record = {};
        m_record.line = m_line;
        m_record.offset = m_offset;
        m_wasQuoted = false;
        return goOn;
    }
    bool push(char c);                                 // true: m_record is complete
    void endField();

    char m_separator;
    State m_state = State::Start;
    bool m_afterReturn = false, m_wasQuoted = false;
    std::int64_t m_line = 1, m_offset = 0;
    std::string m_field;
    Record m_record;
};

} // namespace stagewright::table
