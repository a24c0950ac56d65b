#include "core/ckptfile/zip_reader.h"

#include <algorithm>
#include <cstring>

#include "core/ckptfile/hash.h"

namespace stagewright::ckptfile {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;

template <class Number>
Number at(std::string_view bytes, std::size_t offset)
{
    Number value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

Error damaged(const InputFile &file, const std::string &what, const char *code = "checkpoint.bad-archive")
{
    return Error(ExitCode::Checkpoint, code, file.path().string() + ": " + what, file.path().string());
}

struct Directory {
    std::uint64_t count = 0, bytes = 0, offset = 0;
};

Result<Directory> findDirectory(const InputFile &file)
{
    const std::int64_t tailBytes = std::min<std::int64_t>(file.size(), 22 + 65535 + 20);
    auto tail = file.textAt(file.size() - tailBytes, tailBytes);
    if (!tail)
        return tail.error();
    for (std::int64_t where = tailBytes - 22; where >= 0; --where) {
        if (at<std::uint32_t>(*tail, static_cast<std::size_t>(where)) != kEnd)
            continue;
        const std::string_view end = std::string_view(*tail).substr(static_cast<std::size_t>(where));
        Directory directory{at<std::uint16_t>(end, 10), at<std::uint32_t>(end, 12), at<std::uint32_t>(end, 16)};
        if (directory.count != 0xffff && directory.bytes != 0xffffffff && directory.offset != 0xffffffff)
            return directory;
        if (where < 20 || at<std::uint32_t>(*tail, static_cast<std::size_t>(where - 20)) != kLocator64)
            return directory;
        const auto offset64 = at<std::uint64_t>(*tail, static_cast<std::size_t>(where - 12));
        if (offset64 > static_cast<std::uint64_t>(file.size()) || static_cast<std::uint64_t>(file.size()) - offset64 < 56)
            return damaged(file, "the archive's end record points outside the file");
        auto end64 = file.textAt(static_cast<std::int64_t>(offset64), 56);
        if (!end64)
            return end64.error();
        if (at<std::uint32_t>(*end64, 0) != kEnd64)
            return damaged(file, "the archive's 64-bit end record is damaged");
        return Directory{at<std::uint64_t>(*end64, 32), at<std::uint64_t>(*end64, 40), at<std::uint64_t>(*end64, 48)};
    }
    return damaged(file, "the archive has no end record; the file was cut short (an interrupted copy, download or save), make it again", "checkpoint.truncated");
}

// Sizes that do not fit 32 bits stand in the extra field 0x0001, in the order in which the fields overflowed.
void apply64(std::string_view extra, std::uint64_t &size, std::uint64_t &packed, std::uint64_t &offset)
{
    while (extra.size() >= 4) {
        const auto id = at<std::uint16_t>(extra, 0);
        const auto length = at<std::uint16_t>(extra, 2);
        if (extra.size() - 4 < length)
            return;
        std::string_view field = extra.substr(4, length);
        if (id == 1) {
            for (std::uint64_t *value : {&size, &packed, &offset}) {
                if (*value == 0xffffffff && field.size() >= 8) {
                    *value = at<std::uint64_t>(field, 0);
                    field.remove_prefix(8);
                }
            }
        }
        extra.remove_prefix(4u + length);
    }
}

} // namespace

Result<ZipReader> ZipReader::open(std::shared_ptr<const InputFile> file)
{
    ZipReader reader;
    reader.m_file = std::move(file);
    const InputFile &input = *reader.m_file;
    const auto size = static_cast<std::uint64_t>(input.size());
    if (size < 22)
        return damaged(input, "the file has " + std::to_string(size) + " bytes, an archive has at least 22; it was cut short or never written", "checkpoint.truncated");
    auto directory = findDirectory(input);
    if (!directory)
        return directory.error();
    if (directory->offset > size || directory->bytes > size - directory->offset || directory->count > directory->bytes / 46)
        return damaged(input, "the archive's directory lies outside the file; it was cut short", "checkpoint.truncated");
    auto text = input.textAt(static_cast<std::int64_t>(directory->offset), static_cast<std::int64_t>(directory->bytes));
    if (!text)
        return text.error();
    std::string_view rest = *text;
    for (std::uint64_t index = 0; index < directory->count; ++index) {
        if (rest.size() < 46 || at<std::uint32_t>(rest, 0) != kCentral)
            return damaged(input, "entry " + std::to_string(index) + " of the archive's directory is damaged");
        const auto flags = at<std::uint16_t>(rest, 8), method = at<std::uint16_t>(rest, 10);
        std::uint64_t packed = at<std::uint32_t>(rest, 20), bytes = at<std::uint32_t>(rest, 24), local = at<std::uint32_t>(rest, 42);
        const std::size_t nameBytes = at<std::uint16_t>(rest, 28), extraBytes = at<std::uint16_t>(rest, 30), commentBytes = at<std::uint16_t>(rest, 32);
        if (rest.size() - 46 < nameBytes + extraBytes + commentBytes)
            return damaged(input, "entry " + std::to_string(index) + " of the archive's directory is damaged");
        ZipEntry entry;
        entry.name = rest.substr(46, nameBytes);
        entry.crc = at<std::uint32_t>(rest, 16);
        apply64(rest.substr(46 + nameBytes, extraBytes), bytes, packed, local);
        if (method != 0 || (flags & 1) != 0 || packed != bytes)
            return damaged(input, "the entry \"" + entry.name + "\" is compressed or encrypted; torch.save writes plain entries");
        if (local > size || size - local < 30)
            return damaged(input, "the entry \"" + entry.name + "\" lies outside the file", "checkpoint.truncated");
        auto head = input.textAt(static_cast<std::int64_t>(local), 30);
        if (!head)
            return head.error();
        const std::uint64_t data = local + 30 + at<std::uint16_t>(*head, 26) + at<std::uint16_t>(*head, 28);
        if (at<std::uint32_t>(*head, 0) != kLocal || data > size || bytes > size - data)
            return damaged(input, "the entry \"" + entry.name + "\" lies outside the file or its head is damaged", "checkpoint.truncated");
        entry.offset = static_cast<std::int64_t>(data);
        entry.bytes = static_cast<std::int64_t>(bytes);
        reader.m_entries.push_back(std::move(entry));
        rest.remove_prefix(46 + nameBytes + extraBytes + commentBytes);
    }
    return reader;
}

const ZipEntry *ZipReader::find(std::string_view name) const
{
    const auto found = std::find_if(m_entries.begin(), m_entries.end(), [&](const ZipEntry &entry) { return entry.name == name; });
    return found == m_entries.end() ? nullptr : &*found;
}

Result<std::string> ZipReader::read(const ZipEntry &entry) const
{
    auto text = m_file->textAt(entry.offset, entry.bytes);
    if (!text)
        return text.error();
    if (crc32(*text) != entry.crc)
        return damaged(*m_file, "the entry \"" + entry.name + "\" does not match its checksum; the file is damaged");
    return text;
}

} // namespace stagewright::ckptfile
