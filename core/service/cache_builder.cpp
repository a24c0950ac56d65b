#include "core/service/cache_builder.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>

#include "core/base/host.h"
#include "core/cache/wanted.h"
#include "core/config/stage.h"
#include "core/data/cached.h"
#include "core/data/sample.h"
#include "core/data/source.h"
#include "core/memory/device.h"
#include "core/model/autoencoder.h"
#include "core/model/text_encoder.h"
#include "core/train/settings.h"

namespace stagewright::service {

namespace {

constexpr std::size_t kRefusalsTold = 100, kNotesTold = 20, kTextsAtOnce = 16;
constexpr double kTellSeconds = 0.25;

ckptfile::DType fileType(at::ScalarType type)
{
    switch (type) {
    case at::kHalf: return ckptfile::DType::F16;
    case at::kBFloat16: return ckptfile::DType::BF16;
    case at::kDouble: return ckptfile::DType::F64;
    default: return ckptfile::DType::F32;
    }
}

cache::Entry entryOf(const torch::Tensor &tensor)
{
    const auto plain = tensor.to(torch::kCPU).contiguous();
    cache::Entry entry{fileType(plain.scalar_type()), plain.sizes().vec(), {}};
    entry.bytes.assign(static_cast<const char *>(plain.data_ptr()), plain.nbytes());
    return entry;
}

class CacheBuilder
{
public:
    CacheBuilder(const data::SourceOptions &options, bool check, const std::atomic<bool> &stop, const CacheTold &told)
        : m_options(options), m_store(*options.cached.store), m_check(check), m_stop(stop), m_told(told)
    {
    }

    // Encoders that are needed but cannot be built are an error before anything is made.
    Status makeEncoders(const config::Stage &stage, const train::Settings &settings, torch::Device device)
    {
        if (m_store.hasLatents()) {
            auto autoencoder = model::makeAutoencoder(stage, device, settings.compat == train::Compat::OpenSora ? settings.dtype : torch::kFloat32);
            if (!autoencoder)
                return autoencoder.error();
            m_autoencoder = std::move(*autoencoder);
        }
        auto tokens = model::makeTokenEncoder(stage, device, settings.dtype), pooled = model::makePooledEncoder(stage, device, settings.dtype);
        if (!tokens || !pooled)
            return (tokens ? pooled : tokens).error();
        m_tokens = std::move(*tokens);
        m_pooled = std::move(*pooled);
        m_device = device;
        return Done{};
    }

    Result<events::CacheProgress> build(const cache::Wanted &wanted)
    {
        m_progress.wanted = wanted.count();
        clips(wanted.clips);
        texts(wanted.texts);
        if (m_failure)
            return *m_failure;
        if (m_stop)
            return Error(ExitCode::Stopped, "data.stopped", "stopped as asked: " + std::to_string(m_progress.present + m_progress.encoded) + " of " + std::to_string(m_progress.wanted)
                                                                + " entries are there; building again goes on from there");
        m_progress.finished = true;
        return m_progress;
    }

private:
    bool isOver() const { return m_stop || m_failed; }

    void clips(const std::vector<cache::WantedClip> &clips)
    {
        std::atomic<std::size_t> next{0};
        std::vector<std::jthread> threads;
        for (int i = 0; i < std::max(m_options.workers, 1); ++i) {
            threads.emplace_back([&] {
                torch::NoGradGuard noGrad;
                for (std::size_t at = next++; at < clips.size() && !isOver(); at = next++)
                    clip(clips[at]);
            });
        }
    }

    void clip(const cache::WantedClip &clip)
    {
        const auto key = m_store.latents(clip.row, clip.shape);
        if (!key)
            return refuse(nullptr, clip.row, key.error());
        if (isThere(*key))
            return;
        if (const auto refused = m_store.refusal(*key))
            return refuse(nullptr, clip.row, Error(ExitCode::Data, "data.bad-sample", refused->reason));
        auto video = decoded(clip);
        if (!video)
            return video.error().problem.code == "data.stopped" ? void() : refuse(video.error().problem.code == "data.timeout" ? nullptr : &*key, clip.row, video.error());
        torch::Tensor latents;
        {
            const std::lock_guard lock(m_encoding);
            latents = m_autoencoder->encode(video->unsqueeze(0).to(m_device)).squeeze(0);
        }
        keep(*key, latents, clip.row);
    }

    Result<torch::Tensor> decoded(const cache::WantedClip &clip) const
    {
        torch::Tensor video;
        const auto target = [&](int height, int width) {
            video = torch::empty({3, clip.shape.frames, height, width}, torch::kFloat32);
            return video.data_ptr<float>();
        };
        media::Limits limits = media::Limits::within(m_options.clipDeadline);
        limits.stop = &m_stop;
        limits.budget = m_options.decodeBudget.get();
        data::Draws draws = data::drawsOfCachedClip();
        const data::SampleShape shape{clip.shape.frames, static_cast<int>(clip.shape.height), static_cast<int>(clip.shape.width)};
        if (Status loaded = data::loadSample(m_options, clip.row, shape, draws, target, limits); !loaded)
            return loaded.error();
        return video;
    }

    void texts(const std::set<std::string> &texts)
    {
        torch::NoGradGuard noGrad;
        for (const auto &[part, encoder] : {std::pair{cache::Part::Tokens, m_tokens.get()}, std::pair{cache::Part::Pooled, m_pooled.get()}}) {
            std::vector<std::string> together;
            for (const std::string &text : texts) {
                if (isOver())
                    return;
                if (isThere(m_store.text(part, text)))
                    continue;
                together.push_back(text);
                if (together.size() == kTextsAtOnce)
                    encode(part, *encoder, together);
            }
            encode(part, *encoder, together);
        }
    }

    void encode(cache::Part part, model::TextEncoder &encoder, std::vector<std::string> &texts)
    {
        if (texts.empty())
            return;
        const auto states = encoder.encode(texts);
        for (std::size_t i = 0; i < texts.size(); ++i)
            keep(m_store.text(part, texts[i]), states[static_cast<std::int64_t>(i)], -1);
        texts.clear();
    }

    bool isThere(const cache::Key &key)
    {
        const auto file = m_store.pathOf(key);
        Status status = cache::lookAtEntry(file, key);
        if (status && m_check) {
            if (const auto entry = cache::readEntry(file, key); !entry)
                status = entry.error();
        }
        const std::lock_guard lock(m_mutex);
        if (status) {
            ++m_progress.present;
            tell();
        } else if (status.error().problem.code == "data.cache-damaged") {
            ++m_progress.damaged;
            if (m_progress.notes.size() < kNotesTold)
                m_progress.notes.push_back("made again: " + status.error().message());
        }
        return status.ok();
    }

    // row: -1 for texts.
    void keep(const cache::Key &key, const torch::Tensor &tensor, std::int64_t row)
    {
        const auto entry = entryOf(tensor);
        const Status written = m_store.write(key, entry);
        if (!written && written.error().problem.code == "data.not-finite" && row >= 0)
            return refuse(&key, row, Error(ExitCode::Data, "data.bad-sample", m_store.table().mediaPath(row).string() + ": " + written.error().message()));
        const std::lock_guard lock(m_mutex);
        if (!written) {
            m_failed = true;
            m_failure = row >= 0 ? written.error() : written.error().during("encoding captions");
            return;
        }
        ++m_progress.encoded;
        m_progress.bytes += static_cast<std::int64_t>(entry.bytes.size());
        tell();
    }

    // key: under which it is remembered; null: it is tried again the next time.
    void refuse(const cache::Key *key, std::int64_t row, const Error &error)
    {
        events::CacheRefusal refusal{row, m_store.table().mediaPath(row).string(), error.message()};
        if (refusal.reason.starts_with(refusal.path + ": "))
            refusal.reason.erase(0, refusal.path.size() + 2);
        if (key)
            m_store.refuse(*key, {refusal.row, refusal.path, refusal.reason});
        const std::lock_guard lock(m_mutex);
        ++m_progress.refused;
        if (m_progress.refusals.size() < kRefusalsTold)
            m_progress.refusals.push_back(refusal);
        tell();
    }

    void tell()
    {
        m_progress.seconds = steadySeconds() - m_began;
        if (!m_told || m_progress.seconds < m_nextTold)
            return;
        m_nextTold = m_progress.seconds + kTellSeconds;
        events::CacheProgress shortened = m_progress;
        shortened.refusals.clear();
        shortened.notes.clear();
        m_told(shortened);
    }

    const data::SourceOptions &m_options;
    cache::Store &m_store;
    const bool m_check;
    const std::atomic<bool> &m_stop;
    const CacheTold &m_told;
    torch::Device m_device = torch::kCPU;
    std::unique_ptr<model::Autoencoder> m_autoencoder;
    std::unique_ptr<model::TextEncoder> m_tokens, m_pooled;
    std::mutex m_encoding;                             // of m_autoencoder: one thread at a time
    const double m_began = steadySeconds();
    std::atomic<bool> m_failed{false};
    std::mutex m_mutex;                                // guards the rest
    events::CacheProgress m_progress;
    double m_nextTold = 0;
    std::optional<Error> m_failure;
};

} // namespace

Result<events::CacheProgress> buildCache(const events::CacheRequest &request, const std::atomic<bool> &stop, const CacheTold &told)
{
    const auto stage = config::stageFromYaml(request.config);
    if (!stage)
        return stage.error();
    if (!stage->isSet("encoding_cache"))
        return Error(ExitCode::Usage, "config.missing-key", "encoding_cache is not set; name the folder for latents and text embeddings");
    if (request.epochs < 0)
        return Error(ExitCode::Usage, "run.command-line", "a cache is built for at least one epoch");
    const auto settings = train::readSettings(*stage, 1);
    if (!settings)
        return settings.error();
    const auto device = memory::chooseDevice(stage->string("device"));
    if (!device)
        return device.error();
    const auto options = data::sourceOptions(*stage);
    if (!options)
        return options.error();
    CacheBuilder builder(*options, request.check, stop, told);
    if (Status made = builder.makeEncoders(*stage, *settings, device->device); !made)
        return made.error();
    if (Status begun = options->cached.store->beginWriting(); !begun)
        return begun.error();
    return builder.build(cache::wantedBy(*options->cached.store, request.epochs));
}

} // namespace stagewright::service
