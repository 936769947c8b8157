// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt --mlir-print-op-generic %s | kina-opt | FileCheck %s

// Every operation and every kind of syntax survives a round trip.

// CHECK: kina_surface.import "nn.kina"
kina_surface.import "nn.kina"

// CHECK: kina_surface.type_alias <name "Net"> shape_vars [#kina_surface.syntax<shape_var "I">, #kina_surface.syntax<shape_var "H" [int "2"]>, #kina_surface.syntax<shape_var "T" [name "float"]>] = <type_named_tuple [type_member "w" [type_tensor [name "T", dims [name "I", name "H"], preds, place "host"]]]>
kina_surface.type_alias <name "Net"> shape_vars [#kina_surface.syntax<shape_var "I">, #kina_surface.syntax<shape_var "H" [int "2"]>, #kina_surface.syntax<shape_var "T" [name "float"]>] = <type_named_tuple [type_member "w" [type_tensor [name "T", dims [name "I", name "H"], preds, place "host"]]]>

// CHECK: kina_surface.effect <name "State"> [#kina_surface.syntax<effect_op "Get" [type_name "unit", dtype "F64"]>, #kina_surface.syntax<effect_op "Put" [type_tuple [dtype "F64"], type_fn [types [type_ref [dtype "F64"]], dtype "F64", effects [name "E"]]]>]
kina_surface.effect <name "State"> [#kina_surface.syntax<effect_op "Get" [type_name "unit", dtype "F64"]>, #kina_surface.syntax<effect_op "Put" [type_tuple [dtype "F64"], type_fn [types [type_ref [dtype "F64"]], dtype "F64", effects [name "E"]]]>]

// CHECK: kina_surface.global <name "weight"> : <type_tensor [dtype "F32", dims, preds, place "cuda" [name "global", int "1"]]>
kina_surface.global <name "weight"> : <type_tensor [dtype "F32", dims, preds, place "cuda" [name "global", int "1"]]>

// CHECK: kina_surface.global <name "one"> decorators [#kina_surface.syntax<decorator "d" [keyword "k" [bytes "64MiB"], float "-1.5", bool "true", string ""]>] = {
// CHECK-NEXT: %[[ONE:.*]] = kina_surface.literal 1.000000e+00 : f64, "1.0"
// CHECK-NEXT: kina_surface.yield %[[ONE]]
kina_surface.global <name "one"> decorators [#kina_surface.syntax<decorator "d" [keyword "k" [bytes "64MiB"], float "-1.5", bool "true", string ""]>] = {
  %0 = kina_surface.literal 1.0 : f64, "1.0"
  kina_surface.yield %0
}

// CHECK: kina_surface.fn <name "f"> shape_vars [#kina_surface.syntax<shape_var "N">] params [#kina_surface.syntax<param "x" [type_name "Net" [dim_mul [int "2", name "N"]]]>, #kina_surface.syntax<param "y" [dtype "F64", int "1"]>, #kina_surface.syntax<param "z">] returns <dtype "F64"> effects [#kina_surface.syntax<name "State">] requires [#kina_surface.syntax<pred_and [pred_divides [int "8", name "D"], pred_not [pred_or [pred_le [dim_min [name "A", name "B"], dim_max [name "A", name "B"]], pred_ne [dim_ceildiv [name "A", name "B"], dim_floordiv [name "A", name "B"]]]]]>, #kina_surface.syntax<pred_lt [dim_add [name "A", name "B"], dim_sub [name "A", name "B"]]>, #kina_surface.syntax<pred_gt [dim_mod [name "A", name "B"], int "0"]>, #kina_surface.syntax<pred_ge [name "A", name "B"]>] decorators [#kina_surface.syntax<decorator "export">] {
kina_surface.fn <name "f"> shape_vars [#kina_surface.syntax<shape_var "N">] params [#kina_surface.syntax<param "x" [type_name "Net" [dim_mul [int "2", name "N"]]]>, #kina_surface.syntax<param "y" [dtype "F64", int "1"]>, #kina_surface.syntax<param "z">] returns <dtype "F64"> effects [#kina_surface.syntax<name "State">] requires [#kina_surface.syntax<pred_and [pred_divides [int "8", name "D"], pred_not [pred_or [pred_le [dim_min [name "A", name "B"], dim_max [name "A", name "B"]], pred_ne [dim_ceildiv [name "A", name "B"], dim_floordiv [name "A", name "B"]]]]]>, #kina_surface.syntax<pred_lt [dim_add [name "A", name "B"], dim_sub [name "A", name "B"]]>, #kina_surface.syntax<pred_gt [dim_mod [name "A", name "B"], int "0"]>, #kina_surface.syntax<pred_ge [name "A", name "B"]>] decorators [#kina_surface.syntax<decorator "export">] {
  // CHECK-NEXT: %[[V0:.*]] = kina_surface.literal 1 : i64, "1"
  %0 = kina_surface.literal 1 : i64, "1"
  // CHECK-NEXT: kina_surface.let <pattern_tuple [pattern_name "a", pattern_wild]> : <dtype "I64"> = %[[V0]] decorators [#kina_surface.syntax<decorator "d">]
  kina_surface.let <pattern_tuple [pattern_name "a", pattern_wild]> : <dtype "I64"> = %0 decorators [#kina_surface.syntax<decorator "d">]
  // CHECK-NEXT: %[[V1:.*]] = kina_surface.literal "s", "s"
  %1 = kina_surface.literal "s", "s"
  // CHECK-NEXT: kina_surface.let_dim <name "K"> = %[[V1]]
  kina_surface.let_dim <name "K"> = %1
  // CHECK-NEXT: kina_surface.assume <pred_eq [name "K", int "1"]>
  kina_surface.assume <pred_eq [name "K", int "1"]>
  // CHECK-NEXT: %[[V2:.*]] = kina_surface.literal true, "true"
  // CHECK-NEXT: kina_surface.check %[[V2]], "text"
  %2 = kina_surface.literal true, "true"
  kina_surface.check %2, "text"
  // CHECK-NEXT: %[[V3:.*]] = kina_surface.name "a"
  // CHECK-NEXT: %[[V4:.*]] = kina_surface.unary ref %[[V3]]
  // CHECK-NEXT: kina_surface.assign <name "c"> = %[[V4]]
  %3 = kina_surface.name "a"
  %4 = kina_surface.unary ref %3
  kina_surface.assign <name "c"> = %4

  // CHECK-NEXT: %[[V5:.*]] = kina_surface.name "g"
  // CHECK-NEXT: %[[V6:.*]] = kina_surface.dtype "F64"
  // CHECK-NEXT: %[[V7:.*]] = kina_surface.unit
  // CHECK-NEXT: %[[V8:.*]] = kina_surface.place <place "P">
  // CHECK-NEXT: %[[V9:.*]] = kina_surface.type_expr <type_tensor [dtype "F64", dims, preds]>
  // CHECK-NEXT: %[[V10:.*]] = kina_surface.call %[[V5]](%[[V6]], %[[V7]], %[[V8]], %[[V9]]) keywords ["", "", "on", ""] type_argument <dtype "F64">
  // CHECK-NEXT: kina_surface.do %[[V10]] decorators [#kina_surface.syntax<decorator "d">]
  %5 = kina_surface.name "g"
  %6 = kina_surface.dtype "F64"
  %7 = kina_surface.unit
  %8 = kina_surface.place <place "P">
  %9 = kina_surface.type_expr <type_tensor [dtype "F64", dims, preds]>
  %10 = kina_surface.call %5(%6, %7, %8, %9) keywords ["", "", "on", ""] type_argument <dtype "F64">
  kina_surface.do %10 decorators [#kina_surface.syntax<decorator "d">]

  // CHECK-NEXT: %[[V11:.*]] = kina_surface.name "x"
  // CHECK-NEXT: %[[V12:.*]] = kina_surface.field %[[V11]], "w"
  // CHECK-NEXT: %[[V13:.*]] = kina_surface.name "i"
  // CHECK-NEXT: %[[V14:.*]] = kina_surface.name "j"
  // CHECK-NEXT: %[[V15:.*]] = kina_surface.slice lo %[[V13]] hi %[[V14]]
  // CHECK-NEXT: %[[V16:.*]] = kina_surface.slice
  // CHECK-NEXT: %[[V17:.*]] = kina_surface.index %[[V12]][%[[V15]], %[[V16]]]
  // CHECK-NEXT: %[[V18:.*]] = kina_surface.list[%[[V17]]]
  // CHECK-NEXT: %[[V19:.*]] = kina_surface.tuple(%[[V18]]) names ["m"]
  // CHECK-NEXT: %[[V20:.*]] = kina_surface.perform "Put"(%[[V19]]) keywords ["k"]
  // CHECK-NEXT: %[[V21:.*]] = kina_surface.name "l"
  // CHECK-NEXT: %[[V22:.*]] = kina_surface.name "h"
  // CHECK-NEXT: %[[V23:.*]] = kina_surface.fold_left %[[V22]], %[[V20]], %[[V21]]
  // CHECK-NEXT: kina_surface.do %[[V23]]
  %11 = kina_surface.name "x"
  %12 = kina_surface.field %11, "w"
  %13 = kina_surface.name "i"
  %14 = kina_surface.name "j"
  %15 = kina_surface.slice lo %13 hi %14
  %16 = kina_surface.slice
  %17 = kina_surface.index %12[%15, %16]
  %18 = kina_surface.list [%17]
  %19 = kina_surface.tuple(%18) names ["m"]
  %20 = kina_surface.perform "Put"(%19) keywords ["k"]
  %21 = kina_surface.name "l"
  %22 = kina_surface.name "h"
  %23 = kina_surface.fold_left %22, %20, %21
  kina_surface.do %23

  // CHECK-NEXT: %[[V24:.*]] = kina_surface.name "b"
  // CHECK-NEXT: %[[V25:.*]] = kina_surface.if %[[V24]] {
  // CHECK-NEXT:   kina_surface.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   kina_surface.yield
  // CHECK-NEXT: }
  %24 = kina_surface.name "b"
  %25 = kina_surface.if %24 {
    kina_surface.yield
  } else {
    kina_surface.yield
  }
  // CHECK-NEXT: kina_surface.do %[[V25]]
  kina_surface.do %25
  // CHECK-NEXT: %[[V26:.*]] = kina_surface.name "a"
  // CHECK-NEXT: %[[V27:.*]] = kina_surface.while [#kina_surface.syntax<state "x" [dtype "F64"]>] = %[[V26]] cond {
  // CHECK:        kina_surface.yield %{{.*}}
  // CHECK-NEXT: } do {
  // CHECK-NEXT:   kina_surface.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: kina_surface.do %[[V27]]
  %26 = kina_surface.name "a"
  %27 = kina_surface.while [#kina_surface.syntax<state "x" [dtype "F64"]>] = %26 cond {
    %40 = kina_surface.name "c"
    kina_surface.yield %40
  } do {
    kina_surface.yield
  }
  kina_surface.do %27
  // CHECK-NEXT: %[[V28:.*]] = kina_surface.name "lo"
  // CHECK-NEXT: %[[V29:.*]] = kina_surface.name "hi"
  // CHECK-NEXT: %[[V30:.*]] = kina_surface.for <name "i"> in %[[V28]] to %[[V29]] [] do {
  // CHECK-NEXT:   kina_surface.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: kina_surface.do %[[V30]]
  %28 = kina_surface.name "lo"
  %29 = kina_surface.name "hi"
  %30 = kina_surface.for <name "i"> in %28 to %29 [] do {
    kina_surface.yield
  }
  kina_surface.do %30
  // CHECK-NEXT: %[[V31:.*]] = kina_surface.handle {
  // CHECK:      } with [#kina_surface.syntax<return_case "y">, #kina_surface.syntax<effect_case "Get" [pattern_tuple [pattern_name "p"], pattern_name "k"]>] {
  // CHECK:      }, {
  // CHECK:      }
  // CHECK-NEXT: kina_surface.do %[[V31]]
  %31 = kina_surface.handle {
    %40 = kina_surface.unit
    kina_surface.yield %40
  } with [#kina_surface.syntax<return_case "y">, #kina_surface.syntax<effect_case "Get" [pattern_tuple [pattern_name "p"], pattern_name "k"]>] {
    %40 = kina_surface.name "y"
    kina_surface.yield %40
  }, {
    %40 = kina_surface.name "p"
    kina_surface.yield %40
  }
  kina_surface.do %31
  // CHECK-NEXT: %[[V32:.*]] = kina_surface.lambda [#kina_surface.syntax<param "x">] -> <dtype "F64"> {
  // CHECK-NEXT:   kina_surface.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[V33:.*]] = kina_surface.block {
  // CHECK-NEXT:   kina_surface.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[V34:.*]] = kina_surface.binary matmul %[[V32]], %[[V33]]
  // CHECK-NEXT: kina_surface.yield %[[V34]] decorators [#kina_surface.syntax<decorator "checkpoint">]
  %32 = kina_surface.lambda [#kina_surface.syntax<param "x">] -> <dtype "F64"> {
    kina_surface.yield
  }
  %33 = kina_surface.block {
    kina_surface.yield
  }
  %34 = kina_surface.binary matmul %32, %33
  kina_surface.yield %34 decorators [#kina_surface.syntax<decorator "checkpoint">]
}
