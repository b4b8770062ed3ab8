// CLupineZstd: Zstandard's decoder and encoder for LupineCoding, if the trait Zstd is enabled.
#pragma once
#include <zstd.h>
#include <zstd_errors.h>
