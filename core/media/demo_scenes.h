// What is to be seen in the demo's clips: FFmpeg source graphs with the words that describe them.
#pragma once

#include <string>
#include <vector>

namespace stagewright::media {

struct DemoScene {
    std::string file;                  // name below clips/
    std::string graph;                 // a libavfilter graph without inputs, of any pixel format
    std::string caption;
    int frames = 1, height = 0, width = 0;
    int rate = 16;                     // frames a second; 0: a still image
    double motion = 0;                 // what the table says as score_vmafmotion
};

std::vector<DemoScene> demoScenes();   // 48 clips and two stills, always the same

} // namespace stagewright::media
