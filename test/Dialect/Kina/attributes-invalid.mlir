// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What attributes refuse.

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.dim<>} {}

// -----

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.dim<N +>} {}

// -----

// expected-error @+1 {{expected '>'}}
module attributes {kina.x = #kina.dim<N N>} {}

// -----

// expected-error @+1 {{expected '>'}}
module attributes {kina.x = #kina.dim<2N>} {}

// -----

// expected-error @+1 {{unbalanced '(' character in pretty dialect name}}
module attributes {kina.x = #kina.dim<(N>} {}

// -----

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.dim<N floordiv>} {}

// -----

// expected-error @+1 {{expected ','}}
module attributes {kina.x = #kina.dim<min(N)>} {}

// -----

// expected-error @+1 {{expected ')'}}
module attributes {kina.x = #kina.dim<min(N, M, K)>} {}

// -----

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.dim<"N">} {}

// -----

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.dim<1.5>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<N floordiv (M - M)>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<9223372036854775807 + 1>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<-9223372036854775809>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<-(-9223372036854775808)>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<9223372036854775807*N*9223372036854775807>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<(-9223372036854775808) floordiv (-1)>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<99999999999999999999999999999999999999>} {}

// -----

// expected-error @+1 {{dimension is nested more than 200 levels deep}}
module attributes {kina.x = #kina.dim<((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((N))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<(a0 + b0)*(a1 + b1)*(a2 + b2)*(a3 + b3)*(a4 + b4)*(a5 + b5)*(a6 + b6)*(a7 + b7)*(a8 + b8)*(a9 + b9)*(a10 + b10)*(a11 + b11)*(a12 + b12)*(a13 + b13)*(a14 + b14)*(a15 + b15)*(a16 + b16)*(a17 + b17)*(a18 + b18)*(a19 + b19)*(a20 + b20)*(a21 + b21)*(a22 + b22)*(a23 + b23)*(a24 + b24)*(a25 + b25)*(a26 + b26)*(a27 + b27)*(a28 + b28)*(a29 + b29)*(a30 + b30)*(a31 + b31)*(a32 + b32)*(a33 + b33)*(a34 + b34)*(a35 + b35)*(a36 + b36)*(a37 + b37)*(a38 + b38)*(a39 + b39)>} {}

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
module attributes {kina.x = #kina.dim<N mod M0 mod M1 mod M2 mod M3 mod M4 mod M5 mod M6 mod M7 mod M8 mod M9 mod M10 mod M11 mod M12 mod M13 mod M14 mod M15 mod M16 mod M17 mod M18 mod M19 mod M20 mod M21 mod M22 mod M23 mod M24 mod M25 mod M26 mod M27 mod M28 mod M29 mod M30 mod M31 mod M32 mod M33 mod M34 mod M35 mod M36 mod M37 mod M38 mod M39 mod M40 mod M41 mod M42 mod M43 mod M44 mod M45 mod M46 mod M47 mod M48 mod M49 mod M50 mod M51 mod M52 mod M53 mod M54 mod M55 mod M56 mod M57 mod M58 mod M59>} {}

// -----

// expected-error @+1 {{expected a single term}}
module attributes {kina.x = #kina.dim_term<0>} {}

// -----

// expected-error @+1 {{expected a single term}}
module attributes {kina.x = #kina.dim_term<N + 1>} {}

// -----

// expected-error @+1 {{expected a single atom}}
module attributes {kina.x = #kina.dim_atom<2*N>} {}

// -----

// expected-error @+1 {{expected a single atom}}
module attributes {kina.x = #kina.dim_atom<3>} {}

// -----

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.pred<>} {}

// -----

// expected-error @+1 {{expected '=', 'ne', 'le' or 'lt'}}
module attributes {kina.x = #kina.pred<N>} {}

// -----

// expected-error @+1 {{expected a dimension}}
module attributes {kina.x = #kina.pred<N = 2 or>} {}

// -----

// expected-error @+1 {{expected '('}}
module attributes {kina.x = #kina.pred<not N = 2>} {}

// -----

// expected-error @+1 {{expected ')'}}
module attributes {kina.x = #kina.pred<(N = 2)>} {}

// -----

// expected-error @+1 {{predicate is nested more than 200 levels deep}}
module attributes {kina.x = #kina.pred<[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[N = 2]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]>} {}

// -----

// expected-error @+2 {{failed to parse Kina_ClauseAttr parameter 'mode' which is to be a `::kina::ClauseMode`}}
// expected-error @+1 {{expected ::kina::ClauseMode to be one of: prove, runtime, trusted}}
module attributes {kina.x = #kina.clause<<N = 2>, maybe, "", loc(unknown)>} {}

// -----

// expected-error @+1 {{expected ','}}
module attributes {kina.x = #kina.clause<<N = 2>, prove, "">} {}

// -----

// expected-error @+2 {{failed to parse Kina_ClauseAttr parameter 'loc' which is to be a `::mlir::LocationAttr`}}
// expected-error @+1 {{invalid kind of attribute specified}}
module attributes {kina.x = #kina.clause<<N = 2>, prove, "", 3>} {}

// -----

// expected-error @+1 {{checkpoint kind 'every' is none of auto, sqrt, k, levels, slots, budget}}
module attributes {kina.x = #kina.checkpoint<"every">} {}

// -----

// expected-error @+1 {{checkpoint k must be at least 1, not 0}}
module attributes {kina.x = #kina.checkpoint<"k">} {}

// -----

// expected-error @+1 {{checkpoint k must be at least 1, not 0}}
module attributes {kina.x = #kina.checkpoint<"k", 0>} {}

// -----

// expected-error @+1 {{checkpoint levels must be at least 1, not -1}}
module attributes {kina.x = #kina.checkpoint<"levels", -1>} {}

// -----

// expected-error @+1 {{checkpoint sqrt takes no value}}
module attributes {kina.x = #kina.checkpoint<"sqrt", 3>} {}

// -----

// expected-error @+1 {{expected valid '@'-identifier for symbol name}}
module attributes {kina.x = #kina.place<host>} {}

// -----

// expected-error @+1 {{expected '('}}
module attributes {kina.x = #kina.place<@cuda:global>} {}

// -----

// expected-error @+1 {{unbalanced '(' character in pretty dialect name}}
module attributes {kina.x = #kina.place<@cuda:global(0>} {}

// -----

// expected-error @+2 {{failed to parse Kina_TagAttr parameter 'id' which is to be a `int64_t`}}
// expected-error @+1 {{expected integer value}}
module attributes {kina.x = #kina.tag<x>} {}

// -----

// expected-error @+2 {{failed to parse Kina_TagAttr parameter 'id' which is to be a `int64_t`}}
// expected-error @+1 {{integer value too large}}
module attributes {kina.x = #kina.tag<99999999999999999999>} {}

// -----

// expected-error @+2 {{failed to parse Kina_ShapeVarAttr parameter 'name' which is to be a `::llvm::StringRef`}}
// expected-error @+1 {{expected string}}
module attributes {kina.x = #kina.var<N>} {}

// -----

// expected-error @+2 {{failed to parse Kina_ShapeVarAttr parameter 'least' which is to be a `int64_t`}}
// expected-error @+1 {{expected integer value}}
module attributes {kina.x = #kina.var<"N", x>} {}

// -----

// expected-error @+1 {{unknown attribute `nothing` in dialect `kina`}}
module attributes {kina.x = #kina.nothing<3>} {}
