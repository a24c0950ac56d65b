#include "core/table/json_scanner.h"

namespace stagewright::table {

JsonScanner::Step JsonScanner::between(char c)
{
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return Step::More;
    if (c == '[' && !m_started) {
        m_started = m_isList = true;
        return Step::More;
    }
    if (c == ']' && m_isList && !m_listClosed) {
        m_listClosed = true;
        return Step::More;
    }
    if (c == ',' && m_started && !m_listClosed)
        return Step::More;
    if (c == '{' && !m_listClosed) {
        m_started = true;
        m_depth = 1;
        m_object.line = m_line;
        m_object.text = "{";
        return Step::More;
    }
    m_problem = m_listClosed ? "there is more text behind the end of the list"
                             : "an annotation must be an object in braces, but here is \"" + std::string(1, c) + "\"";
    return Step::Wrong;
}

JsonScanner::Step JsonScanner::push(char c)
{
    if (m_depth == 0)
        return between(c);
    m_object.text += c;
    if (m_inString) {
        if (m_escaped)
            m_escaped = false;
        else if (c == '\\')
            m_escaped = true;
        else if (c == '"')
            m_inString = false;
        return Step::More;
    }
    if (c == '"')
        m_inString = true;
    else if (c == '{' || c == '[')
        ++m_depth;
    else if (c == '}' || c == ']')
        --m_depth;
    return m_depth == 0 ? Step::Complete : Step::More;
}

bool JsonScanner::finish()
{
    if (m_depth > 0) {
        m_line = m_object.line;
        m_problem = "the annotation that starts here never ends: the file was cut off, or a quote or brace is missing";
    } else if (m_isList && !m_listClosed) {
        m_problem = "the list never ends (no \"]\"): the file was cut off";
    }
    return m_problem.empty();
}

} // namespace stagewright::table
