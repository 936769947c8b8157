// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What derivatives, cotangents and tapes refuse.

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op 'h' is no kina.func}}
  %0 = kina.grad @h(%x, %i) subst {N = #kina.dim<N>} wrt [0] : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (!kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op needs a function whose first result is a float scalar}}
  %0 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [0] : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op 'wrt' names operand 1 of type 'i32', which has no derivative}}
  %0 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [1] : (!kina.tensor<f64, [N]>, i32) -> i32
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op 'wrt' names operand 2 of 2}}
  %0 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [2] : (!kina.tensor<f64, [N]>, i32) -> i32
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op 'wrt' must be increasing}}
  %0 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [-1] : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op 'wrt' must be increasing}}
  %0:2 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [0, 0] : (!kina.tensor<f64, [N]>, i32) -> (!kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>)
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op result 0 has type 'f64', but @g gives '!kina.tensor<f64, [N]>' here}}
  %0 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [0] : (!kina.tensor<f64, [N]>, i32) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op has 1 results, but @g gives 3 here}}
  %0 = kina.grad @g(%x, %i) subst {N = #kina.dim<N>} wrt [0] value : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op 'subst' gives no dimension for shape variable 'N' of @g}}
  %0 = kina.grad @g(%x, %i) subst {} wrt [0] : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.grad' op requires attribute 'callee'}}
  %0 = "kina.grad"(%x, %i) : (!kina.tensor<f64, [N]>, i32) -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.vjp' op needs one cotangent of its type per float result of @g}}
  %0 = kina.vjp @g(%x, %i : !kina.tensor<f64, [N]>, i32) of (%x : !kina.tensor<f64, [N]>) subst {N = #kina.dim<N>} wrt [0] -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.vjp' op needs one cotangent of its type per float result of @g}}
  %0 = kina.vjp @g(%x, %i : !kina.tensor<f64, [N]>, i32) of () subst {N = #kina.dim<N>} wrt [0] -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.vjp' op 'wrt' names operand 1 of type 'i32', which has no derivative}}
  %0 = kina.vjp @g(%x, %i : !kina.tensor<f64, [N]>, i32) of (%ct : f64) subst {N = #kina.dim<N>} wrt [1] -> i32
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.vjp' op result 0 has type 'f64', but @g gives '!kina.tensor<f64, [N]>' here}}
  %0 = kina.vjp @g(%x, %i : !kina.tensor<f64, [N]>, i32) of (%ct : f64) subst {N = #kina.dim<N>} wrt [0] -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.vjp' op has 1 results, but @g gives 3 here}}
  %0 = kina.vjp @g(%x, %i : !kina.tensor<f64, [N]>, i32) of (%ct : f64) subst {N = #kina.dim<N>} wrt [0] value -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(index {kina.dim = "N"}) -> !kina.tensor<f64, [N - 5]> attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%i: index, %x: !kina.tensor<f64, [1]>) {
  // expected-error @+1 {{'kina.vjp' op result 0 of @g has here a dimension that overflows or is negative}}
  kina.vjp @g(%i : index) of (%x : !kina.tensor<f64, [1]>) subst {N = #kina.dim<3>} wrt []
  kina.return
}

// -----

kina.func private @g(index {kina.dim = "N"}) -> !kina.tensor<f64, [N - 5]> attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%i: index) {
  // expected-error @+1 {{'kina.grad' op result 0 of @g has here a dimension that overflows or is negative}}
  kina.grad @g(%i) subst {N = #kina.dim<3>} wrt [] : (index) -> ()
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.jvp' op needs one tangent of its type per operand in 'wrt'}}
  %0 = kina.jvp @g(%x, %i : !kina.tensor<f64, [N]>, i32) along (%ct : f64) subst {N = #kina.dim<N>} wrt [0] -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.jvp' op needs one tangent of its type per operand in 'wrt'}}
  %0 = kina.jvp @g(%x, %i : !kina.tensor<f64, [N]>, i32) along () subst {N = #kina.dim<N>} wrt [0] -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.jvp' op result 0 has type '!kina.tensor<f64, [N]>', but @g gives 'f64' here}}
  %0 = kina.jvp @g(%x, %i : !kina.tensor<f64, [N]>, i32) along (%x : !kina.tensor<f64, [N]>) subst {N = #kina.dim<N>} wrt [0] -> !kina.tensor<f64, [N]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> (f64, i32) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32, %ct: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.jvp' op 'wrt' names operand 7 of 2}}
  %0 = kina.jvp @g(%x, %i : !kina.tensor<f64, [N]>, i32) along (%x : !kina.tensor<f64, [N]>) subst {N = #kina.dim<N>} wrt [7] -> f64
  kina.return
}

// -----

kina.func @f(%x: f64, %y: f32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.seed' op failed to verify that cotangents have the types of the values}}
  %0 = "kina.seed"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1>}> : (f64, f32) -> !kina.cotangents
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.seed' op failed to verify that cotangents have the types of the values}}
  %0 = "kina.seed"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> : (f64) -> !kina.cotangents
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.seed' op operand count (1) does not match with the total size (8) specified in attribute 'operandSegmentSizes'}}
  %0 = "kina.seed"(%x) <{operandSegmentSizes = array<i32: 1, 7>}> : (f64) -> !kina.cotangents
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.seed' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %0 = "kina.seed"(%x) : (f64) -> !kina.cotangents
  kina.return
}

// -----

kina.func @f(%v: f64, %c: !kina.cotangents) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.pull' op applies a function from cotangents to cotangents, not 'f64'}}
  %0 = kina.pull %v(%c) : f64
  kina.return
}

// -----

kina.func @f(%v: i32, %c: !kina.cotangents) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cotangent_of' op reads the cotangent of a 'i32', which has none}}
  %0 = kina.cotangent_of %v in %c : i32
  kina.return
}

// -----

kina.func @f(%v: f64, %c: !kina.cotangents) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.cotangent_of' op failed to verify that all of {value, result} have same type}}
  %0 = "kina.cotangent_of"(%v, %c) : (f64, !kina.cotangents) -> f32
  kina.return
}

// -----

kina.func @f(%v: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.accumulate' op operand #0 must be float tensor, scalar or tape, but got 'i32'}}
  %0 = kina.accumulate %v, %v : i32
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.absent' op result #0 must be Kina tensor, scalar or tape, but got 'none'}}
  %0 = kina.absent : none
  kina.return
}

// -----

kina.func @f(%v: none) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.watch' op operand #0 must be Kina tensor or scalar, but got 'none'}}
  %0 = kina.watch %v : none
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.tape_new : f64
  kina.return
}

// -----

kina.func @f(%n: i32) {
  // expected-error @+1 {{'kina.tape_new' op operand #0 must be index, but got 'i32'}}
  %0 = "kina.tape_new"(%n) : (i32) -> !kina.tape<f64, bounded>
  kina.return
}

// -----

kina.func @f() {
  // expected-error @+1 {{'kina.tape_new' op of form bounded needs a bound}}
  %0 = kina.tape_new : !kina.tape<f64, bounded>
  kina.return
}

// -----

kina.func @f(%t: !kina.tape<f64, bounded>, %n: index, %i: i32) {
  // expected-error @+1 {{'kina.tape_push' op failed to verify that the value has the element type of the tape}}
  %0 = "kina.tape_push"(%t, %n, %i) : (!kina.tape<f64, bounded>, index, i32) -> !kina.tape<f64, bounded>
  kina.return
}

// -----

kina.func @f(%t: !kina.tape<f64, bounded>, %n: index) {
  // expected-error @+1 {{'kina.tape_read' op failed to verify that the value has the element type of the tape}}
  %0 = "kina.tape_read"(%t, %n) : (!kina.tape<f64, bounded>, index) -> i32
  kina.return
}
