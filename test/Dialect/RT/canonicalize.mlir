// RUN: kina-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @holds
func.func @holds() {
  // CHECK-NOT: kina_rt.check
  // CHECK: return
  %true = arith.constant true
  kina_rt.check %true, 803, "never"
  return
}

// Neither an unused check nor a repeated poll may disappear.
// CHECK-LABEL: func.func @stays
func.func @stays(%ok: i1) {
  // CHECK: kina_rt.check
  // CHECK-NEXT: kina_rt.poll
  // CHECK-NEXT: kina_rt.poll
  // CHECK-NEXT: return
  kina_rt.check %ok, 803, "index"
  kina_rt.poll
  kina_rt.poll
  return
}
