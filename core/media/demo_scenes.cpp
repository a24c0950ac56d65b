#include "core/media/demo_scenes.h"

#include <algorithm>
#include <array>

namespace stagewright::media {

namespace {

struct Size { int width, height; };
constexpr std::array<Size, 6> kSizes{{{256, 256}, {320, 180}, {288, 208}, {180, 320}, {240, 240}, {208, 288}}};
constexpr std::array<int, 12> kFrames{24, 40, 33, 20, 36, 9, 28, 17, 32, 5, 40, 12};
constexpr std::array<int, 8> kRates{12, 16, 24, 15, 8, 30, 10, 25};
constexpr std::array<const char *, 6> kContainers{"mp4", "mp4", "mkv", "mp4", "avi", "mov"};

std::string number(double value) { return std::to_string(static_cast<int>(value)); }

std::string sizeOf(const DemoScene &scene) { return std::to_string(scene.width) + "x" + std::to_string(scene.height); }

std::string source(const std::string &name, const DemoScene &scene)
{
    return name + (name.find('=') == std::string::npos ? "=" : ":") + "s=" + sizeOf(scene) + ":r=" + std::to_string(scene.rate ? scene.rate : 1);
}

// Collects scenes; each clip takes the next size, length, rate and container.
class Collector
{
public:
    DemoScene &next()
    {
        const std::size_t i = m_scenes.size();
        DemoScene scene;
        const Size size = kSizes[i % kSizes.size()];
        scene.width = size.width;
        scene.height = size.height;
        scene.frames = kFrames[i % kFrames.size()];
        scene.rate = kRates[i % kRates.size()];
        const std::string name = std::to_string(i);
        scene.file = "clip" + std::string(2 - name.size(), '0') + name + "." + kContainers[i % kContainers.size()];
        return m_scenes.emplace_back(std::move(scene));
    }
    void add(const std::string &sourceName, const std::string &caption, double motion)
    {
        DemoScene &scene = next();
        scene.graph = source(sourceName, scene);
        scene.caption = caption;
        scene.motion = motion;
    }
    std::vector<DemoScene> take() { return std::move(m_scenes); }
    std::vector<DemoScene> &scenes() { return m_scenes; }

private:
    std::vector<DemoScene> m_scenes;
};

// A square of one colour that crosses a background of another in the time of the clip.
void addMovingSquares(Collector &collector)
{
    struct Move { const char *ground, *square, *direction; };
    static constexpr std::array<Move, 20> moves{{
        {"blue", "red", "right"}, {"black", "yellow", "left"}, {"white", "green", "down"}, {"red", "white", "up"}, {"green", "blue", "right"},
        {"gray", "orange", "left"}, {"blue", "yellow", "up"}, {"black", "white", "down"}, {"yellow", "purple", "right"}, {"red", "black", "left"},
        {"white", "blue", "up"}, {"purple", "yellow", "down"}, {"orange", "blue", "right"}, {"green", "white", "left"}, {"black", "red", "up"},
        {"gray", "green", "down"}, {"blue", "white", "left"}, {"red", "yellow", "right"}, {"yellow", "red", "down"}, {"white", "black", "up"}}};
    for (const Move &move : moves) {
        DemoScene &scene = collector.next();
        const int side = std::min(scene.width, scene.height) / 3;
        const std::string direction = move.direction;
        const bool across = direction == "left" || direction == "right";
        const int way = (across ? scene.width : scene.height) - side;
        const std::string done = "min(1\\,n/" + std::to_string(std::max(scene.frames - 1, 1)) + ")";
        const std::string place = std::to_string(way) + "*" + (direction == "right" || direction == "down" ? done : "(1-" + done + ")");
        const std::string middle = number(((across ? scene.height : scene.width) - side) / 2.0);
        scene.graph = source(std::string("color=c=") + move.ground, scene) + "[ground];color=c=" + move.square + ":s=" + std::to_string(side) + "x"
            + std::to_string(side) + ":r=" + std::to_string(scene.rate) + "[square];[ground][square]overlay=x='" + (across ? place : middle) + "':y='"
            + (across ? middle : place) + "':format=rgb";
        scene.caption = std::string("A ") + move.square + " square moving " + direction + " on a " + move.ground + " background.";
        scene.motion = 4 + static_cast<double>(way) / scene.frames / 4;
    }
}

void addGradients(Collector &collector)
{
    static constexpr std::array<std::array<const char *, 2>, 8> pairs{{{"red", "blue"}, {"yellow", "green"}, {"white", "black"}, {"orange", "purple"},
        {"blue", "white"}, {"green", "black"}, {"red", "yellow"}, {"purple", "white"}}};
    int seed = 1;
    for (const auto &[from, to] : pairs) {
        collector.add(std::string("gradients=c0=") + from + ":c1=" + to + ":nb_colors=2:speed=0.02:seed=" + std::to_string(seed++),
                      std::string("A slowly turning gradient from ") + from + " to " + to + ".", 2);
    }
}

void addStripes(Collector &collector)
{
    struct Stripes { const char *one, *other; bool vertical; };
    static constexpr std::array<Stripes, 4> all{{{"red", "white", true}, {"blue", "yellow", false}, {"black", "green", true}, {"purple", "orange", false}}};
    for (const Stripes &stripes : all) {
        DemoScene &scene = collector.next();
        // A picture of two broad stripes that scrolls round and round.
        const std::string half = stripes.vertical ? "x=0:y=0:w=iw/2:h=ih" : "x=0:y=0:w=iw:h=ih/2";
        scene.graph = source(std::string("color=c=") + stripes.one, scene) + ",drawbox=" + half + ":c=" + stripes.other + ":t=fill,scroll="
            + (stripes.vertical ? "h" : "v") + "=0.02";
        scene.caption = std::string("Broad ") + stripes.one + " and " + stripes.other + (stripes.vertical ? " vertical" : " horizontal") + " stripes scrolling.";
        scene.motion = 6;
    }
}

void addPatterns(Collector &collector)
{
    collector.add("smptebars", "Colour bars of a television test card, standing still.", 0);
    collector.add("pal75bars", "Vertical colour bars from white to black, standing still.", 0);
    collector.add("rgbtestsrc", "Red, green and blue horizontal bars, standing still.", 0);
    collector.add("testsrc2", "A colourful test pattern with moving lines and a running counter.", 9);
    collector.add("testsrc", "A test card with a colour wheel and a running second counter.", 3);
    collector.add("testsrc2", "A colourful test pattern with moving lines and a running counter.", 9);
    collector.add("colorspectrum", "A spectrum of all colours from red to violet, standing still.", 0);
    collector.add("mandelbrot=start_scale=2.5:end_scale=1:end_pts=60:maxiter=80", "Zooming into the Mandelbrot set, a black fractal with coloured edges.", 5);
    collector.add("mandelbrot=start_scale=1.2:end_scale=0.6:end_pts=60:maxiter=80:inner=convergence", "Zooming into the Mandelbrot set, a fractal with a bright inside.", 5);
    collector.add("life=ratio=0.15:mold=12:seed=7:life_color=lime:death_color=navy:mold_color=black", "Conway's game of life, lime cells dying on black.", 10);
    collector.add("life=ratio=0.1:mold=8:seed=11:life_color=white:death_color=maroon:mold_color=black", "Conway's game of life, white cells dying on black.", 10);
    collector.add("cellauto=rule=110:seed=3:scroll=1", "A cellular automaton scrolling upwards, white triangles on black.", 8);
    collector.add("cellauto=rule=30:seed=5:scroll=1", "A chaotic cellular automaton scrolling upwards, white on black.", 8);
    collector.add("sierpinski=seed=4:jump=200", "A Sierpinski carpet, black squares within squares on white.", 4);
    collector.add("color=c=red", "A plain red picture.", 0);
    collector.add("color=c=blue", "A plain blue picture.", 0);
}

DemoScene still(const std::string &file, const std::string &graph, const std::string &caption, Size size)
{
    DemoScene scene;
    scene.file = file;
    scene.width = size.width;
    scene.height = size.height;
    scene.rate = 0;
    scene.graph = source(graph, scene);
    scene.caption = caption;
    return scene;
}

} // namespace

std::vector<DemoScene> demoScenes()
{
    Collector collector;
    addMovingSquares(collector);
    addGradients(collector);
    addStripes(collector);
    addPatterns(collector);
    for (DemoScene &scene : collector.scenes()) {      // two clips of a single frame
        if (scene.caption.starts_with("A plain"))
            scene.frames = 1;
        scene.rate = scene.frames == 1 ? 12 : scene.rate;
    }
    std::vector<DemoScene> scenes = collector.take();
    scenes.push_back(still("still00.png", "smptebars", "A photo of television colour bars.", {320, 240}));
    scenes.push_back(still("still01.jpg", "gradients=c0=yellow:c1=blue:nb_colors=2:seed=9", "A photo of a gradient from yellow to blue.", {256, 256}));
    return scenes;
}

} // namespace stagewright::media
