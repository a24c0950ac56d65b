#include "core/checkpoint/transaction.h"

#include <cerrno>

#include "core/base/files.h"
#include "core/ckptfile/leftovers.h"

namespace stagewright::checkpoint {

namespace fs = std::filesystem;

namespace {

bool isThere(const fs::path &path)
{
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0;
}

} // namespace

Transaction::Transaction(ckptfile::FileSystem &files, fs::path temporary, fs::path target)
    : m_files(files), m_temporary(std::move(temporary)), m_target(std::move(target))
{
}

Status Transaction::flushParent()
{
    if (m_files.flushFolder(m_target.parent_path()) != 0)
        return ioError("flush the folder", m_target.parent_path(), errno);
    return Done{};
}

Status Transaction::commit()
{
    if (::lstat(m_temporary.c_str(), &m_identity) != 0)
        return ioError("read", m_temporary, errno);
    if (Status renamed = takeName(); !renamed)
        return renamed;
    Status flushed = flushParent();
    if (!flushed)
        giveNameBack();
    return flushed;
}

bool Transaction::holdsName() const
{
    struct stat now {};
    return ::lstat(m_target.c_str(), &now) == 0 && now.st_dev == m_identity.st_dev && now.st_ino == m_identity.st_ino;
}

Status Transaction::takeName()
{
    if (!isThere(m_target)) {
        if (m_files.renameFolder(m_temporary, m_target) != 0)
            return ioError("give its name to", m_target, errno);
        m_renamed = true;
        return Done{};
    }
    if (m_files.exchangeFolders(m_temporary, m_target) == 0) {
        m_replaced = m_temporary;
        m_renamed = true;
        return Done{};
    }
    if (errno != ENOSYS && errno != EINVAL)
        return ioError("replace", m_target, errno);
    const fs::path aside = ckptfile::replacedName(m_temporary.string());
    if (m_files.renameFolder(m_target, aside) != 0)
        return ioError("move aside", m_target, errno);
    if (m_files.renameFolder(m_temporary, m_target) != 0) {
        const int failed = errno;
        m_files.renameFolder(aside, m_target);
        return ioError("give its name to", m_target, failed);
    }
    m_replaced = aside;
    m_renamed = true;
    return Done{};
}

// The folder could not be flushed: what a power cut would leave is unknown, but both versions are whole, whichever carries the name.
void Transaction::giveNameBack()
{
    if (m_replaced == m_temporary) {
        m_renamed = m_files.exchangeFolders(m_temporary, m_target) != 0;
    } else if (m_files.renameFolder(m_target, m_temporary) == 0) {
        m_renamed = m_replaced && m_files.renameFolder(*m_replaced, m_target) != 0;
    }
    if (!m_renamed)
        m_replaced.reset();
}

Status Transaction::removeReplaced()
{
    if (!m_replaced)
        return Done{};
    if (Status kept = ckptfile::keepResults(m_files, *m_replaced, m_target); !kept)
        return kept;
    if (m_files.removeTree(*m_replaced) != 0)
        return ioError("remove the older version", *m_replaced, errno);
    m_replaced.reset();
    return Done{};
}

Status Transaction::rollBack()
{
    const fs::path damaged = ckptfile::damagedName(m_target);
    m_files.removeTree(damaged);
    if (m_files.renameFolder(m_target, damaged) != 0)
        return ioError("move aside", m_target, errno);
    if (m_replaced && m_files.renameFolder(*m_replaced, m_target) != 0)
        return ioError("put back", m_target, errno);
    m_replaced.reset();
    return flushParent();
}

void Transaction::discard()
{
    if (!m_renamed)
        m_files.removeTree(m_temporary);
}

} // namespace stagewright::checkpoint
