// Expected failures are returned: a value, or an Error that says in one sentence what happened, to what, and what to do.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include "core/base/exit_code.h"
#include "core/base/problem.h"
#include "core/base/text.h"

namespace stagewright {

struct Error {
    ExitCode exit = ExitCode::Other;   // what a program that ends because of this returns
    Problem problem;                   // problem.message is the sentence

    Error() = default;
    // code as in Problem::code; file and line where they are known. message may quote text from outside as it is (asSentence).
    Error(ExitCode exitCode, std::string code, std::string message, std::string file = {}, int line = 0)
        : exit(exitCode)
    {
        problem.code = std::move(code);
        problem.message = asSentence(std::move(message));
        problem.file = std::move(file);
        problem.line = line;
    }
    // A problem that was found, whole: its path, place and fix stay.
    Error(ExitCode exitCode, Problem found) : exit(exitCode), problem(std::move(found)) {}
    const std::string &message() const { return problem.message; }
    // The same error with what was being done in front: "resuming from X: …". Code and place stay.
    Error during(const std::string &what) const
    {
        Error copy = *this;
        copy.problem.message = asSentence(what + ": " + problem.message);
        return copy;
    }
};

// T must not be Error. Reading the value of a failed result is a programmer's mistake (assert).
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }
    T &value() & { assert(ok()); return std::get<0>(m_state); }
    const T &value() const & { assert(ok()); return std::get<0>(m_state); }
    T &&value() && { assert(ok()); return std::get<0>(std::move(m_state)); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }
    const Error &error() const { assert(!ok()); return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

// Success without a value: return Done{} or an Error.
struct Done {};
using Status = Result<Done>;

} // namespace stagewright
