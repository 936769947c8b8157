//===- CorePrinter.cpp - Surface operations in core form ------------------===//
//
// First a tree of forms, then its layout: a form that fits on its line stands there, else
// its parts stand below each other.
//
//===----------------------------------------------------------------------===//

#include "Printers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kina::surface;
using namespace mlir;
using llvm::StringRef;

namespace {

/// A leaf, or a list of forms.
struct Form {
  Form(StringRef text) : text(text.str()), width(text.size()) {}
  Form(const char *text) : Form(StringRef(text)) {}
  Form(const std::string &text) : Form(StringRef(text)) {}
  Form(std::initializer_list<Form> parts) : list(true), width(2) {
    for (const Form &part : parts)
      add(part);
  }
  static Form emptyList() { return Form(std::initializer_list<Form>()); }

  Form &add(Form part) {
    width += part.width + !parts.empty();
    parts.push_back(std::move(part));
    return *this;
  }

  std::string text;
  bool list = false;
  std::vector<Form> parts;
  /// Of the form on one line.
  size_t width;
};

class Layout {
public:
  explicit Layout(llvm::raw_ostream &os) : os(os) {}

  void print(const Form &form, unsigned column) {
    if (!form.list) {
      os << form.text;
      return;
    }
    os << '(';
    if (column + form.width <= kWidth) {
      llvm::interleave(form.parts, os, [&](const Form &part) { print(part, 0); }, " ");
    } else {
      // The head's line takes the leaves that follow the head; a keyword stands before its
      // value.
      bool headed = !form.parts.front().list;
      unsigned inner = std::min(column + (headed ? 2 : 1), 60u);
      bool onHead = true;
      for (size_t i = 0; i < form.parts.size(); ++i) {
        const Form &part = form.parts[i];
        bool keyed = i > 0 && StringRef(form.parts[i - 1].text).starts_with(":");
        onHead &= !part.list;
        if (i > 0 && !onHead && !keyed)
          os << '\n' << std::string(inner, ' ');
        else if (i > 0)
          os << ' ';
        print(part, keyed ? inner + form.parts[i - 1].width + 1 : inner);
      }
    }
    os << ')';
  }

private:
  static constexpr unsigned kWidth = 100;
  llvm::raw_ostream &os;
};

class CorePrinter {
public:
  explicit CorePrinter(ModuleOp module) {
    // What the module itself names is called; every other name is an operation's.
    module.walk([&](Operation *op) {
      for (NamedAttribute attr : op->getAttrs()) {
        if (auto node = dyn_cast<SyntaxAttr>(attr.getValue()))
          collect(node);
        else if (auto array = dyn_cast<ArrayAttr>(attr.getValue()))
          for (Attribute element : array)
            if (auto node = dyn_cast<SyntaxAttr>(element))
              collect(node);
      }
    });
  }

  Form item(Operation &op) {
    Form form = llvm::TypeSwitch<Operation *, Form>(&op)
                    .Case([&](FnOp fn) { return fnForm(fn); })
                    .Case([&](GlobalOp global) {
                      Form form{"define", global.getName().getText()};
                      YieldOp yield = yieldOf(global.getInit());
                      form.add(global.getType() ? type(*global.getType()) : Form("_"));
                      if (yield)
                        form.add(value(yield.getValue()));
                      return form;
                    })
                    .Case([&](EffectOp effect) {
                      Form form{"effect", effect.getName().getText()};
                      for (SyntaxAttr node : syntaxRange(effect.getOperations()))
                        form.add({node.getText(), type(node.getChild(0)), type(node.getChild(1))});
                      return form;
                    })
                    .Case([&](ImportOp import) {
                      return Form{"import", quoted(import.getPath())};
                    })
                    .Case([&](TypeAliasOp alias) {
                      Form form{"type", alias.getName().getText()};
                      if (alias.getShapeVars())
                        form.add(shapeVars(*alias.getShapeVars()));
                      return form.add(type(alias.getType()));
                    })
                    .Default([](Operation *) { return Form::emptyList(); });
    std::optional<ArrayAttr> decorators;
    if (auto fn = dyn_cast<FnOp>(op))
      decorators = fn.getDecorators();
    else if (auto global = dyn_cast<GlobalOp>(op))
      decorators = global.getDecorators();
    return decorated(decorators, std::move(form));
  }

private:
  void collect(SyntaxAttr node) {
    switch (node.getKind()) {
    case SyntaxKind::Name:
    case SyntaxKind::Param:
    case SyntaxKind::PatternName:
    case SyntaxKind::State:
    case SyntaxKind::ReturnCase:
      bound.insert(node.getText());
      return;
    case SyntaxKind::PatternTuple:
    case SyntaxKind::EffectCase:
      for (SyntaxAttr child : node.getChildren())
        collect(child);
      return;
    default:
      return;
    }
  }

  //===--- Static syntax -------------------------------------------------------===//

  static std::string quoted(StringRef text) { return ("\"" + text + "\"").str(); }

  static Form bracketed(SyntaxAttr node) { return "[" + spell(node) + "]"; }

  static Form type(SyntaxAttr node) {
    bool word = node.is(SyntaxKind::DType) ||
                (node.is(SyntaxKind::TypeName) && node.getChildren().empty() &&
                 node.getText() != "_");
    return word ? Form(node.getText()) : bracketed(node);
  }

  static Form pattern(SyntaxAttr node) {
    if (!node.is(SyntaxKind::PatternTuple))
      return spell(node);
    Form form = Form::emptyList();
    for (SyntaxAttr child : node.getChildren())
      form.add(pattern(child));
    return form;
  }

  static Form param(SyntaxAttr node) {
    if (node.getChildren().empty())
      return node.getText();
    Form form{node.getText(), type(node.getChild(0))};
    if (node.getChildren().size() == 2)
      form.add(spell(node.getChild(1)));
    return form;
  }

  static Form shapeVars(ArrayAttr nodes) {
    Form form{"forall"};
    for (SyntaxAttr node : syntaxRange(nodes))
      form.add(node.getChildren().empty()
                   ? Form(node.getText())
                   : Form{node.getText(), node.getChild(0).getText()});
    return form;
  }

  static Form decorated(std::optional<ArrayAttr> nodes, Form form) {
    if (!nodes || nodes->empty())
      return form;
    Form attr{"attr"};
    for (SyntaxAttr node : syntaxRange(*nodes)) {
      Form decorator{node.getText()};
      for (SyntaxAttr arg : node.getChildren()) {
        if (arg.is(SyntaxKind::Keyword)) {
          decorator.add((":" + arg.getText()).str());
          arg = arg.getChild(0);
        }
        decorator.add(spell(arg));
      }
      attr.add(std::move(decorator));
    }
    return attr.add(std::move(form));
  }

  //===--- Items and statements ------------------------------------------------===//

  Form fnForm(FnOp fn) {
    Form form{"fn", fn.getName().getText()};
    if (fn.getShapeVars())
      form.add(shapeVars(*fn.getShapeVars()));
    if (fn.getRequiresClauses()) {
      Form requires_{"requires"};
      for (SyntaxAttr node : syntaxRange(*fn.getRequiresClauses()))
        requires_.add(bracketed(node));
      form.add(std::move(requires_));
    }
    Form params{"params"};
    for (SyntaxAttr node : syntaxRange(fn.getParams()))
      params.add(param(node));
    form.add(std::move(params));
    if (fn.getReturnType())
      form.add({"ret", type(*fn.getReturnType())});
    if (fn.getEffects()) {
      Form effects{"effects"};
      for (SyntaxAttr node : syntaxRange(*fn.getEffects()))
        effects.add(node.getText());
      form.add(std::move(effects));
    }
    return form.add(body(fn.getBody()));
  }

  /// What stands between the braces of the native form. A block inside of it is marked,
  /// because the statements of a `let` in its place would be the body's own.
  Form body(Region &region) {
    if (region.empty() || region.front().empty())
      return {"let", Form::emptyList()};
    Form statements = Form::emptyList();
    for (Operation &op : region.front().without_terminator())
      if (op.getNumResults() == 0)
        statements.add(statement(&op));
    YieldOp yield = yieldOf(region);
    if (!yield || !yield.getValue())
      return {"let", std::move(statements)};
    auto block = yield.getValue().getDefiningOp<BlockOp>();
    Form last = block ? Form{"block", body(block.getBody())} : value(yield.getValue());
    last = decorated(yield.getDecorators(), std::move(last));
    if (statements.parts.empty())
      return last;
    return {"let", std::move(statements), std::move(last)};
  }

  Form blockForm(BlockOp block) {
    Form inner = body(block.getBody());
    bool isLet = inner.list && !inner.parts.front().list && inner.parts.front().text == "let";
    return isLet ? inner : Form{"block", std::move(inner)};
  }

  static Form annotated(Form form, std::optional<SyntaxAttr> syntax) {
    return syntax ? Form{"annot", std::move(form), type(*syntax)} : form;
  }

  Form statement(Operation *op) {
    return llvm::TypeSwitch<Operation *, Form>(op)
        .Case([&](LetOp let) {
          return decorated(let.getDecorators(), {pattern(let.getPattern()),
                                                 annotated(value(let.getValue()), let.getType())});
        })
        .Case([&](LetDimOp let) {
          return Form{"bind-dim", let.getName().getText(), value(let.getValue())};
        })
        .Case([&](AssumeOp assume) { return Form{"assume", bracketed(assume.getPred())}; })
        .Case([&](CheckOp check) {
          Form form{"check", value(check.getCond())};
          if (check.getMessage())
            form.add(quoted(*check.getMessage()));
          return form;
        })
        .Case([&](DoOp stmt) {
          return decorated(stmt.getDecorators(), {"do!", value(stmt.getValue())});
        })
        .Case([&](AssignOp assign) {
          return Form{"set!", assign.getName().getText(), value(assign.getValue())};
        })
        .Default([](Operation *) { return Form::emptyList(); });
  }

  //===--- Expressions ---------------------------------------------------------===//

  Form &addArguments(Form &form, OperandRange args, std::optional<ArrayAttr> keywords) {
    for (auto [arg, keyword] : llvm::zip(args, keywordsOf(keywords, args.size()))) {
      if (!keyword.empty())
        form.add((":" + keyword).str());
      form.add(value(arg));
    }
    return form;
  }

  Form &addValues(Form &form, OperandRange operands) {
    for (Value operand : operands)
      form.add(value(operand));
    return form;
  }

  Form states(ArrayAttr nodes, OperandRange inits) {
    Form form = Form::emptyList();
    for (auto [node, init] : llvm::zip(syntaxRange(nodes), inits))
      form.add({node.getText(),
                annotated(value(init), node.getChildren().empty()
                                           ? std::optional<SyntaxAttr>()
                                           : node.getChild(0))});
    return form;
  }

  Form value(Value operand) {
    if (!operand)
      return Form::emptyList();
    return llvm::TypeSwitch<Operation *, Form>(operand.getDefiningOp())
        .Case([&](LiteralOp literal) {
          return literal.getKind() == LiteralKind::String ? Form(quoted(literal.getString()))
                                                          : Form(literal.getSpelling());
        })
        .Case([&](NameOp name) { return Form(name.getName()); })
        .Case([&](DTypeOp dtype) { return Form(dtype.getDtype()); })
        .Case([&](UnitOp) { return Form{"tuple"}; })
        .Case([&](PlaceOp place) { return bracketed(place.getPlace()); })
        .Case([&](TypeExprOp type) { return bracketed(type.getType()); })
        .Case([&](TupleOp tuple) {
          Form form{"tuple"};
          return addArguments(form, tuple.getMembers(), tuple.getNames());
        })
        .Case([&](ListOp list) {
          if (list.getElements().empty())
            return Form{"nil"};
          Form form{"list"};
          return addValues(form, list.getElements());
        })
        .Case([&](SliceOp slice) {
          return Form{"slice", value(slice.getLo()), value(slice.getHi())};
        })
        .Case([&](UnaryOp unary) { return unaryForm(unary); })
        .Case([&](BinaryOp binary) {
          if (binary.getKind() == BinaryKind::Cons)
            return Form{"cons", value(binary.getLhs()), value(binary.getRhs())};
          return Form{"binop", stringifyBinaryKind(binary.getKind()), value(binary.getLhs()),
                      value(binary.getRhs())};
        })
        .Case([&](CallOp call) { return callForm(call); })
        .Case([&](FieldOp field) {
          return Form{"field", value(field.getBase()), field.getMember()};
        })
        .Case([&](IndexOp index) {
          Form form{"index", value(index.getBase())};
          return addValues(form, index.getSubscripts());
        })
        .Case([&](PerformOp perform) {
          Form form{"perform", perform.getOpName()};
          return addArguments(form, perform.getArgs(), perform.getKeywords());
        })
        .Case([&](FoldLeftOp fold) {
          return Form{"fold-left", value(fold.getFunction()), value(fold.getStart()),
                      value(fold.getList())};
        })
        .Case([&](IfOp op) {
          Form form{"if", value(op.getCond()), body(op.getThenRegion())};
          if (!op.getElseRegion().empty())
            form.add(body(op.getElseRegion()));
          return form;
        })
        .Case([&](WhileOp loop) {
          return Form{"while", states(loop.getStates(), loop.getInits()),
                      regionValue(loop.getCond()), body(loop.getBody())};
        })
        .Case([&](ForOp loop) {
          return Form{"for",
                      loop.getVar().getText(),
                      value(loop.getLo()),
                      value(loop.getHi()),
                      states(loop.getStates(), loop.getInits()),
                      body(loop.getBody())};
        })
        .Case([&](HandleOp handle) { return handleForm(handle); })
        .Case([&](LambdaOp lambda) {
          Form params = Form::emptyList();
          for (SyntaxAttr node : syntaxRange(lambda.getParams()))
            params.add(param(node));
          Form form{"lambda", std::move(params)};
          if (lambda.getReturnType())
            form.add({"ret", type(*lambda.getReturnType())});
          return form.add(body(lambda.getBody()));
        })
        .Case([&](BlockOp block) { return blockForm(block); })
        .Default([](Operation *) { return Form::emptyList(); });
  }

  /// The value of a region that has an expression only.
  Form regionValue(Region &region) {
    YieldOp yield = yieldOf(region);
    return value(yield ? yield.getValue() : Value());
  }

  Form unaryForm(UnaryOp unary) {
    Form operand = value(unary.getOperand());
    switch (unary.getKind()) {
    case UnaryKind::Neg: {
      auto literal = unary.getOperand().getDefiningOp<LiteralOp>();
      bool number = literal && !isLeastInteger(literal) &&
                    (literal.getKind() == LiteralKind::Int ||
                     literal.getKind() == LiteralKind::Float);
      return number ? Form("-" + operand.text) : Form{"neg", std::move(operand)};
    }
    case UnaryKind::Not:
      return {"not", std::move(operand)};
    case UnaryKind::Bang:
      return {"deref", std::move(operand)};
    case UnaryKind::Ref:
      return {"ref", std::move(operand)};
    }
    llvm_unreachable("all kinds handled");
  }

  /// An operation with a head of its own, or nothing.
  std::optional<Form> headedCall(StringRef name, CallOp call) {
    SmallVector<StringRef> keywords = keywordsOf(call.getKeywords(), call.getArgs().size());
    OperandRange args = call.getArgs();
    bool plain = llvm::all_of(keywords, [](StringRef keyword) { return keyword.empty(); });
    auto isPlace = [](Value arg) { return isa<PlaceOp>(arg.getDefiningOp()); };
    if (name == "drop" && plain && args.size() == 1 && !isPlace(args[0]))
      return Form{"drop", value(args[0])};
    if (name == "copy_to_host" && plain && args.size() == 1 && !isPlace(args[0]))
      return Form{"copy-to-host", value(args[0])};
    if (name == "copy_to_device" && plain && args.size() == 2 && isPlace(args[1]))
      return Form{"copy-to-device", value(args[1]), value(args[0])};
    if (name == "update" && plain && args.size() == 3 && args[1].getDefiningOp<ListOp>() &&
        !isPlace(args[0]) && !isPlace(args[2])) {
      Form subscripts = Form::emptyList();
      addValues(subscripts, args[1].getDefiningOp<ListOp>().getElements());
      return Form{"update", value(args[0]), std::move(subscripts), value(args[2])};
    }
    StringRef head = name == "value_and_grad" ? StringRef("value-and-grad") : name;
    if (!llvm::is_contained({"grad", "value-and-grad", "vjp", "jvp"}, head) || args.empty())
      return std::nullopt;
    Form form{head};
    for (auto [arg, keyword] : llvm::zip(args, keywords)) {
      bool last = arg == args.back() && args.size() > 1;
      if (!last || keyword != "wrt") {
        if (!keyword.empty())
          return std::nullopt;
        form.add(value(arg));
        continue;
      }
      Form names{"wrt"};
      auto tuple = arg.getDefiningOp<TupleOp>();
      if (tuple && !tuple.getNames() && tuple.getMembers().size() > 1)
        addValues(names, tuple.getMembers());
      else if (arg.getDefiningOp<NameOp>())
        names.add(value(arg));
      else
        return std::nullopt;
      form.add(std::move(names));
    }
    return form;
  }

  Form callForm(CallOp call) {
    auto name = call.getCallee().getDefiningOp<NameOp>();
    bool operation = name && !bound.contains(name.getName()) && !call.getTypeArgument();
    if (operation)
      if (std::optional<Form> form = headedCall(name.getName(), call))
        return *form;
    Form form{operation ? "op" : "call", value(call.getCallee())};
    if (call.getTypeArgument())
      form.add({"subst", spell(*call.getTypeArgument())});
    return addArguments(form, call.getArgs(), call.getKeywords());
  }

  Form handleForm(HandleOp handle) {
    Form form{"handle", regionValue(handle.getBody())};
    for (auto [node, region] :
         llvm::zip(syntaxRange(handle.getCases()), handle.getCaseRegions())) {
      if (node.is(SyntaxKind::ReturnCase)) {
        form.add({"return", node.getText(), regionValue(region)});
        continue;
      }
      Form payload = Form::emptyList();
      for (SyntaxAttr name : node.getChild(0).getChildren())
        payload.add(name.getText());
      form.add({"case", node.getText(), std::move(payload), node.getChild(1).getText(),
                regionValue(region)});
    }
    return form;
  }

  llvm::StringSet<> bound;
};

} // namespace

std::string kina::surface::printCore(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  CorePrinter printer(module);
  for (Operation &op : *module.getBody()) {
    os << (text.empty() ? "" : "\n");
    Layout(os).print(printer.item(op), 0);
    os << '\n';
  }
  return text;
}
