// RUN: kina-opt %s --kina-pipeline="to=typed" | FileCheck %s --check-prefix=TYPED
// RUN: kina-opt %s --kina-pipeline="to=ad" | FileCheck %s --check-prefix=AD
// RUN: kina-opt %s --kina-pipeline="to=llvm" | FileCheck %s --check-prefix=LLVM
// RUN: kina-opt %s --kina-pipeline | FileCheck %s --check-prefix=LLVM
// RUN: kina-opt %s --kina-pipeline="to=loops" | kina-opt --kina-pipeline="to=llvm" | FileCheck %s --check-prefix=LLVM
// RUN: not kina-opt %s --kina-pipeline="to=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not kina-opt %s --kina-pipeline="to=surface" 2>&1 | FileCheck %s --check-prefix=BACK
// RUN: not kina-opt %s --kina-pipeline="to=linalg" --kina-pipeline="to=ad" 2>&1 | FileCheck %s --check-prefix=LINALG-BACK

// TYPED: kina.grad @square
// AD-NOT: kina.grad
// AD: kina.func @slope
// LLVM: llvm.func @_kina_entry_slope
// NOWHERE: error: --kina-pipeline has no stage 'nowhere'; the stages are surface, typed, owned, verified, ad, linalg, loops, llvm
// BACK: error: the module is at stage 'typed', which comes after 'surface'
// LINALG-BACK: error: the module is at stage 'linalg', which comes after 'ad'

kina.func private @square(%x: f64) -> f64 {
  %0 = kina.mul %x, %x : f64
  kina.return %0 : f64
}
kina.func @slope(%x: f64) -> f64 {
  %0 = kina.grad @square(%x) subst {} wrt [0] : (f64) -> f64
  kina.return %0 : f64
}
