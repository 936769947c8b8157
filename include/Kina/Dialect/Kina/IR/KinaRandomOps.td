//===- KinaRandomOps.td - Counter-based random numbers ---*- tablegen -*-===//

#ifndef KINA_RANDOM_OPS_TD
#define KINA_RANDOM_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

// A draw is a pure function of its operands: the same key and counter give the same numbers,
// in a replay too.
class Kina_Draw<string mnemonic, TypeConstraint type, string what, string more> : Kina_Op<mnemonic, [Pure]> {
  let summary = what;
  let description = more # [{
    The words come from Philox4x32-10. Its key is the low, then the high 32 bits of `key`; the
    four words of block n have the counter words low and high 32 bits of `counter + n`
    (modulo 2^64), 0, 0. Elements are numbered in row-major order. One of 32 or 16 bits
    has number j in word j mod 4 of block j floordiv 4; one of 64 bits has words
    2*(j mod 2), its low half, and 2*(j mod 2) + 1 of block j floordiv 2. So the next draw
    of the same key starts as many counts later as this one has blocks.
  }];
  let arguments = (ins I64:$key, I64:$counter);
  let results = (outs type:$result);
  let assemblyFormat = "$key `,` $counter attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() { return ::kina::verifyDraw(*this, getResult().getType()); }
  }];
}

def Kina_RandomBitsOp : Kina_Draw<"random_bits", Kina_ElementIs<"t.isInteger(32) || t.isInteger(64)",
    "i32 or i64 tensor or scalar">, "random integers", "Integers with every bit random.">;
def Kina_UniformOp : Kina_Draw<"uniform", Kina_Float, "random numbers in [0, 1)", [{
    The leading p bits of an element's word or words, over 2^p: p is 53, 24, 11 and 8 for f64,
    f32, f16 and bf16, so that none is rounded up to 1.
    }]>;
def Kina_NormalOp : Kina_Draw<"normal", Kina_Float, "random numbers of the standard normal distribution", [{
    By Box and Muller on pairs: elements 2i and 2i + 1 are `sqrt(-2 log(1 - u))` times the
    cosine and the sine of `2 pi v`, u and v being the uniform numbers 2i and 2i + 1 of f64,
    or of f32 for the other types.
    }]>;

#endif
