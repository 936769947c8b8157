// RUN: not kina-opt %s --kina-verify-refinements="no-smt" 2>&1 >/dev/null | FileCheck %s --implicit-check-not=error:

// Clauses of a callee, and its least sizes, are proved whoever made the call.

#clause = #kina.clause<<5 lt N>, prove, "N > 5", loc("callee.kina":1:2)>
kina.func private @needs(%x: !kina.tensor<f64, [N]>) -> f64 attributes {preconditions = [#clause], shape_vars = [#kina.var<"N", 2>]} {
  %0 = kina.sum %x axes [0] : !kina.tensor<f64, [N]>
  kina.return %0 : f64
}

// CHECK: :[[@LINE+8]]:8: error: K0304: 'needs' needs N >= 2, and N is 'M' here
// CHECK: note: 'M >= 2' does not hold for all sizes
// CHECK: note: counterexample: M = 1
// CHECK: :[[@LINE+5]]:8: error: K0304: 'needs' requires 'N > 5', which may fail here
// CHECK: callee.kina:1:2: note: required here
// CHECK: note: in this call N = M
// CHECK: note: counterexample: M = 1
kina.func @calls(%x: !kina.tensor<f64, [M]>) -> f64 attributes {shape_vars = [#kina.var<"M">]} {
  %0 = kina.call @needs(%x) subst {N = #kina.dim<M>} : (!kina.tensor<f64, [M]>) -> f64
  kina.return %0 : f64
}

// Behind a region nothing of it is known, and what one region does not prove is told there.

// CHECK: :[[@LINE+11]]:3: error: K0307: behind
// CHECK: note: 'N >= 5' does not hold for all sizes
// CHECK: note: counterexample: N = 1
kina.func @behind() attributes {shape_vars = [#kina.var<"N">]} {
  %n = kina.dim <N> : i32
  %five = kina.constant 5 : i32
  %large = kina.cmp ge, %n, %five : i32
  kina.if %large {
    kina.obligation bounds <5 le N>, "inside"
    kina.yield
  }
  kina.obligation bounds <5 le N>, "behind"
  kina.return
}

// A counter of 8 bits may wrap, and one that advances by two may pass its end and wrap.

// CHECK: :[[@LINE+13]]:5: error: K0307: wraps
// CHECK: note: 'I >= 2' does not hold for all sizes
// CHECK: note: counterexample: I = 1
kina.func @wraps(%n: i32) attributes {shape_vars = []} {
  %two = kina.constant 2 : i32
  %start = kina.constant 2 : i32
  %r = kina.while (%i = %start) : i32 {
    %more = kina.cmp lt, %i, %n : i32
    kina.condition(%more)
  } do {
  ^bb0(%i: i32):
    kina.bind_dim "I" = %i : i32
    kina.obligation bounds <1 le I>, "proved"
    kina.obligation bounds <2 le I>, "wraps"
    %next = kina.add %i, %two : i32
    kina.yield %next : i32
  }
  kina.return
}

// The notes of an obligation are told with it.

// CHECK: :[[@LINE+5]]:3: error: K0301: sizes differ
// CHECK: note: 'S = T' does not hold for all sizes
// CHECK: callee.kina:3:4: note: the parameter
// CHECK: note: counterexample: S = 1, T = 2 -> left = 1, right = 2
kina.func @notes() attributes {shape_vars = [#kina.var<"S">, #kina.var<"T">]} {
  kina.obligation shapes_equal <S = T>, "sizes differ" notes [#kina.note<"the parameter", loc("callee.kina":3:4)>]
  kina.return
}
