// RUN: kina-opt %s | kina-opt | FileCheck %s
// RUN: kina-opt %s -emit-bytecode | kina-opt | FileCheck %s
// RUN: kina-opt %s -mlir-print-op-generic | kina-opt | FileCheck %s

// Every attribute, in its one spelling.

// CHECK-LABEL: @dims
module @dims attributes {
  // One polynomial has one spelling, however it is written.
  // CHECK-SAME: kina.a0 = #kina.dim<0>
  kina.a0 = #kina.dim<N - N>,
  // CHECK-SAME: kina.a1 = #kina.dim<B*D*H>
  kina.a1 = #kina.dim<B*(H*D)>,
  // CHECK-SAME: kina.a2 = #kina.dim<B*D*H>
  kina.a2 = #kina.dim<(D*B)*H>,
  // CHECK-SAME: kina.a3 = #kina.dim<N*N + 2*N + 1>
  kina.a3 = #kina.dim<(N + 1)*(N + 1)>,
  // CHECK-SAME: kina.a4 = #kina.dim<1 - N>
  kina.a4 = #kina.dim<1 - N>,
  // CHECK-SAME: kina.a5 = #kina.dim<-9223372036854775808>
  kina.a5 = #kina.dim<-9223372036854775808>,
  // CHECK-SAME: kina.a6 = #kina.dim<9223372036854775807>
  kina.a6 = #kina.dim<9223372036854775807>,
  // CHECK-SAME: kina.a7 = #kina.dim<-5>
  kina.a7 = #kina.dim<---5>,
  // CHECK-SAME: kina.b0 = #kina.dim<N>
  kina.b0 = #kina.dim<(8*N + 7) floordiv 8>,
  // CHECK-SAME: kina.b1 = #kina.dim<(N + 7) floordiv 8>
  kina.b1 = #kina.dim<(N + 7) floordiv 8>,
  // CHECK-SAME: kina.b2 = #kina.dim<N ceildiv 8>
  kina.b2 = #kina.dim<N ceildiv 8>,
  // CHECK-SAME: kina.b3 = #kina.dim<N mod 8>
  kina.b3 = #kina.dim<N mod 8>,
  // CHECK-SAME: kina.b4 = #kina.dim<N floordiv M>
  kina.b4 = #kina.dim<N floordiv M>,
  // CHECK-SAME: kina.b5 = #kina.dim<-2>
  kina.b5 = #kina.dim<(-3) floordiv 2>,
  // CHECK-SAME: kina.c0 = #kina.dim<min(M, N)>
  kina.c0 = #kina.dim<min(N, M)>,
  // CHECK-SAME: kina.c1 = #kina.dim<max(K, max(M, N))>
  kina.c1 = #kina.dim<max(max(N, M), K)>,
  // CHECK-SAME: kina.c2 = #kina.dim<2*min(K, min(M, N)) + 2>
  kina.c2 = #kina.dim<min(2*min(N, M) + 2, 2*K + 2)>,
  // CHECK-SAME: kina.c3 = #kina.dim<N + 1>
  kina.c3 = #kina.dim<max(N, N + 1)>
} {}

// CHECK-LABEL: @preds
module @preds attributes {
  // CHECK-SAME: kina.p0 = #kina.pred<N = 2>
  kina.p0 = #kina.pred<N = 2>,
  // CHECK-SAME: kina.p1 = #kina.pred<N ne M>
  kina.p1 = #kina.pred<N ne M>,
  // CHECK-SAME: kina.p2 = #kina.pred<M lt N>
  kina.p2 = #kina.pred<M lt N>,
  // CHECK-SAME: kina.p3 = #kina.pred<M le N>
  kina.p3 = #kina.pred<M le N>,
  // CHECK-SAME: kina.p4 = #kina.pred<N lt M>
  kina.p4 = #kina.pred<N lt M>,
  // CHECK-SAME: kina.p5 = #kina.pred<N le M>
  kina.p5 = #kina.pred<N le M>,
  // CHECK-SAME: kina.p6 = #kina.pred<[N = 1 and M = 2] or not (N = 3 or M = 4)>
  kina.p6 = #kina.pred<[N = 1 and M = 2] or not (N = 3 or M = 4)>
} {}

// CHECK-LABEL: @others
module @others attributes {
  // CHECK-SAME: kina.atom = #kina.dim_atom<N floordiv M>
  kina.atom = #kina.dim_atom<N floordiv M>,
  // CHECK-SAME: kina.checkpoints = [#kina.checkpoint<"auto">, #kina.checkpoint<"sqrt">, #kina.checkpoint<"k", 4>, #kina.checkpoint<"levels", 2>, #kina.checkpoint<"slots", 8>, #kina.checkpoint<"budget", 67108864>]
  kina.checkpoints = [#kina.checkpoint<"auto">, #kina.checkpoint<"sqrt">, #kina.checkpoint<"k", 4>, #kina.checkpoint<"levels", 2>,
                      #kina.checkpoint<"slots", 8>, #kina.checkpoint<"budget", 67108864>],
  // CHECK-SAME: kina.clauses = [#kina.clause<<N = 2>, prove, "N = 2", #loc{{[0-9]*}}>, #kina.clause<<N = 2>, runtime, "N = 2", #loc{{[0-9]*}}>, #kina.clause<<N = 2>, trusted, "", #loc{{[0-9]*}}>]
  kina.clauses = [#kina.clause<<N = 2>, prove, "N = 2", loc(unknown)>, #kina.clause<<N = 2>, runtime, "N = 2", loc("a.kina":1:2)>,
                  #kina.clause<<N = 2>, trusted, "", loc("name")>],
  // CHECK-SAME: kina.places = [#kina.place<@host>, #kina.place<@P>, #kina.place<@cuda:global(3)>]
  kina.places = [#kina.place<@host>, #kina.place<@P>, #kina.place<@cuda:global(3)>],
  // CHECK-SAME: kina.tag = #kina.tag<7>
  kina.tag = #kina.tag<7>,
  // CHECK-SAME: kina.term = #kina.dim_term<3*M*N>
  kina.term = #kina.dim_term<3*N*M>,
  // CHECK-SAME: kina.vars = [#kina.var<"N">, #kina.var<"N", 0>]
  kina.vars = [#kina.var<"N">, #kina.var<"N", 0>]
} {}
