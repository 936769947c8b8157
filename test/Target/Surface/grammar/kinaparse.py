"""The reference answer to "is this Kina?": the grammar run by Lark, and what a grammar can't say.

The parser under test shares no code with this. `accepts(text)` is the whole interface.
"""

import os
import re

from lark import Lark, Token, Tree

RESERVED = set(
    "fn let import type forall requires tensor if else while for in handle with return effect perform ref fun "
    "fold_left assume check dim and or not mod floordiv ceildiv true false "
    "F64 F32 F16 BF16 I64 I32 I8 U8 Bool".split())

WORDS = re.compile(r'//[^\n]*|"[^"\n]*"|[A-Za-z_]\w*|->|=>|:=|::|\d+|\s+|.', re.S)


class Rejected(Exception):
    pass


def load_grammar():
    """The grammar with keywords as whole words: Lark's contextual lexer would read `andy` as `and y` wherever
    no identifier is expected."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "grammar.lark")) as file:
        text = file.read()
    rules, terminals = text.split("_OR:")
    words = sorted(set(re.findall(r'"([a-z_]{2,})"', rules)))
    rules = re.sub(r'"([a-z_]{2,})"', lambda m: "KW_" + m.group(1).upper(), rules)
    terminals = "_OR.2:" + terminals.replace("_AND:", "_AND.2:")
    terminals = terminals.replace('"or" |', r'/or\b/ |').replace('"and" |', r'/and\b/ |')
    terminals += "".join(f"KW_{w.upper()}.2: /{w}\\b/\n" for w in words)
    return Lark(rules + terminals, start=["module", "coreform"], parser="lalr", propagate_positions=True,
                maybe_placeholders=False, keep_all_tokens=True, g_regex_flags=re.ASCII)


GRAMMAR = load_grammar()


def end_of_core(text, start):
    """The offset behind the core form that starts at `start`."""
    depth = 0
    at = start
    while at < len(text):
        c = text[at]
        if c == '"':
            at = text.find('"', at + 1)
            if at < 0:
                break
        elif c == ";":
            at = text.find("\n", at)
            if at < 0:
                break
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise Rejected("a core form is not closed")


def cut_core(text):
    """The native text with a mark for every core form at top level, and the core forms without comments."""
    out, cores = [], []
    at, depth, angles, previous, item = 0, 0, 0, None, None
    while at < len(text):
        match = WORDS.match(text, at)
        word = match.group()
        # An effect ends where its last type does: a `(` that no type can have there begins the next item.
        at_item = previous in (None, ";", "}") or (
            item == "effect" and angles == 0 and previous not in (":", "->", "fn"))
        if word == "(" and depth == 0 and at_item:
            end = end_of_core(text, at)
            core = re.sub(r'("[^"\n]*")|;[^\n]*', lambda m: m.group(1) or "", text[at:end])
            cores.append(core)
            out.append(f"\x01{len(cores) - 1}\x02")
            at, previous, item = end, ";", None
            continue
        if not word.isspace() and not word.startswith("//"):
            depth += (word in "([{") - (word in ")]}")
            if depth == 0:
                angles = angles + (word == "<") - (word == ">") if item == "effect" else 0
            if depth == 0 and word in ("fn", "effect", "let", "import", "type") and previous not in ("=", "->", ":"):
                item = word
            elif depth == 0 and angles == 0 and word == "@":
                item = None
            previous = word
        out.append(word)
        at = match.end()
    return "".join(out), cores


def check(tree, in_check=False):
    """Reserved words are no names, dimensions have two functions, `(a + b = c)` is for checks."""
    for child in tree.children:
        if isinstance(child, Token):
            if child.type in ("ID", "GENERIC") and child.value in RESERVED:
                raise Rejected(f"'{child}' is reserved")
            continue
        inside = in_check or (tree.data == "stmt" and isinstance(tree.children[0], Token)
                              and tree.children[0].value == "check")
        kinds = [c.type if isinstance(c, Token) else c.data for c in child.children]
        if child.data == "datom" and kinds[:2] == ["ID", "LPAR"] and child.children[0] not in ("min", "max"):
            raise Rejected(f"'{child.children[0]}' is no function of dimensions")
        if child.data == "eatom" and kinds[0] == "LPAR" and "EQUAL" in kinds and kinds[1] != "ID" and not inside:
            raise Rejected("an equation outside of a check")
        check(child, inside)


def parse(text):
    native, cores = cut_core(text)
    check(GRAMMAR.parse(native, start="module"))
    for core in cores:
        if re.search(r"(^|[\s()\[\]\";:])//", core):
            raise Rejected("'//' in a core form")
        GRAMMAR.parse(core, start="coreform")


def accepts(text):
    try:
        parse(text)
        return True
    except Exception:
        return False
