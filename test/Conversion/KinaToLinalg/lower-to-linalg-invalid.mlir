// RUN: kina-opt %s --kina-lower-to-linalg --verify-diagnostics --split-input-file

kina.func @undecided(%x: !kina.tensor<f64, [N]>, %y: !kina.tensor<f64, [M]>) attributes {shape_vars = [#kina.var<"N">, #kina.var<"M">]} {
  // expected-error @below {{K0308: could not decide}}
  kina.obligation shapes_equal <N = M>, "operands of +"
  kina.return
}

// -----

kina.func @f(%x: f64) -> f64 {
  kina.return %x : f64
}
kina.func @derivative(%x: f64) -> f64 {
  // expected-error @below {{'kina.grad' is left over: run --kina-ad first}}
  %0 = kina.grad @f(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %0 : f64
}

// -----

kina.func @zero() -> f64 {
  // expected-error @below {{'kina.absent' is left over: run --kina-ad first}}
  %0 = kina.absent : f64
  kina.return %0 : f64
}

// -----

// expected-error @below {{K0115: a tensor on a device cannot be lowered by this build, which has no code generation for devices: place it on the host}}
kina.func @device(%x: !kina.tensor<f64, [4], @cuda:global(0)>) {
  kina.return
}

// -----

// One message for each function, where a device is needed first.
kina.func @copies(%x: !kina.tensor<f64, [4]>) -> !kina.tensor<f64, [4]> {
  // expected-error @below {{K0115: a tensor on a device cannot be lowered by this build}}
  %0 = kina.copy_to_device %x : !kina.tensor<f64, [4]> to !kina.tensor<f64, [4], @cuda:global(0)>
  %1 = kina.copy_to_host %0 : !kina.tensor<f64, [4], @cuda:global(0)> to !kina.tensor<f64, [4]>
  kina.return %1 : !kina.tensor<f64, [4]>
}

// -----

kina.global @free : f64
kina.func @reads() -> f64 {
  // expected-error @below {{K0203: 'free' has no value here: pass it as a parameter}}
  %0 = kina.get_global @free : f64
  kina.return %0 : f64
}

// -----

kina.global @a : f64 {
  // expected-error @below {{the value of 'a' depends on itself}}
  %0 = kina.get_global @a : f64
  kina.yield %0 : f64
}
kina.func @cycle() -> f64 {
  %0 = kina.get_global @a : f64
  kina.return %0 : f64
}

// -----

kina.func @unsolved(%x: !kina.tensor<f64, [N floordiv 2]>) -> index attributes {shape_vars = [#kina.var<"N">]} {
  // expected-error @below {{K0203: shape variable 'N' cannot be computed here from the parameters}}
  %0 = kina.dim <N> : index
  kina.return %0 : index
}

// -----

kina.func @not_yet(%c: i1, %n: index) {
  kina.if %c {
    kina.bind_dim "K" = %n : index
    kina.yield
  }
  // expected-error @below {{K0203: shape variable 'K' cannot be computed here from the parameters}}
  %0 = kina.dim <K> : index
  %1 = kina.add %0, %0 : index
  kina.return
}

// -----

kina.func @length(%t: !kina.tape<f32, growable>) -> index {
  // expected-error @below {{K0604: no derivative of a derivative that keeps a tape that grows: keep it in another form}}
  %n = kina.tape_length %t : !kina.tape<f32, growable>
  kina.return %n : index
}
