// Every instruction set's row kernels against formulas in fp64, for row lengths around the vector width.
#include <cmath>

#include <QTest>

#include "core/model/row_kernels.h"

using namespace stagewright::model;

namespace {

using Row = std::vector<float>;

Row random(std::size_t n, unsigned seed)
{
    Row row(n);
    for (float &value : row) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<float>(seed >> 8) / 8388608.0F - 1.0F;
    }
    return row;
}

double gelu(double u) { return 0.5 * u * (1 + std::tanh(std::sqrt(2 / M_PI) * (u + 0.044715 * u * u * u))); }
double slope(double u) { return (gelu(u + 1e-5) - gelu(u - 1e-5)) / 2e-5; }

float fromBits(std::uint16_t bits)
{
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
}

} // namespace

class RowKernelsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void norm_data() { sets(); }
    void norm()
    {
        QFETCH(int, set);
        QFETCH(int, n);
        const std::size_t size = static_cast<std::size_t>(n);
        const RowKernels &k = kernels(set).float32;
        const Row x = random(3 * size, 1), shift = random(size, 2), scale = random(size, 3), dy = random(3 * size, 4);
        Row y(3 * size), mean(3), rstd(3), dx(3 * size), dShift(size), dScale(size);
        k.norm(x.data(), 3, n, shift.data(), scale.data(), y.data(), mean.data(), rstd.data());
        k.normBackward(dy.data(), x.data(), 3, n, scale.data(), mean.data(), rstd.data(), dx.data(), dShift.data(), dScale.data());
        std::vector<double> sumDy(size), sumDyNorm(size);
        for (std::size_t row = 0; row < 3; ++row) {
            double m = 0, v = 0, a = 0, b = 0;
            for (std::size_t i = 0; i < size; ++i)
                m += x[row * size + i] / n;
            for (std::size_t i = 0; i < size; ++i)
                v += std::pow(x[row * size + i] - m, 2) / n;
            const double r = 1 / std::sqrt(v + 1e-6);
            for (std::size_t i = 0; i < size; ++i) {
                const double normed = (x[row * size + i] - m) * r, d = dy[row * size + i];
                near(y[row * size + i], (1 + scale[i]) * normed + shift[i]);
                sumDy[i] += d;
                sumDyNorm[i] += d * normed;
                a += d * (1 + scale[i]) / n;
                b += d * (1 + scale[i]) * normed / n;
            }
            for (std::size_t i = 0; i < size && n > 1; ++i) {
                const double normed = (x[row * size + i] - m) * r;
                near(dx[row * size + i], r * (dy[row * size + i] * (1 + scale[i]) - a - normed * b), 1e-4);
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            near(dShift[i], sumDy[i]);
            near(dScale[i], sumDyNorm[i]);
        }
    }

    void gate_data() { sets(); }
    void gate()
    {
        QFETCH(int, set);
        QFETCH(int, n);
        const std::size_t size = static_cast<std::size_t>(n);
        const RowKernels &k = kernels(set).float32;
        const Row x = random(2 * size, 1), factor = random(size, 2), v = random(2 * size, 3), dy = random(2 * size, 4);
        Row out(2 * size), dv(2 * size), dGate(size);
        k.gate(x.data(), factor.data(), v.data(), 2, n, out.data());
        k.gateBackward(dy.data(), factor.data(), v.data(), 2, n, dv.data(), dGate.data());
        for (std::size_t i = 0; i < size; ++i) {
            near(out[i], x[i] + double(factor[i]) * v[i]);
            near(dv[size + i], double(dy[size + i]) * factor[i]);
            near(dGate[i], double(dy[i]) * v[i] + double(dy[size + i]) * v[size + i]);
        }
    }

    void geluAndItsDerivative_data() { sets(); }
    void geluAndItsDerivative()
    {
        QFETCH(int, set);
        QFETCH(int, n);
        const std::size_t size = static_cast<std::size_t>(n);
        const RowKernels &k = kernels(set).float32;
        Row u = random(size, 1);
        for (float &value : u)
            value *= 12;
        const Row d = random(size, 2);
        Row out(size), again(size), du(size);
        k.gelu(u.data(), n, 1, n, out.data(), n);
        k.geluBackward(d.data(), n, u.data(), n, 1, n, du.data(), n, again.data(), n);
        for (std::size_t i = 0; i < size; ++i) {
            near(out[i], gelu(u[i]), 1e-6);
            QCOMPARE(again[i], out[i]);
            near(du[i], d[i] * slope(u[i]), 1e-4);
        }
    }

    void extremesOfGeluAreFinite()
    {
        for (int set = 0; set < 3; ++set) {
            if (!runs(set))
                continue;
            const Row u{-1e30F, -100, -0.0F, 100, 1e10F, INFINITY, NAN};
            Row out(u.size());
            kernels(set).float32.gelu(u.data(), 7, 1, 7, out.data(), 7);
            QCOMPARE(out[1], 0.0F);
            QCOMPARE(out[3], 100.0F);
            QCOMPARE(out[4], 1e10F);
            QVERIFY(std::isnan(out[6]));
        }
    }

    void normRope_data() { sets(); }
    void normRope()
    {
        QFETCH(int, set);
        QFETCH(int, n);
        if (n % 2)
            return;                            // heads are even
        const std::size_t dim = static_cast<std::size_t>(n), half = dim / 2;
        const RowKernels &k = kernels(set).float32;
        const Row x = random(2 * dim, 1), weight = random(dim, 2), angle = random(half, 3), dOut = random(2 * dim, 4);
        Row cos(half), sin(half);
        for (std::size_t p = 0; p < half; ++p) {
            cos[p] = std::cos(angle[p]);
            sin[p] = std::sin(angle[p]);
        }
        for (const bool liger : {false, true}) {
            Row out(2 * dim), dx(2 * dim), dWeight(dim);
            k.normRope(x.data(), 2 * n, 1, 2, n, weight.data(), cos.data(), sin.data(), liger, out.data(), 2 * n);
            k.normRopeBackward(dOut.data(), 2 * n, n, x.data(), 2 * n, 1, 2, n, weight.data(), cos.data(), sin.data(), liger, dx.data(), 2 * n, dWeight.data());
            std::vector<double> sumWeight(dim);
            for (std::size_t head = 0; head < 2; ++head) {
                const float *in = x.data() + head * dim, *given = dOut.data() + head * dim;
                double square = 0, along = 0;
                for (std::size_t i = 0; i < dim; ++i)
                    square += double(in[i]) * in[i] / n;
                const double r = 1 / std::sqrt(square + 1e-6);
                std::vector<double> back(dim);
                for (std::size_t p = 0; p < half; ++p) {
                    const std::size_t a = liger ? p : 2 * p, b = liger ? p + half : 2 * p + 1;
                    const double qa = in[a] * r * weight[a], qb = in[b] * r * weight[b];
                    near(out[head * dim + a], qa * cos[p] - qb * sin[p]);
                    near(out[head * dim + b], qa * sin[p] + qb * cos[p]);
                    back[a] = given[a] * cos[p] + given[b] * sin[p];
                    back[b] = -given[a] * sin[p] + given[b] * cos[p];
                }
                for (std::size_t i = 0; i < dim; ++i) {
                    along += back[i] * weight[i] * in[i] / n;
                    sumWeight[i] += back[i] * in[i] * r;
                }
                for (std::size_t i = 0; i < dim; ++i)
                    near(dx[head * dim + i], r * back[i] * weight[i] - r * r * r * along * in[i], 1e-4);
            }
            for (std::size_t i = 0; i < dim; ++i)
                near(dWeight[i], sumWeight[i]);
        }
    }

    void bfloat16RoundsToNearestEvenAndKeepsNan()
    {
        for (int set = 0; set < 3; ++set) {
            if (!runs(set))
                continue;
            // x + 0 * v through the gate kernel: 1 + 2^-8 (a tie) goes to the even 1, 1 + 3 * 2^-8 to 1 + 2^-6.
            const std::vector<std::uint16_t> x{0x3f80, 0x3f80, 0x7fc1, 0x7f80}, factor{0x3b80, 0x3c40, 0, 0}, v{0x3f80, 0x3f80, 0, 0};
            std::vector<std::uint16_t> out(4);
            kernels(set).bfloat16.gate(x.data(), factor.data(), v.data(), 1, 4, out.data());
            QCOMPARE(fromBits(out[0]), 1.0F);
            QCOMPARE(fromBits(out[1]), 1.015625F);
            QVERIFY(std::isnan(fromBits(out[2])));
            QVERIFY(std::isinf(fromBits(out[3])));
        }
    }

private:
    static const RowKernelSet &kernels(int set) { return set == 0 ? baselineRowKernels() : set == 1 ? avx2RowKernels() : avx512RowKernels(); }
    static bool runs(int set)
    {
        __builtin_cpu_init();
        return set == 0 || (set == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
               || (set == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
    }
    static void sets()
    {
        QTest::addColumn<int>("set");
        QTest::addColumn<int>("n");
        const char *names[] = {"baseline", "avx2", "avx512"};
        for (int set = 0; set < 3; ++set) {
            for (const int n : {1, 2, 12, 15, 16, 17, 32, 46, 128, 400}) {
                if (runs(set))
                    QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(QString::fromUtf8(names[set])).arg(n))) << set << n;
            }
        }
    }
    static void near(double got, double expected, double tolerance = 1e-5)
    {
        QVERIFY2(std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected)), qPrintable(QStringLiteral("%1 instead of %2").arg(got).arg(expected)));
    }
};

QTEST_GUILESS_MAIN(RowKernelsTest)
#include "row_kernels_test.moc"
