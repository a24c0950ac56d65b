// How a finished temporary folder becomes the checkpoint, and what happens to one of the same name that was there before.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "core/base/result.h"
#include "core/ckptfile/file_system.h"

namespace stagewright::checkpoint {

// At every moment, also after a kill between two calls, either the older or the newer version is whole on the disk; listings know the hidden
// name that the older one may have in between.
class Transaction
{
public:
    // temporary and target lie in the same folder.
    Transaction(ckptfile::FileSystem &files, std::filesystem::path temporary, std::filesystem::path target);

    Status commit();                         // rename (or exchange), flush the folder that holds both; after an error the older one has its name again
    // False where another program has removed the new folder since commit(), or given its name to another.
    bool holdsName() const;
    bool hasReplaced() const { return m_replaced.has_value(); }
    Status removeReplaced();                 // after the new one is verified; its eval/ goes to the new one
    Status rollBack();                       // the new one turned out damaged: put the older one back, or move the new one to NAME.damaged
    void discard();                          // removes the temporary folder as far as it can; does nothing once the renames have happened

private:
    Status takeName();
    void giveNameBack();
    Status flushParent();
    ckptfile::FileSystem &m_files;
    std::filesystem::path m_temporary, m_target;
    bool m_renamed = false;
    struct stat m_identity {};                           // of the new folder, whatever its name
    std::optional<std::filesystem::path> m_replaced;     // where the older version lies now
};

} // namespace stagewright::checkpoint
