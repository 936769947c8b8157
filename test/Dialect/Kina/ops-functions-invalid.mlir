// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What functions, calls and module-level values refuse.

// expected-error @+1 {{'kina.func' op shape variable 'N' of argument 0 is not in 'shape_vars'}}
kina.func private @f(!kina.tensor<f64, [N]>)

// -----

// expected-error @+1 {{'kina.func' op 'shape_vars' must hold #kina.var attributes, not 1 : i64}}
kina.func private @f() attributes {shape_vars = [1]}

// -----

// expected-error @+1 {{'kina.func' op shape variable 'N' is declared twice}}
kina.func private @f() attributes {shape_vars = [#kina.var<"N">, #kina.var<"N">]}

// -----

// expected-error @+1 {{'kina.func' op argument 0 has 'kina.dim' but is no integer}}
kina.func private @f(f64 {kina.dim = "N"}) attributes {shape_vars = [#kina.var<"N">]}

// -----

// expected-error @+1 {{'kina.func' op shape variable 'N' of argument 0 is not in 'shape_vars'}}
kina.func private @f(index {kina.dim = "N"})

// -----

// expected-error @+1 {{'kina.func' op 'preconditions' must hold #kina.clause attributes, not #kina.pred<N = 2>}}
kina.func private @f() attributes {preconditions = [#kina.pred<N = 2>]}

// -----

// expected-error @+1 {{'kina.func' op shape variable 'N' of 'preconditions' is not in 'shape_vars'}}
kina.func private @f() attributes {preconditions = [#kina.clause<<N = 2>, prove, "", loc(unknown)>]}

// -----

// expected-error @+1 {{'kina.func' op 'effects' must hold symbol references, not "Exit"}}
kina.func private @f() attributes {effects = ["Exit"]}

// -----

// expected-error @+1 {{custom op 'kina.func' 'kina.func' op attribute 'custom_vjp' failed to satisfy constraint: flat symbol reference attribute}}
kina.func private @f() attributes {custom_vjp = "g"}

// -----

// expected-error @+1 {{custom op 'kina.func' 'kina.func' op attribute 'checkpoint' failed to satisfy constraint: the user's `@checkpoint` on a loop or a function}}
kina.func private @f() attributes {checkpoint = 4}

// -----

// expected-error @+1 {{'kina.func' op requires attribute 'function_type'}}
"kina.func"() ({}) : () -> ()

// -----

// expected-error @+1 {{'kina.func' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"kina.func"() ({}) {sym_name = "f", function_type = f64} : () -> ()

// -----

// expected-error @+1 {{'kina.func' op entry block must have 0 arguments to match function signature}}
"kina.func"() ({
^bb0(%x: f64):
  kina.return
}) {sym_name = "f", function_type = () -> ()} : () -> ()

// -----

// expected-error @+1 {{'kina.func' op expects argument attribute array to have the same number of elements as the number of function arguments, got 0, but expected 1}}
"kina.func"() ({
^bb0(%x: f64):
  kina.return
}) {sym_name = "f", function_type = (f64) -> (), arg_attrs = []} : () -> ()

// -----

// expected-error @+1 {{empty block: expect at least a terminator}}
"kina.func"() ({
^bb0(%x: f64):
}) {sym_name = "f", function_type = (f64) -> ()} : () -> ()

// -----

kina.func @f() -> f64 {
  // expected-error @+1 {{'kina.return' op returns 0 values, but @f has 1 results}}
  kina.return
}

// -----

kina.func @f(%x: f64) -> f32 {
  // expected-error @+1 {{'kina.return' op value 0 has type 'f64', but @f returns 'f32'}}
  kina.return %x : f64
}

// -----

module {
  // expected-error @+1 {{'kina.return' op expects parent op 'kina.func'}}
  kina.return
}

// -----

kina.func @f() {
  // expected-error @+1 {{'kina.call' op 'nowhere' is no kina.func}}
  kina.call @nowhere() subst {} : () -> ()
  kina.return
}

// -----

kina.global @g : f64
kina.func @f() {
  // expected-error @+1 {{'kina.call' op 'g' is no kina.func}}
  kina.call @g() subst {} : () -> ()
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op 'subst' gives no dimension for shape variable 'N' of @g}}
  %0 = kina.call @g(%x, %i) subst {} : (!kina.tensor<f64, [N]>, i32) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op attribute 'subst' failed to satisfy constraint: substitution of shape variables}}
  %0 = kina.call @g(%x, %i) subst {N = @P} : (!kina.tensor<f64, [N]>, i32) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op 'subst' gives no dimension for shape variable 'N' of @g}}
  %0 = kina.call @g(%x, %i) subst {N = #kina.place<@P>} : (!kina.tensor<f64, [N]>, i32) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [3], @P>) -> !kina.tensor<f64, [], @P>
kina.func @f(%x: !kina.tensor<f64, [3], @cuda:global(0)>) {
  // expected-error @+1 {{'kina.call' op 'subst' gives no place for the variable 'P' of @g}}
  %0 = kina.call @g(%x) subst {} : (!kina.tensor<f64, [3], @cuda:global(0)>) -> !kina.tensor<f64, [], @cuda:global(0)>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [3], @P>) -> !kina.tensor<f64, [], @P>
kina.func @f(%x: !kina.tensor<f64, [3], @cuda:global(0)>) {
  // expected-error @+1 {{'kina.call' op operand 0 has type '!kina.tensor<f64, [3], @cuda:global(0)>', but @g takes '!kina.tensor<f64, [3], @cuda:global(1)>'}}
  %0 = kina.call @g(%x) subst {P = #kina.place<@cuda:global(1)>} : (!kina.tensor<f64, [3], @cuda:global(0)>) -> !kina.tensor<f64, [], @cuda:global(1)>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [3], @P>) -> !kina.tensor<f64, [], @P>
kina.func @f(%x: !kina.tensor<f64, [3], @cuda:global(0)>) {
  // expected-error @+1 {{'kina.call' op result 0 has type 'f64', but @g gives '!kina.tensor<f64, [], @cuda:global(0)>' here}}
  %0 = kina.call @g(%x) subst {P = #kina.place<@cuda:global(0)>} : (!kina.tensor<f64, [3], @cuda:global(0)>) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [3], @P>) -> !kina.tensor<f64, [], @P>
kina.func @f(%x: !kina.tensor<f64, [3], @cuda:global(0)>) {
  // expected-error @+1 {{'kina.grad' op result 0 has type '!kina.tensor<f64, [3]>', but @g gives '!kina.tensor<f64, [3], @cuda:global(0)>' here}}
  %0 = kina.grad @g(%x) subst {P = #kina.place<@cuda:global(0)>} wrt [0] : (!kina.tensor<f64, [3], @cuda:global(0)>) -> !kina.tensor<f64, [3]>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [3], @P>) -> !kina.tensor<f64, [], @P>
kina.func @f(%x: !kina.tensor<f64, [3], @cuda:global(0)>, %s: f64) {
  // expected-error @+1 {{'kina.vjp' op needs one cotangent of its type per float result of @g}}
  %0 = kina.vjp @g(%x : !kina.tensor<f64, [3], @cuda:global(0)>) of (%s : f64) subst {P = #kina.place<@cuda:global(0)>} wrt [0] -> !kina.tensor<f64, [3], @cuda:global(0)>
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op has 1 operands, but @g takes 2}}
  %0 = kina.call @g(%x) subst {N = #kina.dim<N>} : (!kina.tensor<f64, [N]>) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op operand 0 has type '!kina.tensor<f64, [N]>', but @g takes '!kina.tensor<f64, [2*N]>'}}
  %0 = kina.call @g(%x, %i) subst {N = #kina.dim<2*N>} : (!kina.tensor<f64, [N]>, i32) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op operand 0 has type '!kina.tensor<f64, [N]>', but @g takes a dimension that overflows or is negative}}
  %0 = kina.call @g(%x, %i) subst {N = #kina.dim<-3>} : (!kina.tensor<f64, [N]>, i32) -> f64
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N*N]>) attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op operand 0 has type '!kina.tensor<f64, [N]>', but @g takes a dimension that overflows or is negative}}
  kina.call @g(%x) subst {N = #kina.dim<4294967296>} : (!kina.tensor<f64, [N]>) -> ()
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op result 0 has type 'f32', but @g gives 'f64' here}}
  %0 = kina.call @g(%x, %i) subst {N = #kina.dim<N>} : (!kina.tensor<f64, [N]>, i32) -> f32
  kina.return
}

// -----

kina.func private @g(!kina.tensor<f64, [N]>, i32) -> f64 attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%x: !kina.tensor<f64, [N]>, %i: i32) attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @+1 {{'kina.call' op has 0 results, but @g gives 1 here}}
  kina.call @g(%x, %i) subst {N = #kina.dim<N>} : (!kina.tensor<f64, [N]>, i32) -> ()
  kina.return
}

// -----

kina.func private @g(index {kina.dim = "N"}) -> !kina.tensor<f64, [N - 5]> attributes {shape_vars = [#kina.var<"N">]}
kina.func @f(%i: index) {
  // expected-error @+1 {{'kina.call' op result 0 of @g has here a dimension that overflows or is negative}}
  %0 = kina.call @g(%i) subst {N = #kina.dim<3>} : (index) -> !kina.tensor<f64, [1]>
  kina.return
}

// -----

kina.func @f() {
  // expected-error @+1 {{'kina.call' op requires attribute 'callee'}}
  "kina.call"() : () -> ()
  kina.return
}

// -----

// expected-error @+1 {{'kina.global' op must yield one value of type 'f64'}}
kina.global @g : f64 {
  %0 = kina.constant 1.0 : f32
  kina.yield %0 : f32
}

// -----

// expected-error @+1 {{'kina.global' op must yield one value of type 'f64'}}
kina.global @g : f64 {
  kina.yield
}

// -----

// expected-error @+1 {{'kina.global' op must yield one value of type 'f64'}}
kina.global @g : f64 {
  %0 = kina.constant 1.0 : f64
}

// -----

kina.func @f() {
  // expected-error @+1 {{'kina.get_global' op 'g' is no kina.global}}
  %0 = kina.get_global @g : f64
  kina.return
}

// -----

kina.global @g : f64
kina.func @f() {
  // expected-error @+1 {{'kina.get_global' op has type 'f32', but the global has 'f64'}}
  %0 = kina.get_global @g : f32
  kina.return
}
