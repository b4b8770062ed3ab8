// CLupineBrotli: Brotli's decoder and encoder for LupineCoding.
#pragma once
#include <brotli/decode.h>
#include <brotli/encode.h>
