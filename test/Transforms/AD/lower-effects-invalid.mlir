// RUN: kina-opt %s --kina-lower-effects --split-input-file --verify-diagnostics

kina.effect @Exit {
  kina.operation @Stop : (f64) -> ()
}
kina.func public @no_case_for_the_type(%x: f64, %n: i32) -> f64 {
  %h = kina.handle -> (f64) {
    // expected-error @+1 {{K0601: no case of the handler takes these types}}
    kina.perform @Exit::@Stop(%n : i32)
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@Exit::@Stop] {
  ^bb0(%v: f64, %k: !kina.cont<none -> (f64)>):
    kina.yield %v : f64
  }
  kina.return %h : f64
}

// -----

kina.effect @Exit {
  kina.operation @Stop : (f64) -> ()
}
kina.func public @escapes(%x: f64) -> f64 {
  %h = kina.handle -> (f64) {
    kina.perform @Exit::@Stop(%x : f64)
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@Exit::@Stop] {
  ^bb0(%v: f64, %k: !kina.cont<none -> (f64)>):
    // expected-error @+1 {{K0605: the continuation leaves its case}}
    %kept = kina.ref %k : !kina.cont<none -> (f64)>
    kina.yield %v : f64
  }
  kina.return %h : f64
}

// -----

kina.effect @Exit {
  kina.operation @Stop : (f64) -> ()
}
kina.func public @condition(%x: f64, %c: i1) -> f64 {
  %h = kina.handle -> (f64) {
    kina.while () {
      kina.perform @Exit::@Stop(%x : f64)
      kina.condition(%c)
    } do {
      kina.yield
    }
    kina.yield %x : f64
  } return {
  ^bb0(%r: f64):
    kina.yield %r : f64
  } cases [@Exit::@Stop] {
  ^bb0(%v: f64, %k: !kina.cont<none -> (f64)>):
    // expected-error @+1 {{K0601: this handler is not lowered: its case does not resume, and it is performed in a loop condition}}
    kina.yield %v : f64
  }
  kina.return %h : f64
}

// -----

kina.func public @variable_in_a_condition(%x: f64, %c: i1) -> f64 {
  %r = kina.ref %x : f64
  // expected-error @+1 {{K0601: a variable is assigned in a loop condition, which is not lowered}}
  kina.while () {
    %v = kina.deref %r : f64
    %w = kina.add %v, %v : f64
    kina.assign %r, %w : f64
    kina.condition(%c)
  } do {
    kina.yield
  }
  kina.return %x : f64
}

// -----

kina.effect @Exit {
  kina.operation @Stop : (f64) -> ()
}
kina.func public @unhandled(%x: f64) -> f64 {
  // expected-error @+1 {{K0601: effect 'Exit' is performed without a handler}}
  kina.perform @Exit::@Stop(%x : f64)
  kina.return %x : f64
}

// -----

kina.func public @stray(%x: f64) -> f64 {
  // expected-error @+1 {{K0601: this pullback is recorded outside the handler of its tag}}
  kina.perform @ReverseModeAD::@RecordVJP tag <7> of (%x : f64) to (%x : f64) {
  ^bb0(%d: f64, %a: f64):
    kina.yield %a : f64
  }
  kina.return %x : f64
}

// -----

kina.func public @left(%x: f64) -> f64 {
  // expected-error @+1 {{K0900: internal error: 'kina.absent' is left after --kina-lower-effects}}
  %0 = kina.absent : f64
  %1 = kina.add %x, %0 : f64
  kina.return %1 : f64
}
