// libFuzzer's entry for programs with a main of their own (compiler-rt, FuzzerInterface.h has no header in the toolchain).
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*UserCb)(const uint8_t *Data, size_t Size));
