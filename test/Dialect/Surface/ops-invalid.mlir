// RUN: kina-opt --verify-diagnostics --split-input-file %s

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{an expression must be used exactly once, so that expressions are trees}}
  %0 = kina_surface.name "x"
  kina_surface.yield
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{an expression must be used exactly once, so that expressions are trees}}
  %0 = kina_surface.name "x"
  kina_surface.do %0
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{an expression must be used in its own block}}
  %0 = kina_surface.name "x"
  %1 = kina_surface.block {
    kina_surface.yield %0
  }
  kina_surface.yield %1
}

// -----

// expected-error @+1 {{region #0 must end in 'kina_surface.yield'}}
kina_surface.fn <name "f"> params [] {
  kina_surface.assume <pred_eq [name "A", name "B"]>
  llvm.unreachable
}

// -----

// expected-error @+1 {{region #0 must have one block without arguments}}
kina_surface.fn <name "f"> params [] {
^bb0(%arg0: !kina_surface.expr):
  kina_surface.yield
}

// -----

// expected-error @+1 {{region #0 must not be empty}}
kina_surface.fn <name "f"> params [] {
}

// -----

// expected-error @+1 {{region #0 must yield a value}}
kina_surface.global <name "g"> = {
  kina_surface.yield
}

// -----

// expected-error @+1 {{must have a type or a value}}
kina_surface.global <name "g">

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{the value must be an i64, an f64, a string or a boolean}}
  %0 = kina_surface.literal 1 : i32, "1"
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{a node of kind 'name' cannot be the place}}
  %0 = kina_surface.place <name "host">
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{a node of kind 'dtype' cannot be the type}}
  %0 = kina_surface.type_expr <dtype "F64">
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{must have a member; `()` is 'kina_surface.unit'}}
  %0 = kina_surface.tuple()
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  // expected-error @+1 {{has 1 members but 2 names}}
  %1 = kina_surface.tuple(%0) names ["a", "b"]
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{must be a subscript of 'kina_surface.index' or an element of 'kina_surface.list'}}
  %0 = kina_surface.slice
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.name "g"
  // expected-error @+1 {{has 0 arguments but 1 keywords}}
  %1 = kina_surface.call %0() keywords ["k"]
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.name "g"
  // expected-error @+1 {{a node of kind 'int' cannot be the type argument}}
  %1 = kina_surface.call %0() type_argument <int "1">
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{has 0 arguments but 1 keywords}}
  %0 = kina_surface.perform "E"() keywords ["k"]
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.name "g"
  // expected-error @+1 {{must name a member}}
  %1 = kina_surface.field %0, ""
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.name "g"
  // expected-error @+1 {{must have a subscript}}
  %1 = kina_surface.index %0[]
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.name "c"
  // expected-error @+1 {{region #0 must not be empty}}
  %1 = kina_surface.if %0 {
  }
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{has 1 states but 0 first values}}
  %0 = kina_surface.while [#kina_surface.syntax<state "x">] cond {
    %1 = kina_surface.name "c"
    kina_surface.yield %1
  } do {
    kina_surface.yield
  }
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  // expected-error @+1 {{a node of kind 'name' cannot stand among the states}}
  %1 = kina_surface.while [#kina_surface.syntax<name "x">] = %0 cond {
    %2 = kina_surface.name "c"
    kina_surface.yield %2
  } do {
    kina_surface.yield
  }
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  // expected-error @+1 {{region #0 must yield a value}}
  %1 = kina_surface.while [#kina_surface.syntax<state "x">] = %0 cond {
    kina_surface.yield
  } do {
    kina_surface.yield
  }
  kina_surface.yield %1
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  %1 = kina_surface.unit
  // expected-error @+1 {{a node of kind 'pattern_name' cannot be the induction variable}}
  %2 = kina_surface.for <pattern_name "i"> in %0 to %1 [] do {
    kina_surface.yield
  }
  kina_surface.yield %2
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{has 1 cases but 0 case regions}}
  %0 = "kina_surface.handle"() <{cases = [#kina_surface.syntax<return_case "y">]}> ({
    %1 = kina_surface.unit
    kina_surface.yield %1
  }) : () -> !kina_surface.expr
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{a node of kind 'name' cannot stand among the cases}}
  %0 = kina_surface.handle {
    %1 = kina_surface.unit
    kina_surface.yield %1
  } with [#kina_surface.syntax<name "y">] {
    %1 = kina_surface.unit
    kina_surface.yield %1
  }
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{a node of kind 'name' cannot stand among the parameters}}
  %0 = kina_surface.lambda [#kina_surface.syntax<name "y">] {
    kina_surface.yield
  }
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{a node of kind 'name' cannot be the return type}}
  %0 = kina_surface.lambda [] -> <name "T"> {
    kina_surface.yield
  }
  kina_surface.yield %0
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  // expected-error @+1 {{a node of kind 'name' cannot be the pattern}}
  kina_surface.let <name "x"> = %0
  kina_surface.yield
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  // expected-error @+1 {{a node of kind 'name' cannot stand among the decorators}}
  kina_surface.let <pattern_name "x"> = %0 decorators [#kina_surface.syntax<name "d">]
  kina_surface.yield
}

// -----

kina_surface.fn <name "f"> params [] {
  %0 = kina_surface.unit
  // expected-error @+1 {{attribute 'name' failed to satisfy constraint: syntax node of kind 'name'}}
  kina_surface.let_dim <pattern_name "x"> = %0
  kina_surface.yield
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{a node of kind 'name' cannot be the predicate}}
  kina_surface.assume <name "x">
  kina_surface.yield
}

// -----

kina_surface.fn <name "f"> params [] {
  // expected-error @+1 {{decorators need an expression to stand before}}
  kina_surface.yield decorators [#kina_surface.syntax<decorator "d">]
}

// -----

func.func @f() {
  // expected-error @+1 {{expects parent op to be one of}}
  kina_surface.yield
}

// -----

func.func @f() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  kina_surface.import "x"
  return
}

// -----

// expected-error @+1 {{a node of kind 'param' cannot stand among the shape variables}}
kina_surface.fn <name "f"> shape_vars [#kina_surface.syntax<param "N">] params [] {
  kina_surface.yield
}

// -----

// expected-error @+1 {{a node of kind 'param' cannot stand among the effects}}
kina_surface.fn <name "f"> params [] effects [#kina_surface.syntax<param "N">] {
  kina_surface.yield
}

// -----

// expected-error @+1 {{a node of kind 'name' cannot stand among the requires clauses}}
kina_surface.fn <name "f"> params [] requires [#kina_surface.syntax<name "N">] {
  kina_surface.yield
}

// -----

// expected-error @+1 {{must have an operation}}
kina_surface.effect <name "E"> []

// -----

// expected-error @+1 {{a node of kind 'name' cannot stand among the operations}}
kina_surface.effect <name "E"> [#kina_surface.syntax<name "N">]

// -----

// expected-error @+1 {{a node of kind 'name' cannot be the type}}
kina_surface.type_alias <name "T"> = <name "N">

// -----

// expected-error @+1 {{a node of kind 'name' has a text}}
module attributes {a.syntax = #kina_surface.syntax<name>} { }

// -----

// expected-error @+1 {{a node of kind 'dims' has no text}}
module attributes {a.syntax = #kina_surface.syntax<dims "x">} { }

// -----

// expected-error @+1 {{the children of 'name' are none}}
module attributes {a.syntax = #kina_surface.syntax<name "x" [name "y"]>} { }

// -----

// expected-error @+1 {{the children of 'dim_add' are two dimensions}}
module attributes {a.syntax = #kina_surface.syntax<dim_add [name "x"]>} { }

// -----

// expected-error @+1 {{the children of 'pred_lt' are two dimensions}}
module attributes {a.syntax = #kina_surface.syntax<pred_lt [name "x", dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'pred_divides' are an integer and a dimension}}
module attributes {a.syntax = #kina_surface.syntax<pred_divides [name "x", name "y"]>} { }

// -----

// expected-error @+1 {{expected valid keyword}}
module attributes {a.syntax = #kina_surface.syntax<pred_not []>} { }

// -----

// expected-error @+1 {{the children of 'pred_not' are one predicate}}
module attributes {a.syntax = #kina_surface.syntax<pred_not [name "x"]>} { }

// -----

// expected-error @+1 {{the children of 'pred_and' are two predicates}}
module attributes {a.syntax = #kina_surface.syntax<pred_and [name "x", name "y"]>} { }

// -----

// expected-error @+1 {{the children of 'type_tensor' are an element type, dimensions, predicates and perhaps a place}}
module attributes {a.syntax = #kina_surface.syntax<type_tensor [dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'type_name' are dimensions and element types}}
module attributes {a.syntax = #kina_surface.syntax<type_name "N" [string "x"]>} { }

// -----

// expected-error @+1 {{the children of 'type_tuple' are types}}
module attributes {a.syntax = #kina_surface.syntax<type_tuple [name "x"]>} { }

// -----

// expected-error @+1 {{the children of 'type_named_tuple' are members}}
module attributes {a.syntax = #kina_surface.syntax<type_named_tuple [dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'type_member' are one type}}
module attributes {a.syntax = #kina_surface.syntax<type_member "m">} { }

// -----

// expected-error @+1 {{the children of 'type_ref' are one type}}
module attributes {a.syntax = #kina_surface.syntax<type_ref>} { }

// -----

// expected-error @+1 {{the children of 'type_fn' are parameter types, a result type and effects}}
module attributes {a.syntax = #kina_surface.syntax<type_fn [types, dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'dims' are dimensions}}
module attributes {a.syntax = #kina_surface.syntax<dims [dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'preds' are predicates}}
module attributes {a.syntax = #kina_surface.syntax<preds [name "x"]>} { }

// -----

// expected-error @+1 {{the children of 'types' are types}}
module attributes {a.syntax = #kina_surface.syntax<types [name "x"]>} { }

// -----

// expected-error @+1 {{the children of 'effects' are names}}
module attributes {a.syntax = #kina_surface.syntax<effects [int "1"]>} { }

// -----

// expected-error @+1 {{the children of 'place' are none, or a name and an integer}}
module attributes {a.syntax = #kina_surface.syntax<place "cuda" [name "global"]>} { }

// -----

// expected-error @+1 {{the children of 'pattern_tuple' are patterns}}
module attributes {a.syntax = #kina_surface.syntax<pattern_tuple [name "x"]>} { }

// -----

// expected-error @+1 {{the children of 'param' are at most a type and a literal}}
module attributes {a.syntax = #kina_surface.syntax<param "x" [int "1"]>} { }

// -----

// expected-error @+1 {{the children of 'shape_var' are none, an integer or a name}}
module attributes {a.syntax = #kina_surface.syntax<shape_var "x" [float "1.0"]>} { }

// -----

// expected-error @+1 {{the children of 'state' are at most a type}}
module attributes {a.syntax = #kina_surface.syntax<state "x" [int "1"]>} { }

// -----

// expected-error @+1 {{the children of 'effect_case' are the payload's names and the continuation's}}
module attributes {a.syntax = #kina_surface.syntax<effect_case "E" [pattern_tuple [pattern_wild], pattern_name "k"]>} { }

// -----

// expected-error @+1 {{the children of 'effect_op' are two types}}
module attributes {a.syntax = #kina_surface.syntax<effect_op "E" [dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'decorator' are literals and keywords}}
module attributes {a.syntax = #kina_surface.syntax<decorator "d" [dtype "F64"]>} { }

// -----

// expected-error @+1 {{the children of 'keyword' are one literal}}
module attributes {a.syntax = #kina_surface.syntax<keyword "k">} { }

// -----

// expected-error @+1 {{unknown kind of syntax 'nonsense'}}
module attributes {a.syntax = #kina_surface.syntax<nonsense "x">} { }

// -----

// expected-error @+1 {{expected a location behind a syntax node}}
module attributes {a.syntax = #kina_surface.syntax<name "x" 3>} { }
