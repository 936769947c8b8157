// What is read from a tape outlives it.
module attributes {kina.value_semantics} {
  kina.func @escape(%x: !kina.tensor<f32, [N]>, %i: index, %c: i1) -> (!kina.tensor<f32, [N]>, !kina.tensor<f32, [N]>)
      attributes {shape_vars = [#kina.var<"N">]} {
    %r = kina.if %c -> (!kina.tensor<f32, [N]>) {
      %t = kina.tape_new : !kina.tape<!kina.tensor<f32, [N]>, growable>
      %u = kina.tape_push %t at %i, %x : !kina.tape<!kina.tensor<f32, [N]>, growable>
      %g = kina.tape_read %u at %i : !kina.tape<!kina.tensor<f32, [N]>, growable>
      kina.yield %g : !kina.tensor<f32, [N]>
    } else {
      kina.yield %x : !kina.tensor<f32, [N]>
    }
    %t = kina.tape_new : !kina.tape<!kina.tensor<f32, [N]>, growable>
    %u = kina.tape_push %t at %i, %x : !kina.tape<!kina.tensor<f32, [N]>, growable>
    %g = kina.tape_read %u at %i : !kina.tape<!kina.tensor<f32, [N]>, growable>
    kina.return %r, %g : !kina.tensor<f32, [N]>, !kina.tensor<f32, [N]>
  }
}
