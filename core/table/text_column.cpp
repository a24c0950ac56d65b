#include "core/table/text_column.h"

#include <cerrno>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/paths.h"

namespace stagewright::table {

// A file without a name: it disappears with its last user, also after a crash.
struct TextColumn::Spill {
    int fd = -1;
    std::uint64_t written = 0;
    void *mapped = nullptr;

    ~Spill()
    {
        if (mapped)
            ::munmap(mapped, written);
        if (fd >= 0)
            ::close(fd);
    }
};

TextColumn::TextColumn(std::int64_t memoryLimit) : m_limit(memoryLimit) {}
TextColumn::~TextColumn() = default;

TextColumn::TextColumn(TextColumn &&other) noexcept { *this = std::move(other); }

TextColumn &TextColumn::operator=(TextColumn &&other) noexcept
{
    m_limit = other.m_limit;
    m_memory = std::move(other.m_memory);
    m_ends = std::move(other.m_ends);
    m_spill = std::move(other.m_spill);
    m_data = m_spill ? static_cast<const char *>(m_spill->mapped) : m_memory.data();   // a short string's bytes move with it
    return *this;
}

Status TextColumn::append(std::string_view text)
{
    m_memory.append(text);
    m_ends.push_back((m_ends.empty() ? 0 : m_ends.back()) + text.size());
    if (static_cast<std::int64_t>(m_memory.size()) > m_limit)
        return spill();
    return Done{};
}

Status TextColumn::spill()
{
    if (!m_spill) {
        std::string name = (cacheFolder() / "table-XXXXXX").string();
        auto file = std::make_unique<Spill>();
        file->fd = ::mkstemp(name.data());
        if (file->fd < 0)
            return ioError("cannot keep the texts of a large table in", name, errno);
        ::unlink(name.c_str());
        m_spill = std::move(file);
    }
    for (std::size_t at = 0; at < m_memory.size();) {
        const ssize_t wrote = ::write(m_spill->fd, m_memory.data() + at, m_memory.size() - at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return ioError("cannot keep the texts of a large table in", cacheFolder(), errno);
        at += static_cast<std::size_t>(wrote);
        m_spill->written += static_cast<std::uint64_t>(wrote);
    }
    m_memory.clear();
    return Done{};
}

Status TextColumn::finish()
{
    m_ends.shrink_to_fit();
    if (!m_spill) {
        m_memory.shrink_to_fit();
        m_data = m_memory.data();
        return Done{};
    }
    if (Status status = spill(); !status)
        return status;
    m_memory.shrink_to_fit();
    void *mapped = ::mmap(nullptr, m_spill->written, PROT_READ, MAP_PRIVATE, m_spill->fd, 0);
    if (mapped == MAP_FAILED)
        return ioError("cannot map the texts of a large table from", cacheFolder(), errno);
    m_spill->mapped = mapped;
    m_data = static_cast<const char *>(mapped);
    return Done{};
}

} // namespace stagewright::table
