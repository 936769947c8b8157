// RUN: kina-opt %s --kina-lower-to-linalg | FileCheck %s

// The typed signature stays, with visibility and argument attributes; a public function checks
// its sizes and its preconditions.

// CHECK-LABEL: func.func public @entry(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf64> {kina.name = "x"}, %[[Y:.*]]: tensor<?xi8>) -> index
// CHECK-SAME:    kina.function_type = (!kina.tensor<f64, [T + 1, 8*q]>, !kina.tensor<ui8, [T]>) -> index
// CHECK-SAME:    kina.requires = [#kina.clause<
// CHECK-SAME:    kina.shape_vars = [#kina.var<"T">, #kina.var<"q", 2>]
// CHECK:         %[[T:.*]] = tensor.dim %[[Y]]
// CHECK:         kina_rt.check %{{.*}}, 802, "argument `x` has size {0} at axis 0, expected {1} = `T + 1` (T = {2})"
// CHECK:         kina_rt.check %{{.*}}, 802, "argument `x` has size {0} at axis 1, expected {1} = `8*q` (q = {2})"
// CHECK:         kina_rt.check %{{.*}}, 802, "`T` is {0}, but must be at least 1"
// CHECK:         kina_rt.check %{{.*}}, 802, "`q` is {0}, but must be at least 2"
// CHECK:         kina_rt.check %{{.*}}, 801, "`entry` requires T >= 3, but T = {0}"(%[[T]])
kina.func public @entry(%x: !kina.tensor<f64, [T + 1, 8*q]> {kina.name = "x"}, %y: !kina.tensor<ui8, [T]>) -> index
    attributes {shape_vars = [#kina.var<"T">, #kina.var<"q", 2>],
                preconditions = [#kina.clause<<3 le T>, runtime, "T >= 3", loc(unknown)>]} {
  %0 = kina.dim <q> : index
  kina.return %0 : index
}

// Every dimension is computed once, at the entry, wherever it is used.

// CHECK-LABEL: func.func private @sizes(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf64>, %[[C:.*]]: i1
// CHECK:         %[[S:.*]] = tensor.dim %[[X]]
// CHECK:         %[[T:.*]] = arith.subi %[[S]], %{{.*}} : index
// CHECK:         %[[H:.*]] = arith.floordivsi %[[T]], %{{.*}} : index
// CHECK-NOT:     arith.floordivsi
// CHECK:         scf.if %[[C]]
// CHECK:           scf.yield %[[H]]
// CHECK:         } else {
// CHECK:           scf.yield %[[T]]
kina.func private @sizes(%x: !kina.tensor<f64, [T + 1]>, %c: i1) -> index attributes {shape_vars = [#kina.var<"T">]} {
  %0 = kina.dim <T floordiv 2> : index
  %r = kina.if %c -> (index) {
    %1 = kina.dim <T floordiv 2> : index
    kina.yield %1 : index
  } else {
    %1 = kina.dim <T> : index
    kina.yield %1 : index
  }
  kina.return %r : index
}

// An integer argument that is a shape variable.

// CHECK-LABEL: func.func private @integer(
// CHECK-SAME:    %[[M:.*]]: index {kina.dim = "M"}
// CHECK:         tensor.empty(%[[M]])
kina.func private @integer(%m: index {kina.dim = "M"}, %x: f64) -> !kina.tensor<f64, [M]> attributes {shape_vars = [#kina.var<"M">]} {
  %0 = kina.broadcast %x : f64 to !kina.tensor<f64, [M]>
  kina.return %0 : !kina.tensor<f64, [M]>
}

// A size born from data is checked and used from there on; assumptions that are trusted are
// checked, proved ones are gone.

// CHECK-LABEL: func.func private @bound(
// CHECK-SAME:    %[[N:.*]]: i32
// CHECK:         %[[K:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK:         kina_rt.check %{{.*}}, 801, "dimension K is {0}, but must be at least 1"(%[[K]])
// CHECK:         kina_rt.check %{{.*}}, 801, "assumed K = 4, but K = {0}"(%{{.*}})
// CHECK:         %[[LOW:.*]], %[[HIGH:.*]] = arith.mulsi_extended
// CHECK:         %[[SIGN:.*]] = arith.shrsi %[[LOW]]
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[HIGH]], %[[SIGN]]
// CHECK:         kina_rt.check %[[FITS]], 802, "the dimension 3*K does not fit into 64 bits: K = {0}"
// CHECK-NOT:     kina_rt.check
// CHECK-NOT:     kina.
kina.func private @bound(%n: i32) -> i64 {
  kina.bind_dim "K" = %n : i32
  kina.assume trusted <K = 4>
  kina.assume <2 le K>
  %0 = kina.dim <3*K> : i64
  kina.return %0 : i64
}

// Carried values go through the condition, extra ones are added; the outermost loop polls, and
// an inner one that nothing bounds.

// CHECK-LABEL: func.func private @loops(
// CHECK:         scf.while (%[[X:.*]] = %{{.*}}) : (f64) -> (f64, f64) {
// CHECK-NOT:       kina_rt.poll
// CHECK:           scf.condition(%{{.*}}) %[[X]], %{{.*}} : f64, f64
// CHECK:         } do {
// CHECK-NEXT:    ^bb0(%{{.*}}: f64, %{{.*}}: f64):
// CHECK-NEXT:      kina_rt.poll
// CHECK:           scf.while
// CHECK:           ^bb0
// CHECK-NEXT:        kina_rt.poll
// CHECK:           scf.while
// CHECK-NOT:       kina_rt.poll
// CHECK:         return
kina.func private @loops(%x: f64, %y: f64) -> (f64, f64) {
  %r:2 = kina.while (%a = %x) : f64 -> (f64) {
    %c = kina.cmp lt, %a, %y : f64
    %e = kina.neg %a : f64
    kina.condition(%c) %e : f64
  } do {
  ^bb0(%a: f64, %e: f64):
    %i = kina.while (%b = %a) : f64 {
      %c = kina.cmp lt, %b, %e : f64
      kina.condition(%c)
    } do {
    ^bb0(%b: f64):
      %n = kina.add %b, %b : f64
      kina.yield %n : f64
    }
    %j = kina.while (%b = %i) : f64 {
      %c = kina.cmp lt, %b, %e : f64
      kina.condition(%c)
    } do {
    ^bb0(%b: f64):
      %n = kina.add %b, %b : f64
      kina.yield %n : f64
    } {trip_bound = #kina.dim<3>}
    kina.yield %j : f64
  }
  kina.return %r#0, %r#1 : f64, f64
}

// Module-level values are evaluated where they are used, once per function; `kina.remat` is its
// body; declarations of effects are gone.

// CHECK-NOT: kina.effect
// CHECK-NOT: kina.global
kina.effect @E {
  kina.operation @Op : () -> ()
}
kina.global @two : f64 {
  %0 = kina.constant 2.0 : f64
  kina.yield %0 : f64
}
kina.global @four : f64 {
  %0 = kina.get_global @two : f64
  %1 = kina.mul %0, %0 : f64
  kina.yield %1 : f64
}

// CHECK-LABEL: func.func private @globals(
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT:    %[[FOUR:.*]] = arith.mulf %[[TWO]], %[[TWO]] : f64
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[TWO]], %[[FOUR]] : f64
// CHECK-NEXT:    return %[[R]] : f64
kina.func private @globals() -> f64 {
  %r = kina.remat -> (f64) {
    %0 = kina.get_global @two : f64
    %1 = kina.get_global @four : f64
    %2 = kina.add %0, %1 : f64
    kina.yield %2 : f64
  }
  kina.return %r : f64
}

// A call meets its callee's types.

// CHECK-LABEL: func.func private @caller(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf64>
// CHECK:         %[[IN:.*]] = tensor.cast %[[X]] : tensor<4xf64> to tensor<?xf64>
// CHECK:         %[[OUT:.*]] = call @callee(%[[IN]]) : (tensor<?xf64>) -> tensor<?xf64>
// CHECK:         tensor.cast %[[OUT]] : tensor<?xf64> to tensor<4xf64>
kina.func private @caller(%x: !kina.tensor<f64, [4]>) -> !kina.tensor<f64, [4]> {
  %0 = kina.call @callee(%x) subst {K = #kina.dim<4>} : (!kina.tensor<f64, [4]>) -> !kina.tensor<f64, [4]>
  kina.return %0 : !kina.tensor<f64, [4]>
}
kina.func private @callee(%x: !kina.tensor<f64, [K]>) -> !kina.tensor<f64, [K]> attributes {shape_vars = [#kina.var<"K">]} {
  kina.return %x : !kina.tensor<f64, [K]>
}

// CHECK-LABEL: func.func private @check(
// CHECK-SAME:    %[[C:.*]]: i1
// CHECK-NEXT:    kina_rt.check %[[C]], 801, "loss is finite"
kina.func private @check(%c: i1) {
  kina.check %c, "loss is finite"
  kina.return
}
