# stagewright_layer(NAME [TORCH] SOURCES … [USES layer…] [LINKS target…])
#   One folder, one static library, alias stagewright::NAME. USES names layers of ours, LINKS outside targets; both are visible to
#   users of the layer only where headers need them, so both are PUBLIC: the linker is the reviewer of what a layer may use.
#   Headers are included by their path from the repository's root. TORCH: the layer uses LibTorch and the shared precompiled header.
# stagewright_test(NAME [TORCH] [GUI] [FIXTURES] SOURCES … [USES layer…] [LINKS target…])
#   One Qt Test program, registered with ctest under its name.

set_property(GLOBAL PROPERTY STAGEWRIGHT_EDGES "")

function(_stagewright_setup target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "USES;LINKS")
    target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}")
    # By name, whatever the order of the folders; a layer that does not exist is reported by stagewright_check_edges().
    list(TRANSFORM arg_USES REPLACE "(.+)" "$<TARGET_NAME_IF_EXISTS:stagewright::\\1>")
    target_link_libraries(${target} PUBLIC ${arg_USES} ${arg_LINKS})
    if(arg_TORCH)
        target_link_libraries(${target} PUBLIC thirdparty::torch)
        if(NOT target STREQUAL "stagewright_torchpch")
            target_precompile_headers(${target} REUSE_FROM stagewright_torchpch)
        endif()
    endif()
endfunction()

# Several files of a layer are compiled as one: half of a file's time goes into the same headers and templates. Few where an edit
# must soon be in the worker (TORCH), more elsewhere. Names in unnamed namespaces are therefore unique in a layer.
function(_stagewright_unity target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "")
    set(batch 6)
    if(arg_TORCH)
        set(batch 3)
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

function(stagewright_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;USES;LINKS")
    if(arg_TORCH AND NOT STAGEWRIGHT_TORCH)
        return()
    endif()
    set(target stagewright_${name})
    add_library(${target} STATIC ${arg_SOURCES})
    add_library(stagewright::${name} ALIAS ${target})
    set(torch "")
    if(arg_TORCH)
        set(torch TORCH)
    endif()
    _stagewright_setup(${target} ${torch} USES ${arg_USES} LINKS ${arg_LINKS})
    _stagewright_unity(${target} ${torch})
    set_property(GLOBAL APPEND PROPERTY STAGEWRIGHT_EDGES "${name}:${arg_USES}")
endfunction()

# Each source that includes "ITSELF.moc" gets it. AUTOMOC would scan every test and compile an empty file for each: minutes, all told.
function(_stagewright_moc target)
    foreach(source IN LISTS ARGN)
        file(STRINGS "${source}" asks REGEX "^#include \".*\\.moc\"" LIMIT_COUNT 1)
        if(asks)
            cmake_path(GET source STEM stem)
            qt_generate_moc("${source}" "${CMAKE_CURRENT_BINARY_DIR}/${target}_moc/${stem}.moc" TARGET ${target})
            target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${target}_moc/${stem}.moc")
            target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${target}_moc")
        endif()
    endforeach()
endfunction()

# Qt gives each folder of tests a definition of its own (for QFINDTESTDATA, which no test uses), with which GCC refuses a shared header.
set(STAGEWRIGHT_ONE_TEST_FOLDER -UQT_TESTCASE_BUILDDIR -UQT_TESTCASE_SOURCEDIR)

function(stagewright_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;GUI" "" "SOURCES;USES;LINKS")
    if((arg_TORCH AND NOT STAGEWRIGHT_TORCH) OR (arg_GUI AND NOT STAGEWRIGHT_QT))
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    _stagewright_moc(${name} ${arg_SOURCES})
    set(torch "")
    if(arg_TORCH)
        set(torch TORCH)
    endif()
    _stagewright_setup(${name} ${torch} USES ${arg_USES} LINKS ${arg_LINKS} Qt6::Test)
    if(NOT arg_TORCH AND NOT arg_GUI)
        target_precompile_headers(${name} REUSE_FROM stagewright_testpch)
        target_compile_options(${name} PRIVATE ${STAGEWRIGHT_ONE_TEST_FOLDER})
    endif()
    target_compile_definitions(${name} PRIVATE
        STAGEWRIGHT_FIXTURES="${CMAKE_SOURCE_DIR}/tests/fixtures" STAGEWRIGHT_SOURCE="${CMAKE_SOURCE_DIR}"
        STAGEWRIGHT_BIN="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
        ENVIRONMENT "OMP_NUM_THREADS=2;QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8")
    # What `packaging/test --sanitize` builds and runs: the core's tests, with the thread sanitizer those of our own threads.
    if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/(unit|numerics|fuzz)")
        set(labels core)
        if(CMAKE_MATCH_1 STREQUAL "unit")
            list(APPEND labels threads)
        endif()
        set_property(TEST ${name} APPEND PROPERTY LABELS ${labels})
        foreach(label IN LISTS labels)
            set_property(GLOBAL APPEND PROPERTY STAGEWRIGHT_TESTS_${label} ${name})
        endforeach()
    endif()
endfunction()

# Targets core_tests and threads_tests: the tests with that label. Called once, after all folders.
function(stagewright_test_groups)
    foreach(label IN ITEMS core threads)
        get_property(tests GLOBAL PROPERTY STAGEWRIGHT_TESTS_${label})
        add_custom_target(${label}_tests DEPENDS ${tests})
    endforeach()
endfunction()

# Every layer that another one uses must exist: called once, after all folders.
function(stagewright_check_edges)
    get_property(edges GLOBAL PROPERTY STAGEWRIGHT_EDGES)
    foreach(edge IN LISTS edges)
        string(REGEX REPLACE "^.*:" "" used "${edge}")
        if(used AND NOT TARGET stagewright::${used})
            message(FATAL_ERROR "the layer ${used} is used (${edge}) but does not exist in this build")
        endif()
    endforeach()
endfunction()
