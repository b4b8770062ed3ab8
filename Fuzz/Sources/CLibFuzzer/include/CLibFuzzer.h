// libFuzzer's entry point for programs with their own main. The toolchain has no header for it (compiler-rt:
// FuzzerInterface.h).
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*UserCb)(const uint8_t *Data, size_t Size));
