// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What types refuse.

// expected-error @+1 {{element type 'i17' is none of f64, f32, f16, bf16, i64, i32, i8, ui8, i1}}
kina.func private @f(!kina.tensor<i17, [3]>)

// -----

// expected-error @+1 {{element type 'index' is none of f64, f32, f16, bf16, i64, i32, i8, ui8, i1}}
kina.func private @f(!kina.tensor<index, [3]>)

// -----

// expected-error @+1 {{element type 'none' is none of f64, f32, f16, bf16, i64, i32, i8, ui8, i1}}
kina.func private @f(!kina.tensor<none, [3]>)

// -----

// expected-error @+1 {{element type 'si8' is none of f64, f32, f16, bf16, i64, i32, i8, ui8, i1}}
kina.func private @f(!kina.tensor<si8, [3]>)

// -----

// expected-error @+1 {{a tensor of rank 0 on the host is the scalar 'f64'}}
kina.func private @f(!kina.tensor<f64, []>)

// -----

// expected-error @+1 {{a tensor of rank 0 on the host is the scalar 'f64'}}
kina.func private @f(!kina.tensor<f64, [], @host>)

// -----

// expected-error @+1 {{axis 0 (0-based) has the negative size -3}}
kina.func private @f(!kina.tensor<f64, [-3]>)

// -----

// expected-error @+1 {{axis 0 (0-based) has the negative size -2}}
kina.func private @f(!kina.tensor<f64, [3 - 5]>)

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
kina.func private @f(!kina.tensor<f64, [9223372036854775808]>)

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
kina.func private @f(!kina.tensor<f64, [N floordiv 0]>)

// -----

// expected-error @+1 {{dimension arithmetic overflows, divides by zero or is too large}}
kina.func private @f(!kina.tensor<f64, [N mod 0]>)

// -----

// expected-error @+1 {{unbalanced '[' character in pretty dialect name}}
kina.func private @f(!kina.tensor<f64, [3>)

// -----

// expected-error @+1 {{expected ','}}
kina.func private @f(!kina.tensor<f64>)

// -----

// expected-error @+1 {{expected non-function type}}
kina.func private @f(!kina.tensor<[3], f64>)

// -----

// expected-error @+1 {{expected valid '@'-identifier for symbol name}}
kina.func private @f(!kina.tensor<f64, [3], host>)

// -----

// expected-error @+1 {{expected '('}}
kina.func private @f(!kina.tensor<f64, [3], @cuda:global>)

// -----

// expected-error @+1 {{expected integer value}}
kina.func private @f(!kina.tensor<f64, [3], @cuda:global(x)>)

// -----

// expected-error @+1 {{expected a dimension}}
kina.func private @f(!kina.tensor<f64, ["N"]>)

// -----

// expected-error @+1 {{expected a dimension}}
kina.func private @f(!kina.tensor<f64, [?]>)

// -----

// expected-error @+1 {{element type '!kina.tensor<f64, [2]>' is none of f64, f32, f16, bf16, i64, i32, i8, ui8, i1}}
kina.func private @f(!kina.tensor<!kina.tensor<f64, [2]>, [3]>)

// -----

// expected-error @+1 {{expected '->'}}
kina.func private @f(!kina.cont<f64>)

// -----

// expected-error @+1 {{expected '('}}
kina.func private @f(!kina.cont<f64 -> f64>)

// -----

// expected-error @+2 {{expected ::kina::TapeForm to be one of: bounded, growable}}
// expected-error @+1 {{failed to parse Kina_TapeType parameter 'form'}}
kina.func private @f(!kina.tape<f64, heap>)

// -----

// expected-error @+1 {{a tape holds scalars or tensors, not '!kina.tape<f64, bounded>'}}
kina.func private @f(!kina.tape<!kina.tape<f64, bounded>, bounded>)

// -----

// expected-error @+1 {{unknown  type `nothing` in dialect `kina`}}
kina.func private @f(!kina.nothing)

// -----

// expected-error @+1 {{expected '<'}}
kina.func private @f(!kina.tensor)
