//===- SurfaceStmtOps.td - Statements --------------------*- tablegen -*-===//

#ifndef KINA_SURFACE_STMT_OPS_TD
#define KINA_SURFACE_STMT_OPS_TD

include "Kina/Dialect/Surface/IR/SurfaceBase.td"

def Surface_LetOp : Surface_StmtOp<"let"> {
  let summary = "`let pattern: T = e;`";
  let description = [{
    Example: `kina_surface.let <pattern_name "y"> = %0`
  }];
  let arguments = (ins Surface_SyntaxAttr:$pattern, Surface_Expr:$value,
                   OptionalAttr<Surface_SyntaxAttr>:$type,
                   OptionalAttr<Surface_SyntaxArray>:$decorators);
  let assemblyFormat = [{
    $pattern (`:` $type^)? `=` $value (`decorators` $decorators^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Surface_LetDimOp : Surface_StmtOp<"let_dim"> {
  let summary = "`let dim K = e;`, a size born from data";
  let description = [{
    `name` is a syntax node of kind `name`.

    Example: `kina_surface.let_dim <name "K"> = %0`
  }];
  let arguments = (ins Surface_NameSyntax:$name, Surface_Expr:$value);
  let assemblyFormat = "$name `=` $value attr-dict";
}

def Surface_AssumeOp : Surface_StmtOp<"assume"> {
  let summary = "`assume pred;`, trusted";
  let description = [{
    Example: `kina_surface.assume <pred_eq [name "D", name "E"]>`
  }];
  let arguments = (ins Surface_SyntaxAttr:$pred);
  let assemblyFormat = "$pred attr-dict";
  let hasVerifier = 1;
}

def Surface_CheckOp : Surface_StmtOp<"check"> {
  let summary = "`check cond;` or `check cond, \"text\";`";
  let description = [{
    Inside the condition `binary eq_sign` and `binary divides` may occur, and a tuple of
    one named member is an equation.

    Example: `kina_surface.check %0, "the loss is finite"`
  }];
  let arguments = (ins Surface_Expr:$cond, OptionalAttr<StrAttr>:$message);
  let assemblyFormat = "$cond (`,` $message^)? attr-dict";
}

def Surface_DoOp : Surface_StmtOp<"do"> {
  let summary = "`e;`, an expression for its effects";
  let description = [{
    Example: `kina_surface.do %0`
  }];
  let arguments = (ins Surface_Expr:$value, OptionalAttr<Surface_SyntaxArray>:$decorators);
  let assemblyFormat = "$value (`decorators` $decorators^)? attr-dict";
}

def Surface_AssignOp : Surface_StmtOp<"assign"> {
  let summary = "`x := e;`, an assignment to a ref";
  let description = [{
    `name` is a syntax node of kind `name`.

    Example: `kina_surface.assign <name "c"> = %0`
  }];
  let arguments = (ins Surface_NameSyntax:$name, Surface_Expr:$value);
  let assemblyFormat = "$name `=` $value attr-dict";
}

def Surface_YieldOp : Surface_Op<"yield", [Terminator, ParentOneOf<[
    "FnOp", "GlobalOp", "IfOp", "WhileOp", "ForOp", "HandleOp", "LambdaOp", "BlockOp"]>]> {
  let summary = "the end of every region, with the value of its last expression if there is one";
  let description = [{
    `decorators` are those before the tail expression.

    Example: `kina_surface.yield %0`
  }];
  let arguments = (ins Optional<Surface_Expr>:$value,
                   OptionalAttr<Surface_SyntaxArray>:$decorators);
  let assemblyFormat = "($value^)? (`decorators` $decorators^)? attr-dict";
  let hasVerifier = 1;
}

#endif
