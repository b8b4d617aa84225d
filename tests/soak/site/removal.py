"""One function of a source file, replaced as a whole: what `soak.functions` removes, and how.

This module imports nothing but the standard library, because `sitecustomize` loads it in every program that a test
starts.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from dataclasses import dataclass

NONE, ARGUMENT, RAISE = "return None", "return its first argument", "raise"
Definition = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
JIT = ("njit", "jit", "vectorize", "guvectorize", "kernel", "fast_kernel")


@dataclass(frozen=True)
class Function:
    """A function of a module. `name` is its qualified name, `line` the line of its first decorator or of `def`."""

    module: str
    name: str
    line: int
    compiled: bool
    ways: tuple[str, ...]
    source: str


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """All functions below a node with their qualified names, outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, SCOPES):
            yield from definitions(node, prefix)
            continue
        name = prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from definitions(node, f"{name}.")
        else:
            yield name, node
            yield from definitions(node, f"{name}.<locals>.")


def first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def functions(module: str, text: str) -> list[Function]:
    """The functions of a module that do something: no declarations, and none that is empty."""
    found = []
    for name, node in definitions(ast.parse(text)):
        names = {word for decorator in node.decorator_list for word in _words(decorator)}
        if names & {"overload", "abstractmethod"} or _is_empty(node):
            continue
        source = ast.unparse(node)
        found.append(Function(module, name, first_line(node), bool(names & set(JIT)), ways(node), source))
    return found


def _words(node: ast.AST) -> set[str]:
    return {part.attr if isinstance(part, ast.Attribute) else part.id
            for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))}  # fmt: skip


def _is_empty(node: Definition) -> bool:
    """Whether the body is nothing but a docstring, `...`, `pass`, `return None` or `raise NotImplementedError`."""
    for statement in node.body:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Return(value=None | ast.Constant(value=None)):
                continue
            case ast.Raise(exc=ast.expr() as error) if "NotImplementedError" in _words(error):
                continue
        return False
    return True


def ways(node: Definition) -> tuple[str, ...]:
    """How a function can be removed. The first argument is another value than None only where a value is returned."""
    returned = any(isinstance(part, ast.Return) and part.value is not None for part in _own(node))
    return (NONE, ARGUMENT, RAISE) if returned and _argument(node) else (NONE, RAISE)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*SCOPES, ast.Lambda)):
            yield child
            yield from _own(child)


def _argument(node: Definition) -> str | None:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    generator = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in _own(node))
    return names[0] if names and not generator else None


def without(text: str, name: str, line: int, way: str) -> ast.Module:
    """The module's tree in which one function begins with what replaces it. The rest of its body stays behind that
    statement and is never reached, so that free variables, and whether it is a generator, do not change."""
    tree = ast.parse(text)
    for found, node in definitions(tree):
        if (found, first_line(node)) != (name, line):
            continue
        docstring = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        statement = {
            NONE: "return None", ARGUMENT: f"return {_argument(node)}", RAISE: "raise RuntimeError('removed')",
        }[way]  # fmt: skip
        new = ast.parse(statement).body[0]
        for part in ast.walk(new):
            if hasattr(part, "lineno"):
                ast.copy_location(part, node.body[0])
        node.body.insert(int(docstring), new)
        return tree
    raise LookupError(f"no function {name} in line {line}")


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)
