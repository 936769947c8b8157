// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What dimensions as values, obligations and facts refuse.

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.dim' op result #0 must be Kina scalar, but got 'none'}}
  %0 = kina.dim <N> : none
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.dim' op result #0 must be Kina scalar, but got 'i17'}}
  %0 = kina.dim <N> : i17
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.dim' op result #0 must be Kina scalar, but got '!kina.tensor<f64, [3]>'}}
  %0 = kina.dim <N> : !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '<'}}
  %0 = kina.dim 3 : index
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.dim' op requires attribute 'value'}}
  %0 = "kina.dim"() : () -> index
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.bind_dim' op operand #0 must be integer, but got 'f64'}}
  kina.bind_dim "K" = %x : f64
  kina.return
}

// -----

kina.func @f(%x: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.bind_dim' op operand #0 must be integer, but got 'i1'}}
  kina.bind_dim "K" = %x : i1
  kina.return
}

// -----

kina.func @f(%x: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected attribute value}}
  kina.bind_dim K = %x : i32
  kina.return
}

// -----

kina.func @f(%n: index) {
  // expected-error @+1 {{'kina.bind_dim' op '' is no name of a size}}
  kina.bind_dim "" = %n : index
  kina.return
}

// -----

kina.func @f(%n: index) {
  // expected-error @+1 {{'kina.bind_dim' op '%0' is no name of a size}}
  kina.bind_dim "%0" = %n : index
  kina.return
}

// -----

kina.func @f(%x: !kina.tensor<f64, [N]>, %n: index) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.bind_dim' op 'N' is a shape variable of @f already}}
  kina.bind_dim "N" = %n : index
  kina.return
}

// -----

kina.func @f(%n: index) {
  kina.bind_dim "K" = %n : index
  // expected-error @+1 {{'kina.bind_dim' op 'K' is bound twice in this block}}
  kina.bind_dim "K" = %n : index
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.obligation' expected string or keyword containing one of the following enum values for attribute 'kind' [shapes_equal, contraction, element_count, precondition, divisor, bounds, nonempty, check, branch, loop_state, mask]}}
  kina.obligation because <N = 2>, "a"
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.obligation' expected '=', 'ne', 'le' or 'lt'}}
  kina.obligation check <N>, "a"
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.obligation' expected a dimension}}
  kina.obligation check <N = >, "a"
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.assume' expected a dimension}}
  kina.assume <N = 2 and>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected ']'}}
  kina.assume <[N = 2>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected '('}}
  kina.assume <not N = 2>
  kina.return
}

// -----

kina.func @f() attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{custom op 'kina.assume' expected a dimension}}
  kina.assume <N le>
  kina.return
}

// -----

kina.func @f(%x: f64) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.check' op operand #0 must be 1-bit signless integer, but got 'f64'}}
  "kina.check"(%x) <{text = "a"}> : (f64) -> ()
  kina.return
}

// -----

kina.func @f(%x: i1) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{expected ','}}
  kina.check %x
  kina.return
}
