// The zip that torch.save writes for plain values, with stored entries, fixed times and data aligned to 64 bytes as torch does.

#include <vector>

#include "core/ckptfile/hash.h"
#include "core/ckptfile/pickle_writer.h"
#include "core/ckptfile/torch_archive.h"

namespace stagewright::ckptfile {

namespace {

void little(std::string &out, std::uint64_t value, int bytes)
{
    for (int at = 0; at < bytes; ++at)
        out += static_cast<char>(value >> (8 * at) & 0xff);
}

constexpr std::uint64_t kUtf8Names = 1 << 11;

class ZipBuilder
{
public:
    void add(const std::string &name, const std::string &content)
    {
        const std::uint64_t offset = m_out.size();
        const std::size_t unpadded = m_out.size() + 30 + name.size() + 4;
        const std::size_t padding = (64 - unpadded % 64) % 64;
        little(m_out, 0x04034b50, 4);
        fixedFields(m_out, content);
        little(m_out, name.size(), 2);
        little(m_out, padding + 4, 2);
        m_out += name;
        m_out += "FB";                       // the padding field's name in torch's own archives
        little(m_out, padding, 2);
        m_out.append(padding, 'Z');
        m_out += content;
        little(m_directory, 0x02014b50, 4);
        little(m_directory, 0, 2);           // made by
        fixedFields(m_directory, content);
        little(m_directory, name.size(), 2);
        little(m_directory, 0, 2);           // no extra field
        little(m_directory, 0, 2);           // no comment
        little(m_directory, 0, 2);           // disk
        little(m_directory, 0, 2);           // internal attributes
        little(m_directory, 0, 4);           // external attributes
        little(m_directory, offset, 4);
        m_directory += name;
        ++m_count;
    }
    std::string finished() const
    {
        std::string out = m_out + m_directory;
        little(out, 0x06054b50, 4);
        little(out, 0, 4);
        little(out, m_count, 2);
        little(out, m_count, 2);
        little(out, m_directory.size(), 4);
        little(out, m_out.size(), 4);
        little(out, 0, 2);
        return out;
    }

private:
    // Version needed, flags, method (stored), time, date, checksum, both sizes.
    static void fixedFields(std::string &out, const std::string &content)
    {
        little(out, 20, 2);
        little(out, kUtf8Names, 2);
        little(out, 0, 2);
        little(out, 0, 2);
        little(out, 0x21, 2);                // 1980-01-01: equal content, equal bytes
        little(out, crc32(content), 4);
        little(out, content.size(), 4);
        little(out, content.size(), 4);
    }
    std::string m_out, m_directory;
    std::uint64_t m_count = 0;
};

} // namespace

std::string torchArchive(const PickleValue &value, const std::string &stem)
{
    const std::string pickle = pickle2(value);
    ZipBuilder zip;
    zip.add(stem + "/data.pkl", pickle);
    zip.add(stem + "/.format_version", "1");
    zip.add(stem + "/.storage_alignment", "64");
    zip.add(stem + "/byteorder", "little");
    zip.add(stem + "/version", "3\n");
    // torch writes a hash of the records here; readers only look that it exists.
    std::string id = std::to_string(crc32(pickle)) + std::to_string(crc32(stem));
    zip.add(stem + "/.data/serialization_id", std::string(40 - std::min<std::size_t>(40, id.size()), '0') + id);
    return zip.finished();
}

} // namespace stagewright::ckptfile
