#include <algorithm>
#include <cassert>

#include "core/media/decode_budget.h"
#include "core/media/describe.h"
#include "core/media/packet_index.h"
#include "core/media/rgb.h"

namespace stagewright::media {

namespace {

// Up to here it is cheaper to decode from the beginning than to look through the whole file for a place to seek to.
constexpr std::int64_t kSeekFrom = 64;

class FrameReader
{
public:
    FrameReader(Input &input, CodecPtr decoder, std::span<const std::int64_t> indices, const std::function<bool(const FrameView &)> &sink)
        : m_input(input), m_decoder(std::move(decoder)), m_indices(indices), m_sink(sink),
          m_converter(input.rotation(), input.isMirrored(), input.isImage()), m_packet(av_packet_alloc()), m_frame(av_frame_alloc())
    {
    }

    Result<DecodeReport> run()
    {
        if (m_indices.empty())
            return m_report;
        if (m_indices.front() >= kSeekFrom && !m_input.isImage()) {
            if (Status status = seek(); !status)
                return status.error();
        }
        while (!m_finished && m_input.read(m_packet.get()))
            send(m_packet.get());
        if (!m_finished)
            send(nullptr);
        if (m_input.patience().isOver())
            return m_input.error("data.timeout", {});
        conclude();
        if (m_report.trueFrames == 0) {
            return m_input.error("data.truncated", "no picture of it can be decoded"
                                 + (m_report.damage.empty() ? std::string() : " (" + m_report.damage + ")") + "; fetch or make it again");
        }
        return m_report;
    }

private:
    // To the last key frame before the first wanted one, if the packets tell where that is.
    Status seek()
    {
        auto index = scanPackets(m_input);
        if (!index)
            return index.error();
        const auto count = static_cast<std::int64_t>(index->frames.size());
        if (!index->timesKnown || m_indices.front() >= count)
            return Done{};
        std::int64_t key = m_indices.front();
        while (key > 0 && !index->frames[static_cast<std::size_t>(key)].key)
            --key;
        if (key == 0)
            return Done{};
        const std::int64_t time = index->frames[static_cast<std::size_t>(key)].time;
        if (avformat_seek_file(m_input.context(), m_input.stream()->index, INT64_MIN, time, time, AVSEEK_FLAG_BACKWARD) < 0)
            return m_input.rewind();
        m_index = std::move(*index);
        return Done{};
    }

    void send(AVPacket *packet)
    {
        const int code = avcodec_send_packet(m_decoder.get(), packet);
        if (code < 0 && code != AVERROR_EOF && code != AVERROR(EAGAIN))
            noteDamage(code);                          // a broken packet: go on with the next one
        while (!m_finished && avcodec_receive_frame(m_decoder.get(), m_frame.get()) == 0) {
            take(*m_frame);
            av_frame_unref(m_frame.get());
        }
        m_finished = m_finished || m_input.patience().isOver();
    }

    // Which frame of the file this is.
    std::int64_t numberOf(const AVFrame &frame)
    {
        if (m_index.frames.empty())
            return m_next++;
        const auto at = std::lower_bound(m_index.frames.begin(), m_index.frames.end(), frame.best_effort_timestamp,
                                         [](const PacketIndex::Entry &entry, std::int64_t time) { return entry.time < time; });
        return at - m_index.frames.begin();
    }

    void take(const AVFrame &frame)
    {
        const std::int64_t number = numberOf(frame);
        m_report.trueFrames = std::max(m_report.trueFrames, number + 1);
        for (; m_at < m_indices.size() && m_indices[m_at] < number; ++m_at) {         // only where a broken packet made a hole
            if (m_report.damage.empty())
                m_report.damage = "frames are missing in the middle";
        }
        while (m_at < m_indices.size() && m_indices[m_at] == number) {
            const FrameView view = m_converter.convert(frame, number);
            if (!view.pixels) {
                noteDamage(AVERROR_INVALIDDATA);
                m_finished = true;
                return;
            }
            m_report.width = view.width;
            m_report.height = view.height;
            ++m_report.handedOver;
            ++m_at;
            if (!m_sink(view)) {
                m_finished = true;
                return;
            }
        }
        m_finished = m_finished || m_at == m_indices.size();
    }

    void noteDamage(int code)
    {
        const std::string said = takeLastComplaint();
        if (m_report.damage.empty())
            m_report.damage = said.empty() ? ffmpegError(code) : said;
    }

    void conclude()
    {
        m_report.reachedEnd = m_at < m_indices.size() && !m_finished;
        if (m_report.damage.empty() && m_input.failure() != 0)
            noteDamage(m_input.failure());
    }

    Input &m_input;
    CodecPtr m_decoder;
    std::span<const std::int64_t> m_indices;
    const std::function<bool(const FrameView &)> &m_sink;
    RgbConverter m_converter;
    PacketPtr m_packet;
    FramePtr m_frame;
    PacketIndex m_index;                               // only after a seek
    std::size_t m_at = 0;                              // next wanted
    std::int64_t m_next = 0;                           // number of the next frame, counting from the beginning
    bool m_finished = false;
    DecodeReport m_report;
};

constexpr std::int64_t kFixedBytes = std::int64_t(4) << 20;           // tables, packets, the container's index
constexpr std::int64_t kKeptPictures = 17;             // H.264 and HEVC keep 16 to predict others from; no codec keeps more

// What decoding takes at most: the pictures that the decoder keeps, the one that is handed over, and its RGB forms.
std::int64_t bytesToDecode(const Input &input, const AVCodecContext &decoder)
{
    const std::int64_t pixels = std::int64_t(decoder.width) * decoder.height;
    const int known = decoder.pix_fmt == AV_PIX_FMT_NONE ? -1 : av_image_get_buffer_size(decoder.pix_fmt, decoder.width, decoder.height, 32);
    const std::int64_t picture = known > 0 ? known : pixels * 6;      // 16 bits, no subsampling
    const AVCodecDescriptor *codec = avcodec_descriptor_get(decoder.codec_id);
    const bool keepsNone = input.isImage() || (codec && (codec->props & AV_CODEC_PROP_INTRA_ONLY));
    const bool isTurned = input.rotation() != 0 || input.isMirrored();
    return kFixedBytes + picture * (keepsNone ? 1 : kKeptPictures + 1) + pixels * 3 * (isTurned ? 2 : 1);
}

Result<DecodeReport> readFrames(Input &input, std::span<const std::int64_t> indices, const std::function<bool(const FrameView &)> &sink)
{
    assert(std::is_sorted(indices.begin(), indices.end()));
    auto decoder = openDecoder(input);
    if (!decoder)
        return decoder.error();
    DecodeBudget *budget = input.patience().limits().budget;
    auto lease = budget ? budget->take(bytesToDecode(input, **decoder), input.path(), input.patience().limits()) : Result<DecodeBudget::Lease>(DecodeBudget::Lease());
    if (!lease)
        return lease.error();
    return FrameReader(input, std::move(*decoder), indices, sink).run();
}

} // namespace

Result<DecodeReport> decodeFrames(const std::filesystem::path &path, std::span<const std::int64_t> indices,
                                  const std::function<bool(const FrameView &)> &sink, const Limits &limits)
{
    auto input = Input::open(path, limits);
    if (!input)
        return input.error();
    return readFrames(**input, indices, sink);
}

Result<DecodeReport> decodeFrames(const std::filesystem::path &path, const ChooseFrames &choose,
                                  const std::function<bool(const FrameView &)> &sink, const Limits &limits)
{
    auto input = Input::open(path, limits);
    if (!input)
        return input.error();
    const auto info = describe(**input, Count::IfNoClaim);
    if (!info)
        return info.error();
    const auto indices = choose(*info);
    if (!indices)
        return indices.error();
    return readFrames(**input, *indices, sink);
}

Result<DecodedClip> decode(const std::filesystem::path &path, std::span<const std::int64_t> indices, const Limits &limits)
{
    DecodedClip clip;
    const auto report = decodeFrames(path, indices, [&clip](const FrameView &frame) {
        const std::size_t size = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height) * 3;
        clip.pixels.insert(clip.pixels.end(), frame.pixels, frame.pixels + size);
        clip.indices.push_back(frame.index);
        return true;
    }, limits);
    if (!report)
        return report.error();
    clip.report = *report;
    clip.width = report->width;
    clip.height = report->height;
    return clip;
}

} // namespace stagewright::media
