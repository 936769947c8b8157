// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What contraction, shape, making and indexing refuse.

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [L, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op contracted dimensions differ: K and L}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [L, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [K, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op contracted dimensions differ: M and K}}
  %0 = kina.matmul %a, %b transpose_a : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [K, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [N, K]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op contracted dimensions differ: K and N}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [N, K]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [K]>, %b: !kina.tensor<f64, [K, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op needs two tensors of one rank, at least 2}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [K]>, !kina.tensor<f64, [K, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [K]>, %b: !kina.tensor<f64, [K]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op needs two tensors of one rank, at least 2}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [K]>, !kina.tensor<f64, [K]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [L, M, K]>, %b: !kina.tensor<f64, [K, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op needs two tensors of one rank, at least 2}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [L, M, K]>, !kina.tensor<f64, [K, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [L, M, K]>, %b: !kina.tensor<f64, [N, K, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op batch dimensions differ}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [L, M, K]>, !kina.tensor<f64, [N, K, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f32, [K, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op element types differ: 'f64' and 'f32'}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [M, K]>, !kina.tensor<f32, [K, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<i1, [M, K]>, %b: !kina.tensor<i1, [K, N]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op needs numbers, not booleans}}
  %0 = kina.matmul %a, %b : !kina.tensor<i1, [M, K]>, !kina.tensor<i1, [K, N]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [K, N], @cuda:global(0)>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">, #kina.var<"K">, #kina.var<"L">]} {
  // expected-error @+1 {{'kina.matmul' op operands are placed differently}}
  %0 = kina.matmul %a, %b : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [K, N], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%a: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.matmul %a, %a : f64, f64
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %c: !kina.tensor<f64, [K, K]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"K">]} {
  // expected-error @+1 {{'kina.matmul' op accumulator has type '!kina.tensor<f64, [K, K]>', but the result has '!kina.tensor<f64, [M, M]>'}}
  %0 = "kina.matmul"(%a, %a, %c) <{transpose_b}> : (!kina.tensor<f64, [M, K]>, !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [K, K]>) -> !kina.tensor<f64, [M, M]>
  kina.return
}

// -----

kina.func @f(%a: !kina.tensor<f64, [M, K]>, %b: !kina.tensor<f64, [K, M]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"K">]} {
  // expected-error @+2 {{'kina.matmul' op failed to infer returned types}}
  // expected-error @+1 {{'kina.matmul' op inferred type(s) '!kina.tensor<f64, [M, M]>' are incompatible with return type(s) of operation '!kina.tensor<f64, [K, K]>'}}
  %0 = "kina.matmul"(%a, %b) : (!kina.tensor<f64, [M, K]>, !kina.tensor<f64, [K, M]>) -> !kina.tensor<f64, [K, K]>
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.broadcast' op changes the element type from 'f64' to 'f32'}}
  %0 = kina.broadcast %x : f64 to !kina.tensor<f32, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.broadcast' op cannot lower the rank from 2 to 1}}
  %0 = kina.broadcast %x : !kina.tensor<f64, [N, N]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [M]>) attributes {shape_vars = [#kina.var<"M">, #kina.var<"N">]} {
  // expected-error @+1 {{'kina.broadcast' op cannot broadcast an axis of size M to N}}
  %0 = kina.broadcast %x : !kina.tensor<f64, [M]> to !kina.tensor<f64, [2, N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.broadcast' op changes the placement}}
  %0 = kina.broadcast %x : !kina.tensor<f64, [N]> to !kina.tensor<f64, [2, N], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [1]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.broadcast %x : !kina.tensor<f64, [1]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.reshape' op changes the element count from M*N to N}}
  %0 = kina.reshape %x : !kina.tensor<f64, [N, M]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.reshape' op changes the element type from 'f64' to 'f32'}}
  %0 = kina.reshape %x : !kina.tensor<f64, [N]> to !kina.tensor<f32, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.reshape' op changes the placement}}
  %0 = kina.reshape %x : !kina.tensor<f64, [N]> to !kina.tensor<f64, [N], @P>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [4294967296, 4294967296]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.reshape' op element count overflows}}
  %0 = kina.reshape %x checked : !kina.tensor<f64, [4294967296, 4294967296]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [2]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.reshape' op changes the element count from 2 to 1}}
  %0 = kina.reshape %x : !kina.tensor<f64, [2]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.transpose' op needs one entry of 'perm' per axis}}
  %0 = kina.transpose %x perm [0] : !kina.tensor<f64, [N, M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.transpose' op 'perm' is no permutation}}
  %0 = kina.transpose %x perm [0, 0] : !kina.tensor<f64, [N, M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.transpose' op 'perm' is no permutation}}
  %0 = kina.transpose %x perm [0, 2] : !kina.tensor<f64, [N, M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.transpose' op 'perm' is no permutation}}
  %0 = kina.transpose %x perm [-1, 0] : !kina.tensor<f64, [N, M]>
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.transpose %x perm [] : f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+2 {{'kina.transpose' op failed to infer returned types}}
  // expected-error @+1 {{'kina.transpose' op inferred type(s) '!kina.tensor<f64, [M, N]>' are incompatible with return type(s) of operation '!kina.tensor<f64, [N, M]>'}}
  %0 = "kina.transpose"(%x) <{perm = array<i64: 1, 0>}> : (!kina.tensor<f64, [N, M]>) -> !kina.tensor<f64, [N, M]>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.constant' op result #0 must be Kina scalar, but got 'tensor<2xf64>'}}
  %0 = kina.constant dense<1.0> : tensor<2xf64>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.constant' op result #0 must be Kina scalar, but got 'i17'}}
  %0 = kina.constant 1 : i17
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.constant' op result #0 must be Kina scalar, but got 'none'}}
  %0 = kina.constant "text"
  kina.return
}

// -----

kina.func @f(%a: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.from_elements' op has 2 elements for '!kina.tensor<f32, [3]>'}}
  %0 = kina.from_elements %a, %a : (f32, f32) -> !kina.tensor<f32, [3]>
  kina.return
}

// -----

kina.func @f(%a: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.from_elements' op has 2 elements for '!kina.tensor<f32, [N]>'}}
  %0 = kina.from_elements %a, %a : (f32, f32) -> !kina.tensor<f32, [N]>
  kina.return
}

// -----

kina.func @f(%a: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.from_elements' op element of type 'f32' in '!kina.tensor<f64, [2]>'}}
  %0 = kina.from_elements %a, %a : (f32, f32) -> !kina.tensor<f64, [2]>
  kina.return
}

// -----

kina.func @f(%a: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.from_elements' op has 1 elements for '!kina.tensor<f32, [4294967296, 4294967296]>'}}
  %0 = kina.from_elements %a : (f32) -> !kina.tensor<f32, [4294967296, 4294967296]>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.iota' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.iota 1 : !kina.tensor<i32, [N]>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.iota' op axis -1 (0-based) is out of range for rank 1}}
  %0 = kina.iota -1 : !kina.tensor<i32, [N]>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.iota' op needs a number type, not i1}}
  %0 = kina.iota 0 : !kina.tensor<i1, [N]>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.iota 0 : f64
  kina.return
}

// -----

kina.func @f(%i: !kina.tensor<i32, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.one_hot' op the result's shape must be that of the indices with one axis more}}
  %0 = kina.one_hot %i : !kina.tensor<i32, [N]> to !kina.tensor<f64, [M, 3]>
  kina.return
}

// -----

kina.func @f(%i: !kina.tensor<i32, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.one_hot' op the result's shape must be that of the indices with one axis more}}
  %0 = kina.one_hot %i : !kina.tensor<i32, [N]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.one_hot' op the result's shape must be that of the indices with one axis more}}
  %0 = kina.one_hot %i : i32 to !kina.tensor<f64, [], @cuda:global(0)>
  kina.return
}

// -----

kina.func @f(%i: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.one_hot' op operand #0 must be integer tensor or scalar, but got 'f64'}}
  %0 = kina.one_hot %i : f64 to !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op needs one offset and one size per axis of rank 1}}
  %0 = kina.slice %x[%i, %i] sizes [#kina.dim<1>] dropped [0] : !kina.tensor<f64, [N]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op needs one offset and one size per axis of rank 1}}
  %0 = kina.slice %x[%i] sizes [] dropped [] : !kina.tensor<f64, [N]> to !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op drops axis 0 of size 2, which is not 1}}
  %0 = kina.slice %x[%i] sizes [#kina.dim<2>] dropped [0] : !kina.tensor<f64, [N]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.slice %x[%i] sizes [#kina.dim<1>] dropped [1] : !kina.tensor<f64, [N]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op axes must be increasing and not negative}}
  %0 = kina.slice %x[%i] sizes [#kina.dim<1>] dropped [-1] : !kina.tensor<f64, [N]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op axes must be increasing and not negative}}
  %0 = kina.slice %x[%i, %i] sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 0] : !kina.tensor<f64, [N, N]> to f64
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op result has type '!kina.tensor<f64, [3]>', but the box has '!kina.tensor<f64, [2]>'}}
  %0 = kina.slice %x[%i] sizes [#kina.dim<2>] dropped [] : !kina.tensor<f64, [N]> to !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op axis 0 (0-based) of the box has the negative size -2}}
  %0 = kina.slice %x[%i] sizes [#kina.dim<-2>] dropped [] : !kina.tensor<f64, [N]> to !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op attribute 'sizes' failed to satisfy constraint: list of dimensions}}
  %0 = kina.slice %x[%i] sizes [3] dropped [] : !kina.tensor<f64, [N]> to !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op operand #1 must be variadic of index, but got 'i32'}}
  %0 = "kina.slice"(%x, %i) <{sizes = [#kina.dim<3>], dropped = array<i64>}> : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.slice' op requires attribute 'dropped'}}
  %0 = "kina.slice"(%x, %i) : (!kina.tensor<f64, [N]>, index) -> !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f(%v: f32, %x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.update' op value has type 'f32', but the box has 'f64'}}
  %0 = kina.update %v into %x[%i] sizes [#kina.dim<1>] dropped [0] : f32 into !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%v: f64, %x: !kina.tensor<f64, [N]>, %i: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.update' op axis 0 (0-based) of the box has the negative size -1}}
  %0 = kina.update %v into %x[%i] sizes [#kina.dim<-1>] dropped [0] : f64 into !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.gather' op axis is out of range}}
  %0 = kina.gather %x at %i axis 1 : !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.gather' op axis is out of range}}
  %0 = kina.gather %x at %i axis -1 : !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.gather' op result #0 must be Kina tensor, but got 'f64'}}
  %0 = kina.gather %x at %i axis 0 : !kina.tensor<f64, [N]>, i32
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<f64, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.gather' op operand #1 must be integer tensor or scalar, but got '!kina.tensor<f64, [M]>'}}
  %0 = kina.gather %x at %i axis 0 : !kina.tensor<f64, [N]>, !kina.tensor<f64, [M]>
  kina.return
}

// -----

kina.func @f(%x: f64, %i: !kina.tensor<i32, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.gather %x at %i axis 0 : f64, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>, %v: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.scatter_add' op values have type '!kina.tensor<f64, [N]>', but the gathered shape is '!kina.tensor<f64, [M]>'}}
  %0 = kina.scatter_add %v into %x at %i axis 0 : !kina.tensor<f64, [N]> into !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>, %v: !kina.tensor<f64, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.scatter_add' op axis 2 (0-based) is out of range for rank 1}}
  %0 = kina.scatter_add %v into %x at %i axis 2 : !kina.tensor<f64, [M]> into !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>, %v: !kina.tensor<f64, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.scatter_add' op axis -1 (0-based) is out of range for rank 1}}
  %0 = kina.scatter_add %v into %x at %i axis -1 : !kina.tensor<f64, [M]> into !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M, 3]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.take_along' op indices have rank 2, not 1}}
  %0 = kina.take_along %x at %i axis 0 : !kina.tensor<f64, [N]>, !kina.tensor<i32, [M, 3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 2]>, %i: !kina.tensor<i32, [M, 3]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.take_along' op axis 1 (0-based) has size 2 in the operand and 3 in the indices}}
  %0 = kina.take_along %x at %i axis 0 : !kina.tensor<f64, [N, 2]>, !kina.tensor<i32, [M, 3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 2]>, %i: !kina.tensor<i32, [M, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.take_along' op axis 2 (0-based) is out of range for rank 2}}
  %0 = kina.take_along %x at %i axis 2 : !kina.tensor<f64, [N, 2]>, !kina.tensor<i32, [M, 2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 2]>, %i: !kina.tensor<f64, [M, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.take_along' op needs integer indices, not 'f64'}}
  %0 = kina.take_along %x at %i axis 0 : !kina.tensor<f64, [N, 2]>, !kina.tensor<f64, [M, 2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 2]>, %i: !kina.tensor<i1, [M, 2]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.take_along' op needs integer indices, not 'i1'}}
  %0 = kina.take_along %x at %i axis 0 : !kina.tensor<f64, [N, 2]>, !kina.tensor<i1, [M, 2]>
  kina.return
}

// -----

kina.func @f(%x: index, %i: !kina.tensor<i32, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.take_along %x at %i axis 0 : index, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: none, %i: !kina.tensor<i32, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.take_along %x at %i axis 0 : none, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>, %v: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.put_along_add' op values have type '!kina.tensor<f64, [N]>', not '!kina.tensor<f64, [M]>'}}
  %0 = kina.put_along_add %v into %x at %i axis 0 : !kina.tensor<f64, [N]> into !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %i: !kina.tensor<i32, [M]>, %v: !kina.tensor<f64, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @+1 {{'kina.put_along_add' op axis 1 (0-based) is out of range for rank 1}}
  %0 = kina.put_along_add %v into %x at %i axis 1 : !kina.tensor<f64, [M]> into !kina.tensor<f64, [N]>, !kina.tensor<i32, [M]>
  kina.return
}

// -----

kina.func @f() {
  // expected-error @+2 {{'kina.concat' op needs a tensor}}
  // expected-error @+1 {{'kina.concat' op failed to infer returned types}}
  %0 = "kina.concat"() {axis = 0} : () -> !kina.tensor<f64, [2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [2]>) {
  // expected-error @+1 {{'kina.concat' op axis is out of range}}
  %0 = kina.concat %x axis 1 : !kina.tensor<f64, [2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [2]>, %y: !kina.tensor<f64, [2, 2]>) {
  // expected-error @+1 {{'kina.concat' op needs tensors of one rank, not 1 and 2}}
  %0 = kina.concat %x, %y axis 0 : !kina.tensor<f64, [2]>, !kina.tensor<f64, [2, 2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [9223372036854775807]>) {
  // expected-error @+1 {{'kina.concat' op the size of the axis overflows}}
  %0 = kina.concat %x, %x axis 0 : !kina.tensor<f64, [9223372036854775807]>, !kina.tensor<f64, [9223372036854775807]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N, 2]>, %y: !kina.tensor<f64, [N, 3]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.concat' op input 1 (0-based) has type '!kina.tensor<f64, [N, 3]>', not '!kina.tensor<f64, [N, 2]>'}}
  %0 = kina.concat %x, %y axis 0 : !kina.tensor<f64, [N, 2]>, !kina.tensor<f64, [N, 3]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [2]>, %y: !kina.tensor<f32, [2]>) {
  // expected-error @+1 {{'kina.concat' op input 1 (0-based) has type '!kina.tensor<f32, [2]>', not '!kina.tensor<f64, [2]>'}}
  %0 = kina.concat %x, %y axis 0 : !kina.tensor<f64, [2]>, !kina.tensor<f32, [2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [2]>) {
  // expected-error @+1 {{'kina.concat' op axis -1 (0-based) is out of range for rank 1}}
  %0 = "kina.concat"(%x) {axis = -1} : (!kina.tensor<f64, [2]>) -> !kina.tensor<f64, [2]>
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [2]>, %y: !kina.tensor<f64, [2, 2]>) {
  // expected-error @+1 {{'kina.concat' op input 0 (0-based) has rank 1, not 2}}
  %0 = "kina.concat"(%x, %y) {axis = 1} : (!kina.tensor<f64, [2]>, !kina.tensor<f64, [2, 2]>) -> !kina.tensor<f64, [2, 4]>
  kina.return
}
