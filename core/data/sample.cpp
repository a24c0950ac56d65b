#include "core/data/sample.h"

#include <algorithm>
#include <array>
#include <optional>

namespace stagewright::data {

namespace {

using table::NumberColumn;

class SampleLoader
{
public:
    SampleLoader(const SourceOptions &options, std::int64_t row, const SampleShape &shape, Draws &draws, const SampleTarget &target, const media::Limits &limits)
        : m_options(options), m_row(row), m_shape(shape), m_draws(draws), m_target(target), m_limits(limits), m_path(options.table->mediaPath(row)),
          m_isImage(options.table->isImage(row)), m_cutout(options.table->cutout(row))
    {
    }

    Status run()
    {
        if (m_isImage && m_shape.frames != 1)
            return bad("is an image, and its bucket needs " + std::to_string(m_shape.frames) + " frames");
        auto report = decode(std::nullopt);
        // The file has fewer frames than it claims: choose again among those that are there.
        if (report && report->handedOver < m_shape.frames && report->reachedEnd)
            report = decode(report->trueFrames);
        if (!report)
            return report.error();
        if (m_failure)
            return *m_failure;
        if (report->handedOver < m_shape.frames)
            return bad("only " + std::to_string(report->handedOver) + " of " + std::to_string(m_shape.frames) + " frames can be decoded"
                       + (report->damage.empty() ? std::string() : " (" + report->damage + ")"));
        return Done{};
    }

private:
    Error bad(const std::string &reason) const { return Error(ExitCode::Data, "data.bad-sample", m_path.string() + ": " + reason, m_path.string()); }

    // trueFrames: how many frames a first attempt found, where the container's claim was wrong.
    Result<media::DecodeReport> decode(std::optional<std::int64_t> trueFrames)
    {
        m_done = 0;
        return media::decodeFrames(m_path, [this, trueFrames](const media::ClipInfo &info) { return choose(info, trueFrames); },
                                   [this](const media::FrameView &frame) { return take(frame); }, m_limits);
    }

    Result<std::vector<std::int64_t>> choose(const media::ClipInfo &info, std::optional<std::int64_t> trueFrames)
    {
        if (m_isImage || info.isImage) {
            if (m_shape.frames != 1)
                return bad("is a still image, and its bucket needs " + std::to_string(m_shape.frames) + " frames");
            return std::vector<std::int64_t>{0};
        }
        const std::int64_t inFile = trueFrames.value_or(info.frames);
        const std::int64_t total = framesToChooseFrom(inFile);
        const auto stride = strideFor(total);
        auto indices = stride ? chooseFrames(total, m_shape.frames, *stride, m_draws) : std::nullopt;
        if (!indices && m_options.rules.policy == table::DataPolicy::Keep)
            indices = stretchFrames(total, m_shape.frames);
        if (!indices) {
            const std::string claim = trueFrames && info.frames != inFile ? " (its container claims " + std::to_string(info.frames) + ")" : std::string();
            return bad("has " + std::to_string(total) + " frames" + (m_cutout.firstFrame > 0 ? " from frame " + std::to_string(m_cutout.firstFrame) + " on" : "") + claim + ", and its bucket needs " + std::to_string(m_shape.frames));
        }
        for (std::int64_t &index : *indices)
            index += m_cutout.firstFrame;
        return *indices;
    }

    // Of a clip that an annotation cut out of a longer file, only that part.
    std::int64_t framesToChooseFrom(std::int64_t inFile) const
    {
        if (m_cutout.firstFrame == 0)
            return inFile;
        const double length = m_options.table->number(NumberColumn::NumFrames, m_row);
        const std::int64_t behind = std::max<std::int64_t>(inFile - m_cutout.firstFrame, 0);
        return length >= 1 ? std::min(behind, static_cast<std::int64_t>(length)) : behind;
    }

    std::optional<std::int64_t> strideFor(std::int64_t total)
    {
        if (m_options.randSampleInterval > 0) {
            const std::int64_t most = std::min(total / m_shape.frames, m_options.randSampleInterval);
            return most >= 1 ? std::optional(m_draws.between(1, most)) : std::nullopt;
        }
        const auto rate = table::frameRateFor(m_options.rules, m_options.table->number(NumberColumn::Fps, m_row),
                                              m_options.table->number(NumberColumn::NumFrames, m_row), m_shape.frames);
        return rate ? std::optional(rate->stride) : std::nullopt;
    }

    bool take(const media::FrameView &whole)
    {
        const media::FrameView frame = cut(whole);
        if (!frame.pixels)
            return false;
        if (m_done == 0 && !begin(frame))
            return false;
        const std::int64_t plane = static_cast<std::int64_t>(m_fit->outHeight()) * m_fit->outWidth();
        m_fit->apply(frame, m_out + m_done * plane, m_shape.frames * plane);
        ++m_done;
        return true;
    }

    // The rectangle that an annotation asks for; null where the picture does not have it.
    media::FrameView cut(const media::FrameView &frame)
    {
        if (m_cutout.width == 0)
            return frame;
        if (m_cutout.left + m_cutout.width > frame.width || m_cutout.top + m_cutout.height > frame.height) {
            m_failure = bad("its crop reaches " + std::to_string(m_cutout.left + m_cutout.width) + "x" + std::to_string(m_cutout.top + m_cutout.height)
                            + ", and its pictures are " + std::to_string(frame.width) + "x" + std::to_string(frame.height));
            return {};
        }
        const std::size_t row = static_cast<std::size_t>(m_cutout.width) * 3;
        m_cutPixels.resize(row * static_cast<std::size_t>(m_cutout.height));
        for (int y = 0; y < m_cutout.height; ++y) {
            const std::uint8_t *from = frame.pixels + (static_cast<std::size_t>(m_cutout.top + y) * static_cast<std::size_t>(frame.width) + static_cast<std::size_t>(m_cutout.left)) * 3;
            std::copy(from, from + row, m_cutPixels.data() + row * static_cast<std::size_t>(y));
        }
        return {m_cutPixels.data(), m_cutout.width, m_cutout.height, frame.index};
    }

    bool begin(const media::FrameView &frame)
    {
        if (!m_fit) {                                  // a second decode keeps the first one's draws
            auto fit = PictureFit::choose(m_options.transform, m_isImage, frame.height, frame.width, m_shape.height, m_shape.width, m_draws);
            if (!fit) {
                m_failure = bad(fit.error().message());
                return false;
            }
            m_fit = *fit;
            m_out = m_target(m_fit->outHeight(), m_fit->outWidth());
            if (!m_out)
                m_failure = bad("its window has another size than the rest of its batch");
        }
        return m_out != nullptr;
    }

    const SourceOptions &m_options;
    std::int64_t m_row;
    SampleShape m_shape;
    Draws &m_draws;
    const SampleTarget &m_target;
    media::Limits m_limits;
    std::filesystem::path m_path;
    bool m_isImage;
    table::Cutout m_cutout;
    std::vector<std::uint8_t> m_cutPixels;
    std::optional<PictureFit> m_fit;
    float *m_out = nullptr;
    std::int64_t m_done = 0;                           // frames written
    std::optional<Error> m_failure;
};

} // namespace

Status loadSample(const SourceOptions &options, std::int64_t row, const SampleShape &shape, Draws &draws, const SampleTarget &target, const media::Limits &limits)
{
    return SampleLoader(options, row, shape, draws, target, limits).run();
}

table::Pcg64 sampleGenerator(std::int64_t seed, std::int64_t epoch, std::int64_t accessIndex, std::int64_t sample, std::int64_t attempt)
{
    const std::array<std::uint64_t, 5> entropy{static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(accessIndex),
                                               static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(attempt)};
    return table::Pcg64(entropy);
}

} // namespace stagewright::data
