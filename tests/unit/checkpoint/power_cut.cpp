#include "power_cut.h"

#include <cerrno>

namespace stagewright::tests {

namespace fs = std::filesystem;

bool PowerCut::isDead()
{
    const bool dead = cutAt >= 0 && m_calls >= cutAt;
    ++m_calls;
    if (dead)
        errno = EIO;
    return dead;
}

int PowerCut::createFile(const fs::path &path, bool direct)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    const int file = FileSystem::createFile(path, direct);
    if (file >= 0) {
        m_open[file] = path;
        m_soft.insert(path);
        m_softNames.insert(path);
    }
    return file;
}

ssize_t PowerCut::writeAt(int file, const void *data, std::size_t bytes, off_t offset)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    m_soft.insert(m_open[file]);
    return FileSystem::writeAt(file, data, bytes, offset);
}

int PowerCut::truncateFile(int file, off_t bytes)
{
    const std::lock_guard lock(m_mutex);
    return isDead() ? -1 : FileSystem::truncateFile(file, bytes);
}

int PowerCut::flushFile(int file)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    m_soft.erase(m_open[file]);
    return 0;                                    // the real flush is not needed: the cut is simulated
}

int PowerCut::closeFile(int file)
{
    const std::lock_guard lock(m_mutex);
    const bool dead = isDead();
    FileSystem::closeFile(file);
    return dead ? -1 : 0;
}

int PowerCut::flushFolder(const fs::path &path)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    std::erase_if(m_softNames, [&](const fs::path &name) { return name.parent_path() == path; });
    std::erase_if(m_softRenames, [&](const Rename &rename) { return rename.to.parent_path() == path; });
    return 0;
}

int PowerCut::makeFolder(const fs::path &path)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    const int made = FileSystem::makeFolder(path);
    if (made == 0)
        m_softNames.insert(path);
    return made;
}

// What lies below a renamed folder is known under its new path from then on.
void PowerCut::follow(const fs::path &from, const fs::path &to, bool exchange)
{
    const auto moved = [&](const fs::path &path) {
        const auto under = [&](const fs::path &root, const fs::path &other) -> fs::path {
            const fs::path relative = path.lexically_relative(root);
            return relative.empty() || *relative.begin() == ".." ? fs::path() : relative == "." ? other : other / relative;
        };
        if (fs::path there = under(from, to); !there.empty())
            return there;
        if (exchange) {
            if (fs::path back = under(to, from); !back.empty())
                return back;
        }
        return path;
    };
    for (auto *names : {&m_soft, &m_softNames}) {
        std::set<fs::path> renamed;
        for (const fs::path &path : *names)
            renamed.insert(moved(path));
        *names = std::move(renamed);
    }
}

int PowerCut::renameFolder(const fs::path &from, const fs::path &to)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    const int renamed = FileSystem::renameFolder(from, to);
    if (renamed == 0) {
        // The name under which it was made is not the one that can be lost any more; the rename can.
        follow(from, to, false);
        m_softNames.erase(to);
        m_softRenames.push_back({from, to, false});
    }
    return renamed;
}

int PowerCut::exchangeFolders(const fs::path &a, const fs::path &b)
{
    const std::lock_guard lock(m_mutex);
    if (isDead())
        return -1;
    const int exchanged = FileSystem::exchangeFolders(a, b);
    if (exchanged == 0) {
        follow(a, b, true);
        m_softRenames.push_back({a, b, true});
    }
    return exchanged;
}

int PowerCut::removeTree(const fs::path &path)
{
    const std::lock_guard lock(m_mutex);
    return isDead() ? -1 : FileSystem::removeTree(path);
}

void PowerCut::lose(std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::error_code ignored;
    for (const fs::path &path : m_soft) {
        const auto size = fs::file_size(path, ignored);
        if (!ignored && random() % 2)
            fs::resize_file(path, size > 0 ? random() % size : 0, ignored);
    }
    for (const fs::path &path : m_softNames) {
        if (random() % 2)
            fs::remove_all(path, ignored);
    }
    for (auto rename = m_softRenames.rbegin(); rename != m_softRenames.rend(); ++rename) {
        if (random() % 2)
            continue;
        if (rename->exchange)
            FileSystem::exchangeFolders(rename->from, rename->to);
        else if (!fs::exists(rename->from, ignored) && fs::exists(rename->to, ignored))
            FileSystem::renameFolder(rename->to, rename->from);
    }
}

} // namespace stagewright::tests
