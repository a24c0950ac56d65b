#include "core/table/csv_scanner.h"

namespace stagewright::table {

void CsvScanner::endField()
{
    m_record.fields.push_back(std::move(m_field));
    m_field.clear();
    m_state = State::Start;
}

bool CsvScanner::push(char c)
{
    ++m_offset;
    const bool lineFeedOfPair = c == '\n' && m_afterReturn;            // "\r\n" is one line end
    m_afterReturn = c == '\r';
    if ((c == '\n' || c == '\r') && !lineFeedOfPair)
        ++m_line;

    if (m_state == State::Quoted) {
        if (c == '"')
            m_state = State::Closing;
        else
            m_field += c;
        return false;
    }
    if (lineFeedOfPair) {                              // the record ended at '\r'
        m_record.offset = m_offset;
        return false;
    }
    if (c == '\n' || c == '\r') {
        endField();
        return true;
    }
    if (c == m_separator) {
        endField();
        return false;
    }
    if (c == '"' && m_state == State::Start) {
        m_state = State::Quoted;
        m_wasQuoted = true;
        return false;
    }
    if (c == '"' && m_state == State::Closing) {
        m_field += c;
        m_state = State::Quoted;
        return false;
    }
    m_field += c;
    if (m_state != State::Closing)
        m_state = State::Plain;
    return false;
}

} // namespace stagewright::table
