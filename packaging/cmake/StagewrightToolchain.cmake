# Language level, warnings, ccache, sanitizers and output folders: the same for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

# One position-independent mode everywhere (never -fPIE): a precompiled header is refused when it differs.
add_compile_options(-fPIC -Wall -Wextra -Wno-unknown-pragmas -Wno-restrict)
add_compile_definitions(QT_NO_KEYWORDS QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII)

find_program(STAGEWRIGHT_CCACHE ccache)
if(STAGEWRIGHT_CCACHE)
    # The sloppiness lets ccache serve files that use the precompiled header; base_dir lets two clones share hits.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${STAGEWRIGHT_CCACHE}")
    add_compile_options(-fpch-preprocess)
endif()

if(STAGEWRIGHT_SANITIZE)
    add_compile_options("-fsanitize=${STAGEWRIGHT_SANITIZE}" -fno-omit-frame-pointer)
    add_link_options("-fsanitize=${STAGEWRIGHT_SANITIZE}")
endif()
