//===- Passes.td - Transformations of the typed core -----*- tablegen -*-===//

#ifndef KINA_TRANSFORMS_PASSES_TD
#define KINA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ElaboratePass : Pass<"kina-elaborate", "::mlir::ModuleOp"> {
  let summary = "Turn kina_surface into typed kina";
  let description = [{
    Precondition: the module holds `kina_surface` items. Resolves names, infers element
    types and shapes, specialises functions per use, and leaves what normal form cannot
    settle as obligations. Source order and names of functions never change. Errors are
    reported together, sorted by source; then the module is left as it was, unless
    `keep-going` leaves the functions without errors for the passes that look for more.

    A tensor that meets another one at another place is an error (K0401) that says which
    copy is missing. With `insert-copies` the copy is made and a remark says so: to the
    place that a type states, of operands to that of the first one on a device. What has
    all its copies is elaborated to the same with and without the option.
  }];
  let options = [
    Option<"keepGoing", "keep-going", "bool", /*default=*/"false",
           "After errors leave what elaborated, and do not fail">,
    Option<"insertCopies", "insert-copies", "bool", /*default=*/"false",
           "Insert the copy where tensors at different places meet">];
  let dependentDialects = ["::kina::KinaDialect"];
}

def CheckOwnershipPass : Pass<"kina-check-ownership", "::mlir::ModuleOp"> {
  let summary = "Check that every tensor is consumed at most once on every path";
  let description = [{
    Precondition: typed `kina` before differentiation. Tensors are owned; scalars are
    copied freely. `OwnershipOpInterface` says which operands an operation consumes, all
    others it reads. A use after a consumption on some path is K0501, a consumption in a
    loop of what comes from outside K0502, a tensor that a loop carries and nobody reads
    K0503, the consumption of a borrowed value K0505. A parameter that its function only
    reads is borrowed. Nothing is changed; a module with `kina.value_semantics` is not
    looked at.
  }];
  let options = [
    Option<"strict", "strict", "bool", "false", "Report every tensor that is dropped without being said to (K0503)">
  ];
}

def VerifyRefinementsPass : Pass<"kina-verify-refinements", "::mlir::ModuleOp"> {
  let summary = "Discharge the obligations that elaboration left open";
  let description = [{
    Precondition: typed `kina`, from the elaborator or elsewhere. In each function what is
    known of sizes is collected (least values of shape variables, `requires` clauses, assumptions, tests,
    names of sizes, conditions of branches and loops, what was proved before), and every
    `kina.obligation`, divisor and clause of a callee is decided under it, cheapest method
    first: normal form, enumeration of small values, Presburger arithmetic, Z3. What is proved is erased, or
    stays as a `kina.assume` where it is a divisor or a bound; loops that count up to a size get their
    `trip_bound`, with the least constant that follows for it (`min(N, 100)` under N <= 100). Slices and updates that are
    known to lie inside get `in_bounds`. A private function
    says in its body what its callers have proved. Everything else stays as it is.

    ```mlir
    kina.func @f(%x: !kina.tensor<f64, [N]>) -> !kina.tensor<f64, [5]> attributes {
        preconditions = [#kina.clause<<8 le N>, prove, "N >= 8", loc(unknown)>], shape_vars = [#kina.var<"N">]} {
      kina.obligation bounds <5 le N>, "a slice may end behind the last element"
      ...
    ```
    becomes
    ```mlir
      kina.assume <5 le N>
      ...
    ```
    Errors: K0301 to K0304, K0306, K0307, K0311, K0402, K0404 and K0504 with a
    counterexample for what may fail or can never hold; K0305 for assumptions that
    contradict each other; K0308 and K0309 for what could not be decided. Warning: K0310 for a product relation
    that is taken on trust.
  }];
  let options = [
    Option<"dumpSmt", "dump-smt", "std::string", "\"\"",
           "Directory that gets every goal that reaches Presburger arithmetic or Z3 as SMT-LIB">,
    Option<"smtStats", "smt-stats", "bool", "false", "Print how the queries were answered, and how long they took">,
    Option<"smtOnly", "smt-only", "bool", "false", "Ask Z3 alone, to compare with">,
    Option<"noSmt", "no-smt", "bool", "false", "Never start the worker process of Presburger arithmetic and Z3">,
    Option<"worker", "worker", "std::string", "\"\"", "Path of kina-smt-worker, if not beside the program">
  ];
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

def InsertCheckpointsPass : Pass<"kina-insert-checkpoints", "::mlir::ModuleOp"> {
  let summary = "Cut loops marked @checkpoint into segments that reverse mode runs again";
  let description = [{
    Precondition: typed `kina`. A `kina.while` with `checkpoint = <k, 4>` becomes a loop
    over segments of 4 iterations, the last one short, each in a `kina.remat`; the
    derivative then keeps a state for each segment and the residuals of one of them.
    Bare and `sqrt` take the square root of the number of iterations, `levels` d nests
    d - 1 such loops; without a bound of that number, states are kept at a stride that
    doubles. `slots` is left to `--kina-record-vjps`. A call of a function marked so
    comes into a `kina.remat`. Values and their order never change.
    Warnings: K0606 for a `budget`, K0607 for more levels than are made, K0608 for a root of a
    number that is not known.
  }];
  let dependentDialects = ["::kina::KinaDialect"];
}

//===----------------------------------------------------------------------===//
// Differentiation
//===----------------------------------------------------------------------===//

def MaskArmsPass : Pass<"kina-mask-arms", "::mlir::ModuleOp"> {
  let summary = "Keep the slopes of an arm where its mask chooses it";
  let description = [{
    Precondition: typed `kina`. In what is differentiated, a value that enters the
    element-wise operations of an arm of an `if` over a mask (a `kina.select` marked
    `kina.arms`) is detached where the arm is not chosen: otherwise the zero that a
    derivative passes to such an element would meet slopes that are infinite.

    ```mlir
    %s = kina.sqrt %x : !kina.tensor<f64, [N]>
    %r = kina.select %m, %s, %zero {kina.arms} : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
    ```
    becomes
    ```mlir
    %d = kina.detach %x : !kina.tensor<f64, [N]>
    %e = kina.select %m, %x, %d : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
    %s = kina.sqrt %e : !kina.tensor<f64, [N]>
    %r = kina.select %m, %s, %zero : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>
    ```
  }];
  let dependentDialects = ["::kina::KinaDialect"];
}

def ExpandGradPass : Pass<"kina-expand-grad", "::mlir::ModuleOp"> {
  let summary = "Turn derivatives into handlers of the reverse-mode effect";
  let description = [{
    Precondition: typed `kina`. Every `kina.grad` and `kina.vjp` of a function that
    contains no derivative itself becomes a call under the built-in handler of
    `ReverseModeAD`, followed by reads of the wanted cotangents; outer derivatives wait
    until the inner ones are lowered (`--kina-ad` repeats). Functions without derivative
    never change.

    ```mlir
    %d = kina.grad @f(%x) subst {} wrt [0] : (f64) -> f64
    ```
    becomes
    ```mlir
    %w = kina.watch %x : f64
    %h:2 = kina.handle tag <0> -> (f64, !kina.cotangents) {
      %y = kina.call @f(%w) subst {} : (f64) -> f64
      kina.yield %y : f64
    } return { // seeds the loss with 1
    } cases [@ReverseModeAD::@RecordVJP] { // resumes, then pulls
    }
    %d = kina.cotangent_of %w in %h#1 : f64
    ```
    `kina.jvp` is left to `--kina-forward-mode`. Errors: K0604 for a function that is
    differentiated inside itself.
  }];
  let dependentDialects = ["::kina::KinaDialect"];
}

def RecordVJPsPass : Pass<"kina-record-vjps", "::mlir::ModuleOp"> {
  let summary = "Let active operations perform their pullback";
  let description = [{
    Precondition: `--kina-expand-grad`. In the body of each reverse-mode handler every
    operation that lies between a watched value and a seeded one is followed by a
    `kina.perform` of `RecordVJP`, whose region is the rule of the operation
    (`DifferentiableOpInterface`). An active call becomes a call of the callee's forward
    half, which returns residuals too, and its pullback one of the reverse half; halves
    are private, one pair for each callee and pattern of active arguments and results.
    The operations that were there keep their order and values.

    ```mlir
    %y = kina.mul %a, %b : f64
    ```
    becomes
    ```mlir
    %y = kina.mul %a, %b : f64
    kina.perform @ReverseModeAD::@RecordVJP tag <0> of (%y : f64) to (%a : f64) {
    ^bb0(%dy: f64, %acc: f64):
      %0 = kina.mul %dy, %b : f64
      %1 = kina.accumulate %acc, %0 : f64
      kina.yield %1 : f64
    }
    ```
    A region in which a size is born is run again by its pullback. Errors: K0604 for an active
    operation without rule, and for recursion.
  }];
  let dependentDialects = ["::kina::KinaDialect"];
  let options = [
    Option<"tape", "tape", "std::string", "\"auto\"",
           "How a loop keeps what its derivative needs: `auto` and `bounded` the residuals of every iteration, where "
           "its bound is exact or constant (`auto`) or there is one (`bounded`), else as `stride`; `growable` those of "
           "every iteration, on tapes that grow unless the trip count is exact; `stride` some states, from which it "
           "runs again; `replay` only the first state. A loop in a loop is always replayed">,
    Option<"slots", "slots", "int64_t", "64", "States that a doubling stride keeps: a power of two">
  ];
}

def LowerEffectsPass : Pass<"kina-lower-effects", "::mlir::ModuleOp"> {
  let summary = "Lower handlers by static continuation-passing style";
  let description = [{
    First the handlers without tag, innermost first. Where one of their operations is
    performed its case is written down, up to where it resumes. What follows the
    resumption runs behind the body; where the case does not resume, the rest of the body
    moves into the other arm of the branch, or behind a flag that loops carry. Then
    `kina.ref`s become values that branches yield and loops carry.

    ```mlir
    %r = kina.handle -> (f64) {
      %l = kina.while ... { ... kina.perform @Exit::@Stop(%v : f64) ... }
      kina.yield %l : f64
    } return { ... } cases [@Exit::@Stop] {
    ^bb0(%v: f64, %k: !kina.cont<none -> (f64)>):
      kina.yield %v : f64
    }
    ```
    becomes
    ```mlir
    %l:3 = kina.while ... // carries whether it was left, and with what
    %r = kina.if %l#1 -> (f64) { kina.yield %l#2 : f64 } else { kina.yield %l#0 : f64 }
    ```

    Then reverse mode. Precondition: `--kina-record-vjps`. The body of its handler stays; the
    recorded pullbacks are emitted behind it in reverse order, cotangents threaded
    through. A cotangent that nothing contributed to is never materialised, except where
    it is read: then it is zeros. Afterwards no effect, handler, `kina.absent` or
    cotangent map is left. What the body computes never changes.

    ```mlir
    %y = kina.mul %a, %b : f64
    kina.perform ... // as above, %y seeded with %one
    ```
    becomes
    ```mlir
    %y = kina.mul %a, %b : f64
    %da = kina.mul %one, %b : f64
    ```
    Errors: K0601 for an effect without handler, and for a handler that has no static
    lowering: one that resumes under another handler, and one that does something after
    it has resumed, where the operation is performed in a loop. K0602 for a continuation
    that may be resumed twice, K0605 for one that leaves its case.
  }];
  let dependentDialects = ["::kina::KinaDialect"];
}

def ForwardModePass : Pass<"kina-forward-mode", "::mlir::ModuleOp"> {
  let summary = "Turn pushforwards into calls of functions with tangents";
  let description = [{
    Precondition: typed `kina` without effects. Every `kina.jvp` of a function that
    contains no derivative itself becomes a call of `f.jvp.N`, a copy of the function in
    which each active operation is followed by its pushforward; one copy for each callee
    and pattern of active arguments. `kina.if`, `kina.while` and `kina.remat` get a
    result more for each active result, loops carry the tangents of the carried values
    that are active in some iteration. A tangent that is zero for certain is absent. A
    function with a pullback of its own (`custom_vjp`) is differentiated itself. Functions
    never change, and what they computed keeps its order and bits.

    ```mlir
    %t = kina.jvp @f(%x : f64) along (%v : f64) subst {} wrt [0] -> f64
    ```
    becomes
    ```mlir
    kina.func private @f.jvp.0(%x: f64, %v: f64) -> (f64, f64) {
      %y = kina.sin %x : f64
      %c = kina.cos %x : f64
      %t = kina.mul %v, %c : f64
      kina.return %y, %t : f64, f64
    }
    %y, %t = kina.call @f.jvp.0(%x, %v) subst {} : (f64, f64) -> (f64, f64)
    ```
    Errors: K0604 for an active operation without rule, an active effect, recursion.
  }];
  let dependentDialects = ["::kina::KinaDialect"];
}

def ADPass : Pass<"kina-ad", "::mlir::ModuleOp"> {
  let summary = "Differentiate: derivatives become plain kina";
  let description = [{
    Lowers handlers; runs `--kina-mask-arms` and then `--kina-expand-grad`,
    `--kina-record-vjps`, `--kina-lower-effects` and `--kina-forward-mode`, innermost derivatives first, until none is left; then
    removes what the rules emitted and nobody
    reads, in the functions made or changed. A module without derivatives and effects is
    left as it was, byte for byte.

    ```mlir
    %d = kina.grad @f(%x) subst {} wrt [0] : (f64) -> f64
    ```
    becomes
    ```mlir
    %one = kina.constant 1.0 : f64
    %r = kina.call @f.fwd.0(%x) subst {} : (f64) -> f64
    %d = kina.call @f.rev.0(%r, %one) subst {} : (f64, f64) -> f64
    ```
  }];
  let dependentDialects = ["::kina::KinaDialect"];
  let options = [
    Option<"tape", "tape", "std::string", "\"auto\"",
           "How a loop keeps what its derivative needs: `auto` and `bounded` the residuals of every iteration, where "
           "its bound is exact or constant (`auto`) or there is one (`bounded`), else as `stride`; `growable` those of "
           "every iteration, on tapes that grow unless the trip count is exact; `stride` some states, from which it "
           "runs again; `replay` only the first state. A loop in a loop is always replayed">,
    Option<"slots", "slots", "int64_t", "64", "States that a doubling stride keeps: a power of two">
  ];
}

#endif
