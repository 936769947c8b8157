//===- Tape.cpp - Tapes that grow -----------------------------------------===//
//
// Each chunk has twice as many frames as the one before it. So no frame ever moves, a frame is
// found without search, and the chunks have less than twice the bytes of the frames in use,
// the first chunk aside.
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include <bit>
#include <cstring>

using namespace kina::runtime;

/// The bytes of the first chunk, unless a frame is larger.
static constexpr int64_t kFirstBytes = 4096;

namespace {
struct Tape {
  int64_t bytes;    // of a frame
  int shift;        // chunk k has 2^(k + shift) frames
  char *chunks[63]; // nullptr until a frame is wanted: more frames have no number
};
} // namespace

void *kina_rt_tape_new(int64_t bytes) {
  auto *tape = static_cast<Tape *>(kina_rt_alloc(alignof(Tape), sizeof(Tape)));
  *tape = {};
  tape->bytes = bytes;
  if (bytes > 0 && bytes < kFirstBytes)
    tape->shift = std::bit_width(uint64_t(kFirstBytes / bytes)) - 1;
  return tape;
}

void *kina_rt_tape_frame(void *address, int64_t at) {
  auto *tape = static_cast<Tape *>(address);
  // Frames without bytes are all the same.
  if (tape->bytes == 0)
    return tape;
  int k = 63;
  if (at >= 0 && at < INT64_MAX)
    k = std::bit_width((uint64_t(at) >> tape->shift) + 1) - 1;
  int64_t size;
  if (k + tape->shift > 62 ||
      __builtin_mul_overflow(tape->bytes, int64_t(1) << (k + tape->shift), &size))
    kina_rt_fail(KINA_ERROR_MEMORY, "out of memory: frame {0} of {1} bytes wanted", nullptr, 0, 0,
                 2, at, tape->bytes);
  char *&chunk = tape->chunks[k];
  if (!chunk) {
    chunk = static_cast<char *>(kina_rt_alloc(alignof(Block), size));
    std::memset(chunk, 0, size);
    Block *owner = Block::of(tape);
    Block::of(chunk)->attached = owner->attached;
    owner->attached = Block::of(chunk);
  }
  int64_t before = ((int64_t(1) << k) - 1) << tape->shift;
  return chunk + (at - before) * tape->bytes;
}
