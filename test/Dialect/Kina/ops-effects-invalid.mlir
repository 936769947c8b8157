// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What effects, handlers and continuations refuse.

kina.effect @E {
  // expected-error @+1 {{'kina.global' op cannot stand in a kina.effect, which holds kina.operation only}}
  kina.global @g : f64
}

// -----

// expected-error @+1 {{'kina.effect' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
"kina.effect"() ({}) {sym_name = "E"} : () -> ()

// -----

// expected-error @+1 {{'kina.operation' op expects parent op 'kina.effect'}}
kina.operation @Op : () -> ()

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op @E::@Op is no kina.operation of a kina.effect}}
  kina.perform @E::@Op (%x : f64)
  kina.return
}

// -----

kina.effect @E {
  kina.operation @Op : (f64) -> i32
}
kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op @E is no kina.operation of a kina.effect}}
  kina.perform @E (%x : f64)
  kina.return
}

// -----

kina.effect @E {
  kina.operation @Op : (f64) -> i32
}
kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op @E::@Other is no kina.operation of a kina.effect}}
  kina.perform @E::@Other (%x : f64)
  kina.return
}

// -----

kina.effect @E {
  kina.operation @Op : (f64) -> i32
}
kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op has 0 payload values, but @E::@Op takes 1}}
  %0 = kina.perform @E::@Op -> (i32)
  kina.return
}

// -----

kina.effect @E {
  kina.operation @Op : (f64) -> i32
}
kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op has 0 results, but @E::@Op resumes with 1}}
  kina.perform @E::@Op (%x : f64)
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op with a tag needs the pullback's region}}
  kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%x : f64) to (%x : f64)
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op with a pullback's region needs a tag}}
  kina.perform @ReverseModeAD::@RecordVJP {
  ^bb0(%dy: f64, %dx: f64):
    kina.yield %dx : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op the pullback must take the cotangents of ('f64') and accumulators for ('f64')}}
  kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%x : f64) to (%x : f64) {
  ^bb0(%dy: f64):
    kina.yield %dy : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op the pullback must yield ('f64')}}
  kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%x : f64) to (%x : f64) {
  ^bb0(%dy: f64, %dx: f64):
    kina.yield
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.perform' op the pullback must yield ('f64')}}
  kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%x : f64) to (%x : f64) {
  ^bb0(%dy: f64, %dx: f64):
    kina.yield %i : i32
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{empty block: expect at least a terminator}}
  "kina.perform"(%x, %x) ({
  ^bb0(%a: f64, %b: f64):
  }) {performed = @E::@Op, tag = #kina.tag<0>, operandSegmentSizes = array<i32: 0, 1, 1>} : (f64, f64) -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+2 {{custom op 'kina.perform' failed to parse Kina_TagAttr parameter 'id' which is to be a `int64_t`}}
  // expected-error @+1 {{custom op 'kina.perform' expected integer value}}
  kina.perform @ReverseModeAD::@RecordVJP tag <x> of (%x : f64) to (%x : f64) {
  ^bb0(%dy: f64, %dx: f64):
    kina.yield %dx : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op has 1 cases for 0 operations}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (f64)>):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op 'operations' must hold symbol references, not "Op"}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases ["Op"] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (f64)>):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op the return region must take what the body yields, ('f64')}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
    kina.yield %x : f64
  } cases [@E::@Op] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (f64)>):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op the return region must yield ('f64')}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %i : i32
  } cases [@E::@Op] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (f64)>):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op a case must take its payload and then a continuation}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@E::@Op] {
  ^bb0(%v: f64):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op a case must take its payload and then a continuation}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@E::@Op] {
  ^bb0:
    kina.yield %x : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op a case's continuation must give ('f64')}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@E::@Op] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (i32)>):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op a case must yield ('f64')}}
  %0 = kina.handle -> (f64) {
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@E::@Op] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (f64)>):
    kina.yield
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = kina.handle -> (f64) {
    // expected-error @+1 {{block with no terminator, has "kina.drop"(%arg1) : (f64) -> ()}}
    kina.drop %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@E::@Op] {
  ^bb0(%v: f64, %k: !kina.cont<i32 -> (f64)>):
    kina.yield %v : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{empty block: expect at least a terminator}}
  "kina.handle"() ({
  ^bb0:
  }, {
  ^bb0:
  }) {operations = []} : () -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.handle' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "kina.handle"() ({}, {}) {operations = []} : () -> ()
  kina.return
}

// -----

kina.func @f(%k: !kina.cont<i32 -> ()>, %x: f64) {
  // expected-error @+1 {{'kina.resume' op must resume with ('i32')}}
  kina.resume %k (%x : f64) : !kina.cont<i32 -> ()>
  kina.return
}

// -----

kina.func @f(%k: !kina.cont<i32 -> ()>, %x: f64) {
  // expected-error @+1 {{'kina.resume' op must resume with ('i32')}}
  kina.resume %k () : !kina.cont<i32 -> ()>
  kina.return
}

// -----

kina.func @f(%k: !kina.cont<none -> (f64)>, %x: f64) {
  // expected-error @+1 {{'kina.resume' op must give what its continuation gives, ('f64')}}
  kina.resume %k () : !kina.cont<none -> (f64)>
  kina.return
}

// -----

kina.func @f(%k: !kina.cont<tuple<f64, f64> -> ()>, %x: f64) {
  // expected-error @+1 {{'kina.resume' op must resume with ('f64', 'f64')}}
  kina.resume %k (%x : f64) : !kina.cont<tuple<f64, f64> -> ()>
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.resume' op operand #0 must be continuation, but got 'f64'}}
  "kina.resume"(%x) : (f64) -> ()
  kina.return
}

// -----

kina.func @f(%x: f64, %i: i32) {
  %r = kina.ref %x : f64
  // expected-error @+1 {{'kina.assign' op failed to verify that the variable holds a value of the operand's type}}
  "kina.assign"(%r, %i) : (!kina.ref<f64>, i32) -> ()
  kina.return
}

// -----

kina.func @f(%x: f64) {
  // expected-error @+1 {{'kina.deref' op operand #0 must be variable, but got 'f64'}}
  "kina.deref"(%x) : (f64) -> f64
  kina.return
}
