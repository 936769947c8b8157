// RUN: kina-opt %s --kina-linalg-to-loops --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  // expected-error @below {{works on tensors: bufferise first}}
  %0 = linalg.fill ins(%f : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @moves(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<f32>) {
  // expected-error @below {{has an output that moves with a loop that reduces}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%x : memref<4xf32>) outs(%y, %s : memref<4xf32>, memref<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %a, %0 : f32, f32
  }
  return
}
