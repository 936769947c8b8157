//===- KinaPlacementOps.td - Copies between host and device *- tablegen -*-===//

#ifndef KINA_PLACEMENT_OPS_TD
#define KINA_PLACEMENT_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

// Shape and element type stay. Each is the derivative of the other. A variable for a place
// may turn out to be the host; then nothing is copied.
class Kina_PlacementCopy<string mnemonic, string what, string more>
    : Kina_Op<mnemonic, [Pure, Kina_Differentiable, Kina_OwnershipOpInterface]> {
  let summary = what;
  let description = more;
  let arguments = (ins Kina_Any:$operand);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
}

def Kina_CopyToDeviceOp : Kina_PlacementCopy<"copy_to_device", "a copy on a device", [{
    The result's placement names the device; a scalar becomes a tensor of rank 0 there.

    ```mlir
    %0 = kina.copy_to_device %x : !kina.tensor<f32, [N]> to !kina.tensor<f32, [N], @cuda:global(0)>
    ```
  }]>;
def Kina_CopyToHostOp : Kina_PlacementCopy<"copy_to_host", "a copy on the host", [{
    A tensor of rank 0 becomes a scalar.
  }]>;

#endif
