//===- Elaborator.h - From names and holes to typed Kina -------*- C++ -*-===//
//
// The elaborator walks the surface tree once and emits typed operations as it goes.
//
// - Element types are inferred by union-find (ElementTypes.h); holes are replaced when
//   the outermost function is finished.
// - Shapes are known as it goes. Two sizes are the same, or differ only by facts (then a
//   checked reshape converts), or make an obligation.
// - Functions are compile-time values. A function item with a complete signature
//   becomes one `kina.func` and is called by symbol; one that takes functions, or whose
//   parameters have no type, is elaborated in place at each call, as a lambda is.
// - What is differentiated needs a symbol: a lambda is lifted to a `kina.func` whose
//   trailing parameters are the values it captures.
// - A function that performs effects is elaborated in place, too, so that every perform
//   stands in the body of the handle that answers it.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_TRANSFORMS_ELABORATE_ELABORATOR_H
#define KINA_LIB_TRANSFORMS_ELABORATE_ELABORATOR_H

#include "ElementTypes.h"
#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "Kina/Dialect/Kina/IR/SourceNames.h"
#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "Kina/Dialect/Surface/IR/Surface.h"
#include "Kina/Support/Diagnostics.h"
#include "Kina/Transforms/Refinements.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>
#include <memory>
#include <set>
#include <set>

namespace kina::elaborate {

using mlir::Block;
using mlir::Operation;
using mlir::BlockArgument;
using mlir::DictionaryAttr;
using mlir::FailureOr;
using mlir::failure;
using mlir::InFlightDiagnostic;
using mlir::Location;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::Region;
using mlir::success;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using surface::SyntaxAttr;
using surface::SyntaxKind;

struct Callable;
struct Continuation;
struct FunctionContext;
struct FunctionItem;
struct ReverseHandle;
struct Scope;

//===----------------------------------------------------------------------===//
// Values and types
//===----------------------------------------------------------------------===//

/// What an expression denotes.
struct Val {
  enum class Kind {
    Error,    ///< already reported; uses stay silent
    Unit,
    Value,    ///< a tensor or scalar: `value`
    Tuple,    ///< `members`, named if `names` is not empty
    List,     ///< `[a, b]`: a tensor, sizes or subscripts, by its use
    Slice,    ///< `members[0]:members[1]`, Unit where a bound is absent
    Function, ///< `function`
    Ref,      ///< a variable; `members[0]` is its structure over `kina.ref`s, or `list` what it holds
    Continuation, ///< of a case, `value`: `continuation`
    Pullback, ///< the payload of a RecordVJP of `reverse`
    Tape,     ///< the pullbacks of `reverse`, last first; none if that is null
    Cotangents, ///< the store of all cotangents of `reverse`, `pulled` through one pullback or not
    DType,    ///< `type`
    Place,    ///< `place`
    TypeExpr, ///< `type`, a tensor type as a value
    String    ///< `text`, an argument of an operation
  };
  Kind kind = Kind::Error;
  Value value;
  /// Of an integer scalar: its value as a dimension. Run-time scalars are atoms whose name
  /// begins with '%'; they must cancel before a size is made of it.
  DimAttr sym;
  /// Of an integer scalar without `sym`: its value as a dimension leaves 64 bits.
  bool overflows = false;
  /// Of an integer scalar: `sym` says what it is modulo its type's width only, so that it
  /// proves nothing of the value.
  bool mayWrap = false;
  /// Of a boolean scalar: what it says about dimensions, if that is all it says.
  PredAttr pred;
  /// Of a boolean scalar without `pred`: what of dimensions follows if it is true.
  PredAttr implied;
  std::vector<Val> members;
  SmallVector<std::string> names;
  /// A loop's states, of which a single name takes the first (language.md, Control flow).
  bool isLoop = false;
  std::shared_ptr<Callable> function;
  std::shared_ptr<Continuation> continuation;
  std::shared_ptr<ReverseHandle> reverse;
  std::shared_ptr<Val> list;
  bool pulled = false;
  Type type;
  PlacementAttr place;
  std::string text;
  /// The expression that gave it, for messages; null if there is none of its own.
  Value expr;

  bool isError() const { return kind == Kind::Error; }
  bool isValue() const { return kind == Kind::Value; }
  /// On the host; on a device it is a tensor of rank 0.
  bool isScalar() const { return isValue() && !mlir::isa<TensorType>(value.getType()); }
  Type getType() const { return value.getType(); }
  /// Whether it exists at run time and so can be a result, a loop state or an arm's value:
  /// tensors, scalars, tuples of them.
  bool isFirstOrder() const {
    return kind == Kind::Unit || kind == Kind::Value ||
           (kind == Kind::Tuple && llvm::all_of(members, [](const Val &member) { return member.isFirstOrder(); }));
  }

  /// Whether a continuation would leave its case with it.
  bool hasContinuation() const {
    return kind == Kind::Continuation ||
           llvm::any_of(members, [](const Val &member) { return member.hasContinuation(); });
  }

  static Val error() { return Val(); }
  static Val unit() {
    Val val;
    val.kind = Kind::Unit;
    return val;
  }
  static Val of(Value value, DimAttr sym = {}) {
    Val val;
    val.kind = Kind::Value;
    val.value = value;
    val.sym = sym;
    return val;
  }
  static Val tuple(std::vector<Val> members) {
    Val val;
    val.kind = Kind::Tuple;
    val.members = std::move(members);
    return val;
  }
  static Val of(std::shared_ptr<Callable> function) {
    Val val;
    val.kind = Kind::Function;
    val.function = std::move(function);
    return val;
  }
};

/// A declared type.
struct Ty {
  enum class Kind { Unknown, Unit, Value, Tuple, Function };
  Kind kind = Kind::Unknown;
  Type type;
  std::vector<Ty> members;
  /// Of a tuple: the members' names; empty if they have none.
  SmallVector<std::string> names;
  /// `Index`: the shape variable that the parameter is.
  std::string indexName;
  /// Of a function: the number of its parameters, and which of them it only borrows.
  size_t arity = 0;
  SmallVector<unsigned, 0> borrows;
  /// What a tensor type in a body says of its sizes.
  SmallVector<PredAttr> preds;
  /// Of a value: whether `type` says where it lives. If not, it is where it is.
  bool placed = false;
};

/// A function as a compile-time value.
struct Callable {
  enum class Kind { Item, Lambda, Operation, Derivative };
  enum class Derivative { Grad, ValueAndGrad, VJP, JVP, Jacobian, Hessian };
  Kind kind;
  Location loc;
  FunctionItem *item = nullptr;
  surface::LambdaOp lambda;
  std::shared_ptr<Scope> scope;
  std::string operation;
  // grad(base, wrt=...), vjp(base, point...)
  Derivative derivative = Derivative::Grad;
  std::shared_ptr<Callable> base;
  SmallVector<std::string> wrt;
  bool hasWrt = false;
  std::vector<Val> point;
  SmallVector<std::string> pointKeywords;
  /// What it only borrows by the type of a parameter that it was given to.
  SmallVector<unsigned, 0> borrows;

  Callable(Kind kind, Location loc) : kind(kind), loc(loc) {}
  /// Of a derivative: whether it is taken at `point`, its own arguments being directions.
  bool hasPoint() const { return derivative == Derivative::VJP || derivative == Derivative::JVP; }
};

//===----------------------------------------------------------------------===//
// Scopes and functions
//===----------------------------------------------------------------------===//

struct Scope {
  std::shared_ptr<Scope> parent;
  /// The function whose SSA values stand in this scope; null at module level.
  FunctionContext *context = nullptr;
  std::map<std::string, Val, std::less<>> names;
  std::map<std::string, DimAttr, std::less<>> dims;
  /// Variables for places and for element types.
  std::map<std::string, PlacementAttr, std::less<>> places;
  std::map<std::string, Type, std::less<>> elements;
  /// Whether a function is closed over it: what is bound later opens another scope.
  bool closed = false;

  Scope(std::shared_ptr<Scope> parent, FunctionContext *context) : parent(std::move(parent)), context(context) {}
};
using ScopePtr = std::shared_ptr<Scope>;

/// A `kina.func` under construction.
struct FunctionContext {
  FuncOp function;
  Block *entry = nullptr;
  /// For a lifted function, where it is lifted from.
  FunctionContext *parent = nullptr;
  /// Values of the parent that became trailing parameters, in order of first use.
  llvm::MapVector<Value, BlockArgument> captures;
  /// Module-level lets without a value that became trailing parameters.
  llvm::MapVector<mlir::StringAttr, BlockArgument> globals;
  /// Parameters that are declared with `&`.
  llvm::DenseSet<Value> borrowed;
  /// Shape variables that only those give.
  SmallVector<StringRef> globalVars;
  /// Shape variables, with their least values.
  llvm::MapVector<StringRef, int64_t> shapeVars;
  /// What is known of them.
  SmallVector<PredAttr> facts;
  std::string name;
  unsigned lifted = 0;
  /// Module-level lets that have been evaluated here, or that stand for an argument here.
  std::map<std::string, Val, std::less<>> globalValues;
  /// What module-level lets are evaluated before: they come first, in order of use.
  Operation *afterGlobals = nullptr;
  /// Whether functions called from here are elaborated in place, so that they see the
  /// arguments that module-level lets became.
  bool inlinesItems = false;
  /// Whether module-level lets are arguments here, so that others are evaluated anew.
  bool ownsGlobals = false;
  /// The item that it, or the function it is lifted from, belongs to.
  FunctionItem *item = nullptr;
};

struct Param {
  std::string name;
  Ty type;
  bool borrowed = false;
  Location loc;
  /// The flat arguments of the function that it takes.
  unsigned first = 0, count = 0;
};

struct FunctionItem {
  enum class State { Untouched, SignatureDone, InProgress, Done, Failed };
  surface::FnOp op;
  State state = State::Untouched;
  bool isTemplate = false, exported = false;
  std::string name;
  SmallVector<Param, 2> params;
  std::optional<Ty> result;
  /// The value's structure, with the types of the finished function.
  Ty resultType;
  llvm::MapVector<StringRef, int64_t> shapeVars;
  /// Variables for places.
  llvm::SetVector<StringRef> placeVars;
  /// Where parameters live whose types name no place: a variable, unless the body needs
  /// another one. Null where that is the host.
  PlacementAttr place;
  /// Whether the body may still decide what `place` is.
  bool isPlaceOpen = false;
  /// Variables for element types: what they may be. What they are, if it is an instance of
  /// `generic`, made for the call at `instantiated`.
  llvm::MapVector<StringRef, unsigned> elementVars;
  llvm::MapVector<StringRef, Type> elements;
  FunctionItem *generic = nullptr;
  std::optional<Location> instantiated;
  std::map<std::string, std::unique_ptr<FunctionItem>> instances;
  /// An instance for the errors of generic functions that nothing calls (kOnlyCheckedAttrName); others of the kind
  /// may call it.
  bool onlyChecked = false;
  /// Shape variables that no parameter gives; trailing `index` parameters.
  SmallVector<StringRef> unsolved;
  /// Shape variables that module-level values without a value are to give: those of an exported function's
  /// signature, and what its body brings in.
  SmallVector<StringRef> expected;
  SmallVector<ClauseAttr> clauses;
  /// What the user wrote for sizes, in the signature and the body.
  Spellings spellings;
  CheckpointAttr checkpoint;
  std::string vjpOf;
  /// Where the rule is named; and whether a rule exists for this function.
  SyntaxAttr vjpSyntax;
  bool hasCustomVjp = false;
  /// Whether it was elaborated in place somewhere.
  bool wasInlined = false;
  bool recursionReported = false;
  /// The effects that it performs and does not handle, in order of appearance.
  SmallVector<std::string> effects;
  FuncOp function;
  /// Names of valueless module-level lets, trailing parameters after `unsolved`.
  SmallVector<mlir::StringAttr> globals;
  /// Whether the types of all parameters and of the value are known, so that calls make sense although the body
  /// has an error; and whether it calls such a function.
  bool isDeclared = false, callsFailed = false;
  /// The functions made for it, in order of creation; its own comes last.
  SmallVector<FuncOp> made;

  /// Whether each use has an instance of it, which is the function.
  bool isGeneric() const { return !elementVars.empty() && !generic; }
};

struct GlobalItem {
  surface::GlobalOp op;
  bool inProgress = false, evaluated = false, failed = false;
};

/// An operation of an effect. Its signature is a function's: the members of the payload
/// are the parameters, what it resumes with is the result.
struct EffectOperation {
  std::string effect;
  /// Whether its type has an error, and so nothing is known of it.
  bool failed = false;
  FunctionItem signature;
};

/// What a case calls to resume: the operation, its shape variables, and the structure of
/// the handle's value.
struct Continuation {
  EffectOperation *operation;
  DictionaryAttr subst;
  Val result;
};

/// A handle of `RecordVJP` in the user's words: the handle in which reverse mode records,
/// what is differentiated in, and what the handled call gives.
struct ReverseHandle {
  HandleOp handle;
  Val point, value;
  bool folded = false;
};

/// A function elaborated in place at this moment: its body, what it closes over, and the
/// functions among its arguments. The same once more would never end, for nothing else
/// decides what is elaborated.
using Inlining = std::string;

//===----------------------------------------------------------------------===//
// Elaborator
//===----------------------------------------------------------------------===//

/// An operation being called by name: arguments in order, by position or keyword.
class OperationCall;
using OperationRule = Val (*)(OperationCall &);

/// Adds the predicates that stand inside tensor types.
void collectTypePreds(surface::SyntaxAttr syntax, SmallVectorImpl<surface::SyntaxAttr> &preds);

/// What the operator makes of two sizes, whatever number type the result gets; null if that depends on it, and for a null
/// operand.
DimAttr combineSizes(surface::BinaryKind kind, DimAttr a, DimAttr b);

class Elaborator {
public:
  struct Options {
    bool keepGoing;    ///< after errors the module has the functions that did not fail
    bool insertCopies; ///< where places differ a copy is inserted, and a remark says so
  };
  Elaborator(mlir::ModuleOp module, Options options);
  /// Replaces the module's surface items by typed functions. On failure, after
  /// diagnostics, the module is as it was; with `keepGoing` it has the functions that did
  /// not fail.
  LogicalResult run();

  mlir::MLIRContext *getContext() { return context; }
  ElementTypes &elements() { return elementTypes; }
  OpBuilder &getBuilder() { return builder; }

  // --- Diagnostics (Elaborate.cpp)
  InFlightDiagnostic report(Location loc, DiagCode code, const llvm::Twine &message = {});
  /// Whether an unknown name is to be reported: an error of the syntax may have hidden its
  /// definition, and a function's other uses of it say nothing new.
  bool isNewlyUnknown(StringRef name);
  /// The type as the user spells it.
  std::string spell(Type type);
  std::string spell(DimAttr dim) { return spellings->spell(dim); }
  std::string spell(PredAttr pred) { return spellings->spell(pred); }
  std::string spell(PlacementAttr place);
  std::string spell(const Val &val);
  std::string spell(const Ty &type);
  /// `1 axis`, `2 axes`.
  static std::string spellCount(size_t count, StringRef one, StringRef many) {
    return std::to_string(count) + " " + (count == 1 ? one : many).str();
  }
  /// `[N, 3]`.
  std::string spellShape(ArrayRef<DimAttr> shape);

  // --- Types, dimensions, predicates (Types.cpp)
  Type dtype(StringRef name);
  FailureOr<Ty> elaborateType(SyntaxAttr syntax, Scope &scope, StringRef paramName = {});
  DimAttr elaborateDim(SyntaxAttr syntax, Scope &scope);
  PredAttr elaboratePred(SyntaxAttr syntax, Scope &scope);
  /// The user wrote `a op b`, or `op(a, b)`, for the dimension or predicate.
  void note(mlir::Attribute made, DimAttr a, StringRef op, DimAttr b);
  FailureOr<CheckpointAttr> elaborateCheckpoint(SyntaxAttr decorator);
  /// Collects names of shape variables in order of appearance.
  void collectShapeVars(SyntaxAttr syntax, Scope &scope, llvm::MapVector<StringRef, int64_t> &names);

  // --- Instances (Instances.cpp)
  /// What the name says of an element type, where it stands; null if it is no variable for one.
  Type elementVariable(StringRef name, const Scope &scope);
  void bindElements(Scope &scope, const FunctionItem &item);
  /// The instance of a generic function for these arguments, of which those that name a
  /// variable for an element type are taken away.
  FailureOr<std::shared_ptr<Callable>> instantiate(const Callable &generic, std::vector<Val> &args,
                                                   SmallVector<std::string> &keywords, Location loc);
  /// The instance for these element types.
  FunctionItem &getInstance(FunctionItem &item, ArrayRef<Type> types, Location loc);
  /// Elaborates a generic function that nothing calls, for its errors.
  void reportUnsolved(FunctionItem &item, StringRef name);
  void checkUnusedGeneric(FunctionItem &item);
  /// In `check`: `(N = M)`, which else is a tuple with one named member, is an equation.
  bool readsEquations = false;
  /// From here on, what is instantiated is not called by the program.
  bool checksUnused = false;
  /// `f<A>(..)` gives the first variable that `f` declares: appends it as a keyword.
  LogicalResult addTypeArgument(SyntaxAttr syntax, FunctionItem &item, const ScopePtr &scope, std::vector<Val> &args,
                                SmallVector<std::string> &keywords);

  // --- Places (Places.cpp)
  FailureOr<PlacementAttr> elaboratePlace(SyntaxAttr syntax, Scope &scope);
  /// Puts parameters whose types name no place where the function takes them.
  void placeSignature(FunctionItem &item, llvm::MutableArrayRef<Ty> params);
  void placeResult(FunctionItem &item, Ty &result);
  /// The declared type, at the place of `like` if it names none.
  Type placedLike(const Ty &type, Type like);
  /// Whether these are one place. One that the function's signature leaves open becomes the
  /// other one; then the answer is no, nothing more of the function is looked at, and it is
  /// elaborated once more.
  bool isSamePlace(PlacementAttr a, PlacementAttr b);
  /// Whether it is a scalar on the host, which is where conditions and sizes are.
  bool isHostScalar(const Val &val);
  /// The value, a scalar on a device being copied to the host, if copies may be inserted, or
  /// reported; `what` names it. What is no scalar anywhere is left to the caller.
  Val toHost(Val val, Location loc, DiagCode code, const llvm::Twine &what);
  /// The value as the source has it; empty if that is not known or long.
  std::string sourceOf(Value value);
  /// Where the value stands in the source; `otherwise` if that is not known.
  Location locationOf(const Val &val, Location otherwise);
  /// Whether what is made here cannot take the value over: it is lent, or comes from outside
  /// of what runs again.
  bool outlives(Value value);
  /// Says how the value comes to the place.
  void attachCopy(InFlightDiagnostic &diag, Value value, PlacementAttr to);
  /// The copy, if copies may be inserted and one brings the value there; otherwise null.
  Value insertCopy(Value value, PlacementAttr to, Location loc);
  /// The value at the place: itself, a scalar of the host there, or a copy that may be
  /// inserted. Reports otherwise; `what` names it.
  FailureOr<Value> moveTo(Location loc, Value value, PlacementAttr place, const llvm::Twine &what);
  /// Tensors that meet live at one place, to which copies may bring them; a scalar on the
  /// host may meet any.
  LogicalResult requireOnePlace(llvm::MutableArrayRef<Value> values, Location loc);

  // --- Facts (Facts.cpp)
  enum class Truth { Proved, Refuted, Open };
  Truth settle(PredAttr pred);
  bool sameDim(DimAttr a, DimAttr b) { return a == b || settle(makeRelation(PredKind::EQ, a, b)) == Truth::Proved; }
  /// Requires the predicate here: proved is silent, refuted an error, open an obligation.
  LogicalResult oblige(Location loc, PredAttr pred, ObligationKind kind, const llvm::Twine &text);
  /// What is added to messages about obligations that are made while the scope lives.
  class NoteScope {
  public:
    explicit NoteScope(Elaborator &elaborator)
        : context(elaborator.context), notes(elaborator.notes), count(notes.size()) {}
    ~NoteScope() { notes.truncate(count); }
    /// Without a location it stands where the obligation does; empty text adds nothing.
    void add(const llvm::Twine &text, std::optional<Location> loc = std::nullopt);

  private:
    mlir::MLIRContext *context;
    SmallVectorImpl<NoteAttr> &notes;
    size_t count;
  };
  /// The operands of what is checked while the scope lives: messages about their shapes show
  /// the types of tensors where they stand.
  class OperandScope {
  public:
    OperandScope(Elaborator &elaborator, ArrayRef<Value> values)
        : elaborator(elaborator), outer(std::exchange(elaborator.operands, SmallVector<Value>(values))) {}
    ~OperandScope() { elaborator.operands = std::move(outer); }

  private:
    Elaborator &elaborator;
    SmallVector<Value> outer;
  };
  /// What is to be said beside an obligation at `loc`: the operands' types, then the notes.
  SmallVector<NoteAttr> collectNotes(Location loc);
  /// The least value of a name.
  std::optional<int64_t> leastOf(StringRef name) const;
  /// Requires that every divisor in the dimension is at least 1.
  LogicalResult obligeDivisors(DimAttr dim, Location loc);
  /// Requires that the dimension can be the size of a new tensor: it is not negative, its
  /// divisors are not zero.
  LogicalResult obligeSize(DimAttr dim, Location loc);
  /// Adds the predicate, taken apart, to what is known here.
  void addFact(PredAttr pred);
  /// Converts the value to the type: unifies element types, compares shapes. `what` names
  /// the value in messages.
  FailureOr<Value> coerce(Location loc, Value value, Type type, const llvm::Twine &what,
                          DiagCode shapeCode = DiagCode::K0301);

  // --- Items and functions (Items.cpp)
  LogicalResult elaborateSignature(FunctionItem &item);
  LogicalResult elaborateItem(FunctionItem &item);
  LogicalResult elaborateBody(FunctionItem &item);
  /// Requires what divides in the sizes of the signature to be at least 1, where they stand.
  void obligeSignature(FunctionItem &item, Scope &scope);
  Val lookup(StringRef name, Location loc, const ScopePtr &scope, bool silent = false);
  /// Makes a value of another function usable in the current one.
  Val translate(const Val &val, FunctionContext *from);
  std::shared_ptr<Callable> translate(const std::shared_ptr<Callable> &callable, FunctionContext *from);
  Value capture(Value value, FunctionContext *from, FunctionContext *to);
  /// The value of a valueless module-level let, as a parameter of the current function.
  Val getGlobalParameter(mlir::StringAttr name, Location loc);
  /// The value of a module-level let in the current function.
  Val getGlobalValue(StringRef name, GlobalItem &item, Location loc);
  /// Evaluates the module-level lets that no function uses, for their errors.
  void checkUnusedGlobals();
  /// Reports names that nothing can bind, and what is not built, in a function that would be
  /// elaborated where it is called, but is not called.
  void checkUncalled(Operation *item);
  /// Checks that a rule takes what its function takes and gives what it must.
  void checkCustomVjp(FunctionItem &rule, FunctionItem &primal);
  /// Reports a value of which only the body of `owner` could say how large it is.
  LogicalResult requireKnownSizes(const Val &val, llvm::function_ref<bool(StringRef)> isLocal, Location loc,
                                  const llvm::Twine &owner);
  /// Turns the callable into a function over arguments of these types. Module-level lets
  /// in `globals` become arguments behind them; `sizes` are shape variables by keyword.
  struct Lifted {
    FuncOp function;
    SmallVector<Value> operands; ///< captures and sizes, after the arguments
    DictionaryAttr subst;
    Val result;                  ///< structure only; the values belong to the function
  };
  FailureOr<Lifted> lift(const std::shared_ptr<Callable> &callable, ArrayRef<Val> args,
                         ArrayRef<std::string> keywords, Location loc, ArrayRef<std::pair<std::string, DimAttr>> sizes,
                         ArrayRef<std::pair<std::string, Val>> globals);
  void finalize(ArrayRef<FuncOp> functions);

  // --- Expressions (Expressions.cpp)
  Val evaluate(Value expr, const ScopePtr &scope);
  Val evaluateOperation(Value expr, const ScopePtr &scope);
  /// The value of a loop bound to one name.
  Val decay(Val val);
  /// A block's statements and value. Without a value that is what is bound to the names in
  /// `states`, if one of them is bound in the block.
  Val evaluateBlock(Region &region, const ScopePtr &scope, bool wantsTuple = false, ArrayRef<StringRef> states = {});
  /// A tensor or scalar; lists of scalars become tensors. Reports otherwise.
  FailureOr<Value> asValue(Val &val, Location loc, const llvm::Twine &what);
  Val listToTensor(const Val &list, Location loc);
  LogicalResult bindPattern(SyntaxAttr pattern, Val val, Scope &scope);
  /// Reports a name that the pattern binds twice.
  LogicalResult checkPattern(SyntaxAttr pattern);
  /// Gives the tensors in the value a name, members of a tuple one with theirs or their position.
  /// Without `alias` what has a name keeps it.
  void nameTensors(const Val &val, const llvm::Twine &name, bool alias);
  /// Says of the tensors in the value that nobody owns them.
  void lend(const Val &val);
  LogicalResult checkDeclared(Val &val, const Ty &type, Location loc, const llvm::Twine &what);
  Val binary(surface::BinaryKind kind, Val a, Val b, Location loc);
  /// Arithmetic on the members of tuples; what is no tuple meets each of them, and a member
  /// that has no derivative stays as it is.
  Val memberwise(surface::BinaryKind kind, const Val &a, const Val &b, Location loc);
  Val unary(surface::UnaryKind kind, Val a, Location loc);
  Val shortCircuit(surface::BinaryOp op, const ScopePtr &scope);
  Val index(const Val &base, ArrayRef<Val> subscripts, Location loc, ArrayRef<Location> locs);
  Val literalInt(int64_t value, Location loc);
  Val literalFloat(double value, Location loc);
  Val literalBool(bool value, Location loc);
  Val dimValue(DimAttr dim, Location loc);
  /// The size that an integer scalar or list element stands for.
  DimAttr asDim(const Val &val, Location loc);
  /// The same where a tensor is made of it.
  DimAttr asSize(const Val &val, Location loc);
  FailureOr<SmallVector<DimAttr>> asShape(const Val &val, Location loc);
  /// Whether the scalar's value is its `sym`, over sizes alone, whatever type it gets: what is made of such
  /// values is computed in 64 bits, and tested to fit into its type.
  bool isExactSize(const Val &val);
  /// Whether every divisor in it is at least 1; a quotient whose divisor may be zero is computed by the
  /// division, which tests it.
  bool dividesSafely(DimAttr dim);
  /// An `index` with the scalar's value.
  Value asIndex(const Val &val, Location loc);
  /// Broadcasts all to one shape and unifies their element types.
  LogicalResult broadcastTogether(llvm::MutableArrayRef<Value> values, Location loc, bool sameElement = true);
  FailureOr<SmallVector<DimAttr>> broadcastShapes(ArrayRef<ArrayRef<DimAttr>> shapes, Location loc);
  /// A scalar on the host is repeated at `place`, by default the host.
  Value broadcastTo(Value value, ArrayRef<DimAttr> shape, Location loc, PlacementAttr place = {});

  // --- What would mend it (Helps.cpp)
  /// Which of two operands is to be converted, and to what.
  void attachCast(InFlightDiagnostic &diag, Value a, Value b);
  /// How a float literal is written that stands for an integer.
  bool attachInteger(InFlightDiagnostic &diag, Value value);
  /// How to make a condition of a number.
  void attachComparison(InFlightDiagnostic &diag, Value value);
  /// How to bring a value to a shape of another rank, if that is possible.
  bool attachReshape(InFlightDiagnostic &diag, Value value, ArrayRef<DimAttr> shape);
  /// What to write for a value that is no subscript.
  void attachSubscript(InFlightDiagnostic &diag, Value base, Value sub);
  /// How to make the ranks of two operands agree where the shorter shape begins the other one;
  /// empty otherwise.
  std::string suggestTrailingAxes(Value a, Value b);
  /// Which operand of a product to transpose; empty if that would not help.
  std::string suggestTranspose(Value a, Value b);
  /// How a block gets a value that has none.
  void attachValueOfBlock(InFlightDiagnostic &diag, Region &region);

  /// Subscripts as a box of the operand.
  struct Box {
    SmallVector<Value> offsets;
    SmallVector<mlir::Attribute> sizes;
    SmallVector<int64_t> dropped;
    bool inBounds = true;
  };
  /// `locs` are the subscripts' places, if they are known.
  FailureOr<Box> subscriptsToBox(Value operand, ArrayRef<Val> subscripts, Location loc, ArrayRef<Location> locs = {});
  /// The number as a scalar of the element type, which may be open.
  Value constant(Type element, double number, Location loc);
  bool restrictElement(Value value, unsigned mask, Location loc, const llvm::Twine &what);
  bool unifyElements(Value a, Value b, Location loc);
  DimAttr freshAtom();

  // --- Control flow (ControlFlow.cpp)
  Val evaluateIf(surface::IfOp op, const ScopePtr &scope);
  Val evaluateWhile(surface::WhileOp op, const ScopePtr &scope, CheckpointAttr checkpoint);
  Val evaluateFor(surface::ForOp op, const ScopePtr &scope, CheckpointAttr checkpoint);
  FailureOr<CheckpointAttr> loopCheckpoint(mlir::ArrayAttr decorators, Value expr);
  void flatten(const Val &val, SmallVectorImpl<Value> &leaves);
  /// The same structure over other values.
  Val rebuild(const Val &pattern, ValueRange &values);
  /// The structure of a function's result or parameter over values.
  Val fill(const Ty &type, ValueRange &values);

  /// Converts the value's leaves to the types of `goal`'s, which has the same structure.
  LogicalResult coerceLeaves(const Val &val, const Val &goal, Location loc, const llvm::Twine &what, DiagCode code,
                             SmallVectorImpl<Value> &leaves);

  // --- Effects (Effects.cpp)
  void declareEffect(surface::EffectOp op);
  /// The operation of this name; reports if there is none.
  EffectOperation *findEffectOperation(StringRef name, Location loc);
  Val evaluatePerform(surface::PerformOp op, const ScopePtr &scope);
  Val evaluateHandle(surface::HandleOp op, const ScopePtr &scope);
  Val resume(const Val &continuation, ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc);
  Val makeRef(Val init, Location loc);
  Val deref(const Val &ref, Location loc);
  LogicalResult assign(surface::AssignOp op, const ScopePtr &scope);
  /// The handle of `RecordVJP`, whose case puts the pullback on a list and resumes.
  Val evaluateReverseHandle(surface::HandleOp op, Region &body, SyntaxAttr returnCase, Region *returnRegion,
                            SyntaxAttr recordCase, Region &recordRegion, const ScopePtr &scope);
  Val cons(const Val &head, const Val &tail, Location loc);
  Val foldLeft(surface::FoldLeftOp op, const ScopePtr &scope);
  /// A pullback, called.
  Val pull(const Val &pullback, ArrayRef<Val> args, Location loc);
  /// Reports what the region may not contain, because it is evaluated at any time or never.
  LogicalResult requireNoEffects(Region &region, const llvm::Twine &where);
  /// Finds the effects of a finished function and compares them with its effect row.
  LogicalResult recordEffects(FunctionItem &item);
  /// The code of the error that a value cannot leave where it is.
  static DiagCode escapeCode(const Val &val) { return val.hasContinuation() ? DiagCode::K0605 : DiagCode::K0206; }

  // --- Calls (Calls.cpp)
  Val evaluateCall(surface::CallOp op, const ScopePtr &scope);
  Val call(const std::shared_ptr<Callable> &callable, std::vector<Val> args, SmallVector<std::string> keywords,
           Location loc);
  /// Reports what a function was lent and gives back as its value.
  Val requireOwned(Val result, ArrayRef<Value> lent, Location loc);
  Val callItem(FunctionItem &item, ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc);
  Val inlineCallable(const std::shared_ptr<Callable> &callable, ArrayRef<Val> args, ArrayRef<std::string> keywords,
                     Location loc);
  Val callOperation(StringRef name, ArrayRef<Val> args, ArrayRef<std::string> keywords, Type typeArgument,
                    Location loc);
  // --- Derivatives (Derivatives.cpp)
  Val differentiate(Callable::Derivative kind, StringRef name, ArrayRef<Val> args, ArrayRef<std::string> keywords,
                    ArrayRef<SmallVector<std::string>> wrt, Location loc);
  Val applyDerivative(const Callable &derivative, ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc);
  /// The Jacobian of what `emit` gives, as many values as there are types in `inner`, in
  /// what it takes: for each type in `outer`, for each in `inner`, a value of the shape
  /// outer ++ inner. Empty after an error.
  SmallVector<SmallVector<Value>> emitJacobian(ArrayRef<Type> outer, ArrayRef<Type> inner, Location loc,
                                               llvm::function_ref<SmallVector<Value>(ValueRange)> emit);
  FailureOr<SmallVector<std::string>> parameterNames(const Callable &callable, Location loc);
  /// What its parameters are declared by; null if they have names only.
  mlir::ArrayAttr parameterSyntax(const Callable &callable);
  /// Whether a literal can be a parameter's default value.
  static bool isDefault(SyntaxAttr literal);
  /// Arguments in the order of the parameters, default values of `declared` where there are
  /// none; reports what is missing or unknown.
  FailureOr<std::vector<Val>> orderArguments(StringRef callee, ArrayRef<std::string> params, mlir::ArrayAttr declared,
                                             ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc,
                                             SmallVector<std::pair<std::string, Val>, 2> *extra = nullptr);
  /// A declared type over a function's shape variables, and the argument that meets it.
  struct Leaf {
    Type declared;
    Val *arg;
    std::string what;
    std::optional<Location> declaredAt;
  };
  /// What the item's variables for places are, in `subst`; the arguments are brought there.
  LogicalResult solvePlaces(FunctionItem &item, llvm::MutableArrayRef<Leaf> leaves, Location loc,
                            const llvm::StringMap<PlacementAttr> &given, SmallVectorImpl<mlir::NamedAttribute> &subst);
  LogicalResult pairArguments(const Ty &type, Val &val, const std::string &what, SmallVectorImpl<Leaf> &leaves,
                              llvm::StringMap<DimAttr> &solution, Location loc);
  /// Pairs arguments with parameters and solves the item's shape variables; `globals` are
  /// module-level lets that it takes as well.
  FailureOr<DictionaryAttr> matchArguments(FunctionItem &item, ArrayRef<Ty> types, llvm::MutableArrayRef<Val> args,
                                           ArrayRef<std::pair<std::string, Val>> extra, SmallVectorImpl<Leaf> &leaves,
                                           Location loc, llvm::MutableArrayRef<Leaf> globals = {});
  /// The type under the substitution; reports a size that overflows or gets negative.
  Type substituted(Type type, DictionaryAttr subst, Location loc, const llvm::Twine &what);
  /// The parameters of the callable if their number is known.
  std::optional<size_t> arity(const Callable &callable);
  /// Everything that is passed to an item's function.
  struct Prepared {
    SmallVector<Value> operands;
    SmallVector<Type> results;
    DictionaryAttr subst;
  };
  /// Requires the least values of the item's shape variables, and its clauses, under the
  /// substitution.
  LogicalResult obligeClauses(FunctionItem &item, DictionaryAttr subst, Location loc);
  /// Elaborates the item; one whose body fails may still be called by its declared types, by what then fails with it.
  LogicalResult requireSignature(FunctionItem &item);
  FailureOr<Prepared> prepareCall(FunctionItem &item, ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc);

  Options options;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  OpBuilder builder;
  ElementTypes elementTypes;
  /// Never asked for more than its quick stages.
  solver::Solver solver;
  SmallVector<NoteAttr> notes;
  SmallVector<Value> operands;
  FunctionContext *current = nullptr;
  /// The function whose signature is looked at.
  FunctionItem *declaring = nullptr;
  /// Of what is elaborated at this moment: a function's, or those of the module-level rest.
  Spellings moduleSpellings, *spellings = &moduleSpellings;
  /// Whether it is the body of a function that is called from there.
  bool isInCallee = false;
  ScopePtr moduleScope;
  std::map<std::string, std::unique_ptr<FunctionItem>, std::less<>> functions;
  std::map<std::string, GlobalItem, std::less<>> globalItems;
  std::map<std::string, mlir::Operation *, std::less<>> otherItems;
  std::map<std::string, std::unique_ptr<EffectOperation>, std::less<>> effectOperations;
  SmallVector<EffectOp> effects;
  /// What the shape variables of its operation are at a perform.
  llvm::DenseMap<Operation *, DictionaryAttr> performed;
  /// The handle of RecordVJP whose case is looked at, which alone may assign lists.
  ReverseHandle *recording = nullptr;
  unsigned nextTag = 0;
  SmallVector<FunctionItem *> order;
  /// Whether the module names a device; otherwise nothing is generic in its place.
  bool hasDevices = false;
  /// The function is to be elaborated once more; what is reported until then does not count.
  bool inferringPlace = false;
  /// The expression that gave a value last, for messages.
  llvm::DenseMap<Value, Value> expressions;
  /// Erases what is not needed, and forgets its values: what is made later may have their addresses.
  void discard(Operation *op);
  unsigned errors = 0, nextAtom = 0;
  /// Names of items that could not be read; the empty one is any.
  std::set<std::string, std::less<>> broken;
  /// The unknown names of a function that were reported.
  std::set<std::pair<std::string, std::string>> unknown;
  /// How deeply expressions and calls nest at this moment.
  unsigned depth = 0;
  /// Calls that were elaborated in place in the current item, and those in progress.
  unsigned inlined = 0;
  SmallVector<Inlining> inlining;
  /// The call that is elaborated in place at this moment, in the one around it, and so on; and how many there are.
  std::optional<Location> callSite;
  unsigned callDepth = 0;
  /// Says of what consumes tensors through which calls it was elaborated in place.
  struct CallSites : OpBuilder::Listener {
    explicit CallSites(Elaborator &elaborator) : elaborator(elaborator) {}
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override;
    Elaborator &elaborator;
  } callSites{*this};
  /// After endless recursion was reported nothing more of the item is looked at.
  bool exhausted = false;
};

bool sameStructure(const Val &a, const Val &b);

/// The types of the leaves, in order.
void collectTypes(const Ty &type, SmallVectorImpl<Type> &types);

/// Sizes and places by name, as a function's body sees them.
void bindVariables(Scope &scope, DictionaryAttr subst);

/// Whether something in the module is placed on a device.
bool namesDevice(Operation *module);
/// Collects the variables for places, in order of appearance.
void collectPlaceVars(SyntaxAttr syntax, llvm::SetVector<StringRef> &names);

/// Whether the dimension depends on a value that is known only at run time.
bool isRuntime(DimAttr dim);

/// Arguments of an operation's call, as rules read them.
class OperationCall {
public:
  OperationCall(Elaborator &elaborator, StringRef name, ArrayRef<Val> args, ArrayRef<std::string> keywords,
                Type typeArgument, Location loc)
      : e(elaborator), name(name), args(args), keywords(keywords), typeArgument(typeArgument), loc(loc),
        used(args.size()) {}

  Elaborator &e;
  StringRef name;
  ArrayRef<Val> args;
  ArrayRef<std::string> keywords;
  Type typeArgument;
  Location loc;
  bool failed = false;

  /// The next positional argument, or the one of this keyword; null if there is none.
  const Val *find(StringRef keyword, bool positional = true);
  /// A tensor or scalar argument, required.
  Value value(StringRef keyword);
  /// A tensor or scalar argument, if given.
  Value optionalValue(StringRef keyword);
  /// An integer known while compiling, only by keyword unless `positional`.
  std::optional<int64_t> integer(StringRef keyword, bool positional = false);
  std::optional<int64_t> axis(Type operand, StringRef keyword = "axis", bool positional = true);
  /// `axis=` or `axes=`, sorted; all axes if neither is given.
  std::optional<SmallVector<int64_t>> axes(Type operand);
  bool boolean(StringRef keyword, bool fallback);
  /// A list of sizes; `what` names it where it is missing.
  std::optional<SmallVector<DimAttr>> shape(StringRef keyword, const llvm::Twine &what = "a shape");
  /// A number known while compiling, by keyword.
  double number(StringRef keyword, double fallback);
  std::optional<SmallVector<int64_t>> integers(StringRef keyword);
  /// Reports arguments that no rule asked for; false if there were any.
  bool finish();
  bool requireFloat(Value value);
  bool requireNumber(Value value);
  InFlightDiagnostic error(DiagCode code);

private:
  SmallVector<bool> used;
};

/// Rules that have a file of their own.
Val einsum(OperationCall &call);

/// The elements under another shape, whose count is equal by normal form.
Value reshape(Elaborator &e, Value x, ArrayRef<DimAttr> shape, Location loc);

/// The derivative of this name.
std::optional<Callable::Derivative> getDerivative(StringRef name);
/// The rule of an operation, or null.
OperationRule findOperation(StringRef name);
/// Whether operations.md has it, built in this version or not.
bool isKnownLater(StringRef name);
/// All names with a rule, sorted.
ArrayRef<StringRef> operationNames();
/// How something is written here that other languages give this name, or nothing.
StringRef foreignNameHelp(StringRef name);
/// The closest of the candidates by edit distance, if one is close.
std::optional<std::string> nearest(StringRef name, ArrayRef<std::string> candidates);

} // namespace kina::elaborate

#endif
