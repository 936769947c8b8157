// RUN: kina-opt %s --kina-resolve-carried-copies --verify-diagnostics --split-input-file

// The size of what the condition computes is only known inside the loop.
func.func @unknown_size(%x: tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the sizes of a tensor that the loop computes are not known before it}}
  %r:2 = scf.while (%i = %c0) : (index) -> (index, tensor<?xf64>) {
    %d = tensor.empty(%i) : tensor<?xf64>
    %n = tensor.dim %d, %c0 : tensor<?xf64>
    %c = arith.cmpi slt, %n, %i : index
    scf.condition(%c) %i, %d : index, tensor<?xf64>
  } do {
  ^bb0(%i: index, %d: tensor<?xf64>):
    scf.yield %i : index
  }
  return
}
