# Everything that is not ours, as imported targets named thirdparty::NAME (or the package's own target).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libavfilter libswscale libavutil)
pkg_check_modules(URING IMPORTED_TARGET liburing)

if(STAGEWRIGHT_QT OR STAGEWRIGHT_TESTS)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Core Network Test)
    # Our pages say Q_SIGNALS and Q_SLOTS; Torch uses the plain words as names.
endif()
if(STAGEWRIGHT_QT)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Gui Widgets PrintSupport LinguistTools)
    find_package(Qt6 6.4 QUIET OPTIONAL_COMPONENTS Svg)
    find_package(QCustomPlotQt6 REQUIRED)
endif()

if(NOT IS_DIRECTORY "${STAGEWRIGHT_WHEELS}")
    message(FATAL_ERROR "STAGEWRIGHT_WHEELS ('${STAGEWRIGHT_WHEELS}') is not a folder: run packaging/run or packaging/test, which install "
        "the wheels of packaging/wheels.txt and configure with them")
endif()

# Arrow and Parquet from the pyarrow wheel: versioned file names, no CMake package.
file(GLOB _arrow "${STAGEWRIGHT_WHEELS}/pyarrow/libarrow.so.*")
file(GLOB _parquet "${STAGEWRIGHT_WHEELS}/pyarrow/libparquet.so.*")
file(GLOB _compute "${STAGEWRIGHT_WHEELS}/pyarrow/libarrow_compute.so.*")
if(NOT _arrow OR NOT _parquet)
    message(FATAL_ERROR "no Arrow libraries in ${STAGEWRIGHT_WHEELS}/pyarrow; remove that folder and run packaging/test, which installs them again")
endif()
add_library(thirdparty::arrow INTERFACE IMPORTED)
target_include_directories(thirdparty::arrow SYSTEM INTERFACE "${STAGEWRIGHT_WHEELS}/pyarrow/include")
target_link_libraries(thirdparty::arrow INTERFACE ${_parquet} ${_compute} ${_arrow})
target_link_options(thirdparty::arrow INTERFACE "LINKER:-rpath,${STAGEWRIGHT_WHEELS}/pyarrow")

# LibTorch from the wheel. Its own CMake package wants a CUDA compiler and probes GPUs; these lines need neither.
# -idirafter: the wheel ships its own fmt headers, which must not shadow the system's for spdlog.
if(STAGEWRIGHT_TORCH)
    set(_torch "${STAGEWRIGHT_WHEELS}/torch")
    if(NOT EXISTS "${_torch}/lib/libtorch_cpu.so")
        message(FATAL_ERROR "no LibTorch in ${_torch}; remove that folder and run packaging/test, which installs it again")
    endif()
    add_library(thirdparty::torch INTERFACE IMPORTED)
    target_compile_options(thirdparty::torch INTERFACE
        "SHELL:-idirafter ${_torch}/include" "SHELL:-idirafter ${_torch}/include/torch/csrc/api/include")
    target_link_libraries(thirdparty::torch INTERFACE "${_torch}/lib/libtorch_cpu.so" "${_torch}/lib/libc10.so")
    # at::parallel_for is inline: a file that is compiled without OpenMP runs its loops on one thread. The runtime is the one that LibTorch has
    # loaded, so that there is one pool of threads for both. The thread sanitizer does not see OpenMP's barriers: one thread there.
    if(NOT STAGEWRIGHT_SANITIZE MATCHES "thread")
        target_compile_options(thirdparty::torch INTERFACE -fopenmp)
        target_link_libraries(thirdparty::torch INTERFACE gomp)
    endif()
    # libtorch_cpu itself asks for libcudart and libcupti, which lie beside it in the nvidia folder.
    target_link_options(thirdparty::torch INTERFACE "LINKER:-rpath,${_torch}/lib" "LINKER:--allow-shlib-undefined"
        "LINKER:-rpath,${STAGEWRIGHT_WHEELS}/nvidia/cu13/lib")

    # What only the CUDA module may link. The runtime's headers come with the nvidia-cuda-runtime wheel or a system toolkit.
    find_path(STAGEWRIGHT_CUDA_INCLUDE cuda_runtime_api.h
        PATHS "${STAGEWRIGHT_WHEELS}/nvidia/cu13/include" /usr/local/cuda/include NO_DEFAULT_PATH)
    if(EXISTS "${_torch}/lib/libtorch_cuda.so" AND STAGEWRIGHT_CUDA_INCLUDE)
        add_library(thirdparty::torch_cuda INTERFACE IMPORTED)
        target_link_libraries(thirdparty::torch_cuda INTERFACE thirdparty::torch "${_torch}/lib/libtorch_cuda.so" "${_torch}/lib/libc10_cuda.so")
        target_include_directories(thirdparty::torch_cuda SYSTEM INTERFACE "${STAGEWRIGHT_CUDA_INCLUDE}")
    endif()
endif()
