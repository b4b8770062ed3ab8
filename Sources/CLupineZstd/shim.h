// CLupineZstd: Zstandard's decoder and encoder for LupineCoding, if the trait Zstd is enabled.
#pragma once
#ifndef __linux__
#error "Lupine is an HTTP client for Linux. On other systems, use URLSession and Alamofire, whose APIs it provides."
#else
#include <zstd.h>
#include <zstd_errors.h>
#endif
