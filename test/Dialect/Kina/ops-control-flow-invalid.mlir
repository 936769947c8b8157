// RUN: kina-opt %s --verify-diagnostics --split-input-file

// What branches, loops and rematerialised regions refuse.

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op with results needs a second region}}
  %0 = kina.if %c -> (f64) {
    kina.yield %x : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = kina.if %c -> (f64) {
    // expected-error @+1 {{'kina.yield' op yields ('i32'), but the first region needs ('f64')}}
    kina.yield %i : i32
  } else {
    kina.yield %x : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = kina.if %c -> (f64) {
    kina.yield %x : f64
  } else {
    // expected-error @+1 {{'kina.yield' op yields (), but the second region needs ('f64')}}
    kina.yield
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op the first region must end in kina.yield}}
  kina.if %c {
    kina.drop %x : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op region #0 should have no arguments}}
  kina.if %c {
  ^bb0(%a: f64):
    kina.yield
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op expects region #0 to have 0 or 1 blocks}}
  kina.if %c {
    kina.yield
  ^bb1:
    kina.yield
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op expects a non-empty block}}
  "kina.if"(%c) ({
  ^bb0:
  }, {}) : (i1) -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "kina.if"(%c) ({}, {}) : (i1) -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op operand #0 must be 1-bit signless integer, but got 'i32'}}
  "kina.if"(%i) ({
    kina.yield
  }, {}) : (i32) -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.if' op the first region must end in kina.yield}}
  kina.if %c {
    kina.condition(%c)
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    // expected-error @+1 {{'kina.condition' op forwards ('f64'), but the loop's extra results are ()}}
    kina.condition(%c) %a : f64
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op the first region must end in kina.condition}}
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.yield
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op the condition must take the carried types ('f64'), not ('i32')}}
  %0 = "kina.while"(%x) ({
  ^bb0(%a: i32):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op the condition must take the carried types ('f64'), not ()}}
  %0 = "kina.while"(%x) ({
  ^bb0:
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op the body must take ('f64'), not ('f64', 'f64')}}
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64, %b: f64):
    kina.yield %a : f64
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    // expected-error @+1 {{'kina.yield' op yields (), but the body needs ('f64')}}
    kina.yield
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    // expected-error @+1 {{'kina.yield' op yields ('i32'), but the body needs ('f64')}}
    kina.yield %i : i32
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op the body must end in kina.yield}}
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    kina.condition(%c)
  }) : (f64) -> f64
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op results must begin with the carried types ('f64')}}
  %0 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> i32
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op results must begin with the carried types ('f64')}}
  "kina.while"(%x) ({
  ^bb0(%a: f64):
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0:2 = "kina.while"(%x) ({
  ^bb0(%a: f64):
    // expected-error @+1 {{'kina.condition' op forwards (), but the loop's extra results are ('i32')}}
    kina.condition(%c)
  }, {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }) : (f64) -> (f64, i32)
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op region #0 ('before') failed to verify constraint: region with 1 blocks}}
  "kina.while"() ({}, {}) : () -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.while' op expects a non-empty block}}
  "kina.while"() ({
  ^bb0:
  }, {
  ^bb0:
  }) : () -> ()
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{custom op 'kina.while' number of operands and types do not match: got 1 operands and 2 types}}
  %0 = kina.while (%a = %x) : f64, f64 {
    kina.condition(%c)
  } do {
  ^bb0(%a: f64):
    kina.yield %a : f64
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = kina.while (%a = %x) : f64 {
    kina.condition(%c)
  } do {
  ^bb0(%a: f64):
    kina.yield %a : f64
  // expected-error @+1 {{custom op 'kina.while' 'kina.while' op attribute 'checkpoint' failed to satisfy constraint: the user's `@checkpoint` on a loop or a function}}
  } {checkpoint = 3}
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = kina.while (%a = %x) : f64 {
    kina.condition(%c)
  } do {
  ^bb0(%a: f64):
    kina.yield %a : f64
  // expected-error @+1 {{custom op 'kina.while' 'kina.while' op attribute 'trip_bound' failed to satisfy constraint: the size of an axis, a polynomial in normal form}}
  } {trip_bound = 3}
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.condition' op expects parent op 'kina.while'}}
  kina.condition(%c)
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.yield' op expects parent op to be one of 'kina.if, kina.while, kina.remat, kina.handle, kina.perform, kina.global'}}
  kina.yield
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  %0 = kina.remat -> (f64) {
    // expected-error @+1 {{'kina.yield' op yields (), but the region needs ('f64')}}
    kina.yield
  }
  kina.return
}

// -----

kina.func @f(%c: i1, %x: f64, %i: i32) {
  // expected-error @+1 {{'kina.remat' op the region must end in kina.yield}}
  kina.remat {
    kina.drop %x : f64
  }
  kina.return
}
