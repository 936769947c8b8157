//===- ForeignNames.cpp - What other languages call what Kina has ---------===//
//
// Consulted for names that mean nothing here, so that a program may define any of them.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

namespace kina::elaborate {

StringRef foreignNameHelp(StringRef name) {
  static constexpr struct {
    StringRef name, help;
  } names[] = {
      {"True", "write 'true'"},
      {"False", "write 'false'"},
      {"None", "an axis of size 1 is added with 'reshape'; no value is '()'"},
      {"newaxis", "an axis of size 1 is added with 'reshape'"},
      {"np", "operations have no prefix: 'exp(x)'"},
      {"numpy", "operations have no prefix: 'exp(x)'"},
      {"jnp", "operations have no prefix: 'exp(x)'"},
      {"jax", "operations have no prefix: 'exp(x)', 'grad(f)'"},
      {"torch", "operations have no prefix: 'exp(x)'"},
      {"tf", "operations have no prefix: 'exp(x)'"},
      {"math", "operations have no prefix: 'exp(x)'"},
      {"f64", "write 'F64'"},
      {"f32", "write 'F32'"},
      {"f16", "write 'F16'"},
      {"bf16", "write 'BF16'"},
      {"i64", "write 'I64'"},
      {"i32", "write 'I32'"},
      {"i8", "write 'I8'"},
      {"u8", "write 'U8'"},
      {"bool", "write 'Bool'"},
      {"index", "write 'Index'"},
      {"float64", "write 'F64'"},
      {"float32", "write 'F32'"},
      {"float16", "write 'F16'"},
      {"bfloat16", "write 'BF16'"},
      {"half", "write 'F16'"},
      {"float", "write 'F32' or 'F64'"},
      {"double", "write 'F64'"},
      {"int64", "write 'I64'"},
      {"int32", "write 'I32'"},
      {"int8", "write 'I8'"},
      {"uint8", "write 'U8'"},
      {"int", "write 'I32' or 'I64'"},
      {"long", "write 'I64'"},
      {"boolean", "write 'Bool'"},
      {"len", "a size has a name, its shape variable: N in tensor<F64, [N]>"},
      {"shape", "a size has a name, its shape variable: N in tensor<F64, [N]>"},
      {"size", "a size has a name, its shape variable: N in tensor<F64, [N]>"},
      {"ndim", "the rank is part of the type, and known where the program is written"},
      {"dtype", "the element type is part of the type, and known where the program is written"},
      {"T", "write 'transpose(x)'"},
      {"range", "a loop counts with 'for (i in 0..n) [..] { .. }'"},
      {"array", "a tensor literal is '[1.0, 2.0]'"},
      {"tensor", "a tensor literal is '[1.0, 2.0]'"},
      {"astype", "write 'cast(x, F64)'"},
      {"vmap", "operations take leading batch axes themselves"},
      {"jit", "everything is compiled"},
  };
  for (const auto &entry : names)
    if (entry.name == name)
      return entry.help;
  return {};
}

} // namespace kina::elaborate
