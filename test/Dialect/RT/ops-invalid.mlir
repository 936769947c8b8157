// RUN: kina-opt %s --verify-diagnostics --split-input-file

func.func @code(%ok: i1) {
  // expected-error @below {{code must lie in 801..999, but is 5}}
  kina_rt.check %ok, 5, "text"
  return
}

// -----

func.func @message(%ok: i1) {
  // expected-error @below {{message must not be empty}}
  kina_rt.check %ok, 803, ""
  return
}

// -----

func.func @values(%ok: i1, %wide: i128) {
  // expected-error @below {{values must have at most 64 bits, but got 'i128'}}
  kina_rt.check %ok, 803, "text" (%wide) : i128
  return
}

// -----

func.func @operand(%ok: i32) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%ok' expects different type than prior uses: 'i1' vs 'i32'}}
  kina_rt.check %ok, 803, "text"
  return
}
