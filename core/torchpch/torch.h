// What the layers use of LibTorch, and no more: a file that includes <torch/torch.h> instantiates templates of all its modules for seconds, precompiled
// header or not. Include this instead; a part of LibTorch that only one file needs is included there.
#pragma once

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>
