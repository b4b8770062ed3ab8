// libFuzzer's entry point for programs with their own main. It is declared here because the toolchain lacks compiler-rt's
// FuzzerInterface.h.
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*UserCb)(const uint8_t *Data, size_t Size));
