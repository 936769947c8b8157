// RUN: kina-opt %s --kina-linalg-to-loops --verify-diagnostics

func.func @tensors(%x: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  // expected-error @below {{works on tensors: bufferise first}}
  %0 = linalg.fill ins(%f : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
