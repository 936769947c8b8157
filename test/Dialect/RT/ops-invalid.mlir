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

// -----

func.func @tape_sizes(%n: index) {
  // expected-error @below {{has 0 sizes, but the frame has type 'memref<?x4xf32>'}}
  %tape = kina_rt.tape_new of memref<?x4xf32>
  return
}

// -----

func.func @frame_sizes(%n: index) {
  %tape = kina_rt.tape_new of memref<4xf32>
  // expected-error @below {{has 1 sizes, but the frame has type 'memref<4xf32>'}}
  %frame = kina_rt.tape_frame %tape[%n](%n) : memref<4xf32>
  return
}

// -----

func.func @frame_layout() {
  // expected-error @below {{frame must lie row by row, but has type 'memref<4xf32, strided<[2]>>'}}
  %tape = kina_rt.tape_new of memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @no_tape(%buffer: memref<i32>, %n: index) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%buffer' expects different type than prior uses: 'memref<i8>' vs 'memref<i32>'}}
  %frame = kina_rt.tape_frame %buffer[%n] : memref<4xf32>
  return
}
