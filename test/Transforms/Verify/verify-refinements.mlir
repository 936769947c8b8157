// RUN: kina-opt %s --kina-verify-refinements="no-smt" --split-input-file | FileCheck %s

// What is proved is erased, or left as a fact where it is a divisor or a bound.

// CHECK-LABEL: kina.func @proved
// CHECK-NEXT:    kina.assume <5 le N>
// CHECK-NEXT:    kina.assume <D mod 4 = 0>
// CHECK-NEXT:    kina.return
kina.func @proved() attributes {
    preconditions = [#kina.clause<<8 le N>, prove, "N >= 8", loc(unknown)>,
                     #kina.clause<<D mod 8 = 0>, prove, "D mod 8 = 0", loc(unknown)>],
    shape_vars = [#kina.var<"N">, #kina.var<"D">]} {
  kina.obligation bounds <5 le N>, "bounds"
  kina.obligation check <D mod 4 = 0>, "divisor"
  kina.obligation shapes_equal <N + D = D + N>, "sum"
  kina.obligation bounds <5 le N>, "again"
  kina.return
}

// -----

// The conditions of branches, the ones that evaluate their right side only if needed included.

// CHECK-LABEL: kina.func @branches
// CHECK-NOT: kina.obligation
kina.func @branches(%b: i1) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  %n = kina.dim <N> : i32
  %m = kina.dim <M> : i32
  %five = kina.constant 5 : i32
  %false = kina.constant false
  %true = kina.constant true
  %less = kina.cmp lt, %n, %m : i32
  %small = kina.cmp lt, %m, %five : i32
  %and = kina.and %less, %small : i1
  kina.if %and {
    kina.obligation bounds <N + 1 le M>, "less"
    kina.obligation bounds <N le 3>, "both"
    kina.yield
  } else {
    kina.obligation check <M le N or 5 le M>, "one of them"
    kina.yield
  }
  %guarded = kina.if %less -> (i1) {
    %equal = kina.cmp eq, %m, %five : i32
    kina.yield %equal : i1
  } else {
    kina.yield %false : i1
  }
  kina.if %guarded {
    kina.obligation bounds <N le 4>, "guarded"
    kina.yield
  }
  %either = kina.if %less -> (i1) {
    kina.yield %true : i1
  } else {
    kina.yield %small : i1
  }
  kina.if %either {
    kina.yield
  } else {
    kina.obligation bounds <5 le M>, "neither"
    kina.obligation bounds <M le N>, "nor"
    kina.yield
  }
  %not = kina.not %less : i1
  kina.if %not {
    kina.obligation bounds <M le N>, "not less"
    kina.yield
  }
  kina.check %less, "tested"
  kina.obligation bounds <N lt M>, "tested"
  kina.return
}

// -----

// A counter lies between its bounds, and its neighbours are exact.

// CHECK-LABEL: kina.func @counter
// CHECK-NOT: kina.obligation
// CHECK: trip_bound = #kina.dim<N - 1>
kina.func @counter() attributes {
    preconditions = [#kina.clause<<3 le N>, prove, "N >= 3", loc(unknown)>], shape_vars = [#kina.var<"N">]} {
  %one = kina.constant 1 : i32
  %n = kina.dim <N> : i32
  %r:2 = kina.while (%i = %one, %k = %n) : i32, i32 {
    %more = kina.cmp lt, %i, %k : i32
    kina.condition(%more)
  } do {
  ^bb0(%i: i32, %k: i32):
    kina.bind_dim "I" = %i : i32
    kina.obligation bounds <1 le I>, "not below the start"
    kina.obligation bounds <I lt N>, "below the end"
    %next = kina.add %i, %one : i32
    kina.bind_dim "J" = %next : i32
    kina.obligation shapes_equal <J = I + 1>, "the next one"
    %rest = kina.sub %k, %i : i32
    kina.bind_dim "R" = %rest : i32
    kina.obligation shapes_equal <R + I = N>, "what is left"
    kina.yield %next, %k : i32, i32
  }
  kina.return
}

// -----

// A size that is bound to a size is that size; to a cast, a quotient, and a product that cannot wrap, too.

// CHECK-LABEL: kina.func @bound
// CHECK-NOT: kina.obligation
kina.func @bound(%n: index {kina.dim = "N"}) attributes {
    preconditions = [#kina.clause<<N le 4096>, prove, "N <= 4096", loc(unknown)>], shape_vars = [#kina.var<"N">]} {
  %two = kina.constant 2 : i64
  %wide = kina.cast %n : index to i64
  %double = kina.mul %wide, %two : i64
  kina.bind_dim "D" = %double : i64
  kina.obligation shapes_equal <D = 2*N>, "product"
  %half = kina.div %wide, %two : i64
  kina.bind_dim "H" = %half : i64
  kina.obligation bounds <H le N>, "quotient"
  %narrow = kina.cast %n : index to i32
  %square = kina.mul %narrow, %narrow : i32
  kina.bind_dim "S" = %square : i32
  kina.obligation shapes_equal <S = N*N>, "cast and product"
  kina.return
}

// -----

// A trusted fact that is proved needs no test when it is executed.

// CHECK-LABEL: kina.func @trusted
// CHECK-NEXT: kina.assume <2 le N>
// CHECK-NEXT: kina.assume trusted <4 le N>
kina.func @trusted() attributes {
    preconditions = [#kina.clause<<3 le N>, prove, "N >= 3", loc(unknown)>], shape_vars = [#kina.var<"N">]} {
  kina.assume trusted <2 le N>
  kina.assume trusted <4 le N>
  kina.obligation bounds <4 le N>, "trusted"
  kina.return
}

// -----

// A counter is not below its start, so a slice at it is not tested when executed; one that may
// leave the axis by one is.

// CHECK-LABEL: kina.func @slices
// CHECK: kina.slice %{{.*}}[%{{.*}}] sizes [#kina.dim<1>] dropped [0] in_bounds :
// CHECK: kina.update %{{.*}} into %{{.*}}[%{{.*}}] sizes [#kina.dim<1>] dropped [0] in_bounds :
// CHECK: kina.slice %{{.*}}[%{{.*}}] sizes [#kina.dim<2>] dropped [] :
kina.func @slices(%x: !kina.tensor<f64, [N]>, %v: f64) attributes {shape_vars = [#kina.var<"N">]} {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %n = kina.dim <N> : i32
  %r:2 = kina.while (%i = %zero, %y = %x) : i32, !kina.tensor<f64, [N]> {
    %more = kina.cmp lt, %i, %n : i32
    kina.condition(%more)
  } do {
  ^bb0(%i: i32, %y: !kina.tensor<f64, [N]>):
    %at = kina.cast %i : i32 to index
    %e = kina.slice %y[%at] sizes [#kina.dim<1>] dropped [0] : <f64, [N]> to f64
    %u = kina.update %e into %y[%at] sizes [#kina.dim<1>] dropped [0] : f64 into <f64, [N]>
    %two = kina.slice %y[%at] sizes [#kina.dim<2>] dropped [] : <f64, [N]> to !kina.tensor<f64, [2]>
    %next = kina.add %i, %one : i32
    kina.yield %next, %u : i32, !kina.tensor<f64, [N]>
  }
  kina.return
}

// -----

// A loop's bound has the least constant that follows for it, and a private function says what its callers have proved.

// CHECK-LABEL: kina.func private @bounded
// CHECK-NEXT:    kina.assume <N le 20>
// CHECK:       trip_bound = #kina.dim<min(N, 20)>
kina.func private @bounded(%x: f64) -> f64 attributes {
    preconditions = [#kina.clause<<N le 20>, prove, "N <= 20", loc(unknown)>], shape_vars = [#kina.var<"N">]} {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %tol = kina.constant 1.0 : f64
  %n = kina.dim <N> : i32
  %0:2 = kina.while (%i = %zero, %s = %x) : i32, f64 {
    %less = kina.cmp lt, %i, %n : i32
    %large = kina.cmp gt, %s, %tol : f64
    %more = kina.and %less, %large : i1
    kina.condition(%more)
  } do {
  ^bb0(%i: i32, %s: f64):
    %next = kina.add %i, %one : i32
    %half = kina.mul %s, %s : f64
    kina.yield %next, %half : i32, f64
  }
  kina.return %0#1 : f64
}
