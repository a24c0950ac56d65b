// Cuts a long JSON text into its objects without holding more than one of them: a list of objects, or one object after another (JSON Lines).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stagewright::table {

// Fed with bytes in order. One thread.
class JsonScanner
{
public:
    struct Object {
        std::string text;
        std::int64_t line = 1;                         // line on which it starts, 1-based
    };

    // Calls found(object) for each that is complete; found returns false to stop. Returns false when stopped or where the text is no such list (see problem()).
    template <class Found>
    bool feed(std::string_view bytes, Found &&found)
    {
        for (const char c : bytes) {
            const Step step = push(c);
            if (step == Step::Wrong)
                return false;
            if (step == Step::Complete) {
                const bool goOn = found(m_object);
                m_object.text.clear();
                if (!goOn)
                    return false;
            }
            m_line += c == '\n';
        }
        return true;
    }
    // After the last byte: says whether the text ended where it should; else problem() says what is missing.
    bool finish();
    const std::string &problem() const { return m_problem; }           // empty, or a sentence without the file's name
    std::int64_t line() const { return m_line; }

private:
    enum class Step { More, Complete, Wrong };
    Step push(char c);
    Step between(char c);

    Object m_object;
    std::string m_problem;
    std::int64_t m_line = 1;
    int m_depth = 0;                                   // of the object that is being read; 0: between objects
    bool m_inString = false, m_escaped = false;
    bool m_started = false, m_isList = false, m_listClosed = false;
};

} // namespace stagewright::table
