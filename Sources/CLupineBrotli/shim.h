// CLupineBrotli: Brotli's decoder and encoder for LupineCoding.
#pragma once
#ifndef __linux__
#error "Lupine is an HTTP client for Linux. On other systems, use URLSession and Alamofire, whose APIs it provides."
#else
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
