// RUN: split-file %s %t
// RUN: not kina-translate --export-core %t/typed.mlir 2>&1 | FileCheck %s --check-prefix=TYPED
// RUN: not kina-translate --export-kina %t/stage.mlir 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not kina-translate --export-kina %t/name.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not kina-translate --export-core %t/name.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not kina-translate --export-kina %t/spelling.mlir 2>&1 | FileCheck %s --check-prefix=ITEM
// RUN: not kina-translate --export-core %t/spelling.mlir 2>&1 | FileCheck %s --check-prefix=ITEM
// RUN: not kina-translate --export-kina %t/statement.mlir 2>&1 | FileCheck %s --check-prefix=ITEM
// RUN: not kina-translate --export-core %t/statement.mlir 2>&1 | FileCheck %s --check-prefix=ITEM
// RUN: not kina-translate --export-core %t/text.mlir 2>&1 | FileCheck %s --check-prefix=TEXT

// Operations can say what no text says.

//--- typed.mlir
// TYPED: error[K0118]: 'builtin.module' is not of the surface dialect and has no source form
module { module { } }
//--- stage.mlir
// STAGE: error[K0118]: 'kina.func' is not of the surface dialect and has no source form
// STAGE-NEXT: stage.mlir:3:1
kina.func @half(%x: f64) -> f64 {
  kina.return %x : f64
}
// STAGE: help: 'kinac --emit=surface' prints a program in that dialect
//--- name.mlir
// NAME: error[K0118]: the module has no source form: its text would say "K01
kina_surface.global <name "a"> = {
  %0 = kina_surface.name "two words"
  kina_surface.yield %0
}
//--- spelling.mlir
kina_surface.import "x.kina"
// ITEM: error[K0118]: this item has no source form: its text would be another one
// ITEM-NEXT: :{{4|5}}:1
kina_surface.global <name "a"> = {
  %0 = kina_surface.literal 1.0 : f64, "2.0"
  kina_surface.yield %0
}
//--- statement.mlir
// A statement where only an expression can stand.

kina_surface.import "x.kina"

kina_surface.global <name "a"> = {
  %0 = kina_surface.literal 1.0 : f64, "1.0"
  kina_surface.do %0
  %1 = kina_surface.literal 1.0 : f64, "1.0"
  kina_surface.yield %1
}
//--- text.mlir
// TEXT: error[K0118]: the module has no source form
kina_surface.import "x.kina\"; import \"y"
