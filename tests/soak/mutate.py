"""Changes of our own program that its tests must notice: one operator, comparison, constant or return at a time.

    python -m soak.mutate --changes 10 --seed 1 --minutes 60 [--only store/split.py,nets] [--again] [--folder .soak]

For each module of TESTS, --changes random ones are made, each alone and in a copy of the sources, and the module's own
tests are run against it. A change that they pass is not noticed: a test is missing, or the change changes nothing.
Each is a line of FOLDER/mutations.jsonl, and the next call goes on with those that are not there; --again tries those
that were not noticed once more, with all tests of the module's folder.

    python -m soak.mutate --functions [--minutes 60] [--only games,store] [--sample 60] [--report] [--folder .soak]

removes whole functions instead: see `soak.functions`.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import copy
import hashlib
import importlib.util
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess.pgn  # noqa: F401  (what takes long to import, once for all)
import hypothesis.strategies  # noqa: F401
import lightning_fabric  # noqa: F401
import numba
import onnxruntime  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pytest
import starlette.applications  # noqa: F401
import torch  # noqa: F401

from soak import functions

ROOT = Path(__file__).parents[2]

GTP = ["engines/gtp/test_engine.py", "engines/gtp/test_game.py", "engines/gtp/test_search.py"]

# Modules of src/kibitz, and the tests that are theirs, of tests/.
TESTS = {
    "arena/chess/game.py": ["arena/chess/test_game.py", "arena/chess/test_limits.py"],
    "arena/chess/limits.py": ["arena/chess/test_limits.py"],
    "arena/chess/openings.py": ["arena/chess/test_openings.py"],
    "arena/chess/record.py": ["arena/chess/test_record.py"],
    "arena/elo.py": ["arena/test_elo.py"],
    "arena/go/game.py": ["arena/go/test_game.py", "arena/go/test_limits.py"],
    "arena/go/limits.py": ["arena/go/test_limits.py"],
    "arena/go/openings.py": ["arena/go/test_openings.py"],
    "arena/go/record.py": ["arena/go/test_record.py"],
    "arena/go/referee.py": ["arena/go/test_referee.py"],
    "arena/openings.py": ["arena/test_openings.py", "arena/chess/test_openings.py", "arena/go/test_openings.py"],
    "arena/players.py": ["arena/test_players.py"],
    "arena/record.py": ["arena/chess/test_record.py", "arena/go/test_record.py"],
    "engines/gtp/board.py": GTP,
    "engines/gtp/engine.py": GTP,
    "engines/gtp/game.py": GTP,
    "engines/gtp/gogui.py": GTP,
    "engines/gtp/kata.py": GTP,
    "engines/gtp/parse.py": GTP,
    "engines/gtp/play.py": GTP,
    "engines/uci/advisers.py": ["engines/uci/test_advisers.py"],
    "engines/uci/engine.py": ["engines/uci/test_engine.py"],
    "engines/uci/options.py": ["engines/uci/test_options.py"],
    "engines/uci/parser.py": ["engines/uci/test_parser.py"],
    "engines/uci/time_budget.py": ["engines/uci/test_time_budget.py"],
    "evaluation/batches.py": ["evaluation/test_batches.py"],
    "evaluation/games.py": ["evaluation/test_games.py"],
    "evaluation/owners/evaluator.py": ["evaluation/owners/test_evaluator.py"],
    "evaluation/owners/points.py": ["evaluation/owners/test_points.py"],
    "evaluation/pairs/evaluator.py": ["evaluation/pairs/test_evaluator.py"],
    "evaluation/pairs/two_way.py": ["evaluation/pairs/test_two_way.py"],
    "evaluation/policy/evaluator.py": ["evaluation/policy/test_evaluator.py"],
    "evaluation/policy/gohuman/evaluator.py": ["evaluation/policy/test_gohuman.py"],
    "evaluation/policy/human/evaluator.py": ["evaluation/policy/test_human.py", "test_research.py"],
    "evaluation/policy/metrics.py": ["evaluation/policy/test_metrics.py"],
    "evaluation/policy/personal/beside.py": ["personal/test_evaluation.py"],
    "evaluation/positions/evaluator.py": ["evaluation/positions/test_evaluator.py"],
    "evaluation/samples.py": ["evaluation/test_samples.py"],
    "evaluation/tables.py": ["evaluation/test_tables.py"],
    "explorer/search.py": ["explorer/test_search.py"],
    "external/gtp.py": ["external/test_gtp.py"],
    "external/pool.py": ["external/test_pool.py"],
    "external/uci.py": ["external/test_uci.py"],
    "games/batch.py": ["games/test_batch.py"],
    "games/chess/filters.py": ["games/chess/test_filters.py"],
    "games/chess/io/scan.py": ["games/chess/io/test_scan.py"],
    "games/chess/io/tags.py": ["games/chess/io/test_reader.py"],
    "games/chess/io/san.py": ["games/chess/io/test_reader.py"],
    "games/chess/io/movetext.py": ["games/chess/io/test_reader.py"],
    "games/chess/io/comments.py": ["games/chess/io/test_reader.py"],
    "games/chess/legal.py": ["games/chess/test_legal.py"],
    "games/chess/material.py": ["games/chess/test_material.py"],
    "games/chess/replay.py": ["games/chess/test_replay.py", "games/chess/test_en_passant.py"],
    "games/chess/sides.py": ["games/chess/test_sides.py"],
    "games/go/endings/counting.py": ["games/go/endings/test_counting.py"],
    "games/go/endings/journal.py": ["games/go/endings/test_journal.py"],
    "games/go/filters.py": ["games/go/test_filters.py"],
    "games/go/io/headers.py": ["games/go/io/test_headers.py"],
    "games/go/io/sgf.py": ["games/go/io/test_sgf.py"],
    "games/go/points.py": ["games/go/test_points.py"],
    "games/go/ranks.py": ["games/go/test_ranks.py"],
    "games/go/rules.py": ["games/go/test_rules.py"],
    "games/hashing.py": ["games/test_hashing.py"],
    "interrupts.py": ["test_interrupts.py"],
    "nets/layers.py": ["nets/test_layers.py"],
    "nets/muon.py": ["nets/test_muon.py"],
    "nets/sparse.py": ["nets/test_sparse.py"],
    "personal/book.py": ["personal/test_book.py"],
    "personal/chess/answers.py": ["personal/test_book.py"],
    "personal/system.py": ["personal/test_system.py", "personal/test_go.py"],
    "personal/chess/system.py": ["personal/test_system.py"],
    "personal/fitting.py": ["personal/test_fitting.py"],
    "personal/games.py": ["personal/test_games.py"],
    "personal/go/answers.py": ["personal/test_go.py"],
    "personal/go/system.py": ["personal/test_go.py"],
    "personal/habits.py": ["personal/test_habits.py"],
    "personal/names.py": ["personal/test_names.py"],
    "play/chess/alphabeta.py": ["play/chess/test_best_first.py", "play/chess/test_player.py"],
    "play/chess/best_first.py": ["play/chess/test_best_first.py"],
    "play/chess/book.py": ["play/chess/test_book.py"],
    "play/chess/evaluator.py": ["play/chess/test_player.py", "play/chess/test_best_first.py"],
    "play/chess/fixed_depth.py": ["play/chess/test_fixed_depth.py"],
    "play/chess/player.py": ["play/chess/test_player.py"],
    "play/chess/policy.py": ["play/chess/test_policy.py"],
    "play/chess/position.py": [
        "play/chess/test_position.py",
        "play/chess/test_fixed_depth.py",
        "play/chess/test_best_first.py",
    ],
    "play/chess/quiescence.py": ["play/chess/test_quiescence.py"],
    "play/chess/bare_king.py": ["play/chess/test_bare_king.py"],
    "play/chess/score.py": [
        "play/chess/test_score.py",
        "play/chess/test_fixed_depth.py",
        "play/chess/test_best_first.py",
    ],
    "play/chess/tablebase.py": ["play/chess/test_tablebase.py"],
    "play/chess/tactics.py": ["play/chess/test_tactics.py", "play/chess/test_best_first.py"],
    "play/chess/tree.py": ["play/chess/test_tree.py", "play/chess/test_best_first.py"],
    "play/comparison/alphabeta.py": ["play/comparison/test_player.py"],
    "play/comparison/embedding.py": ["play/comparison/test_embedding.py"],
    "play/comparison/player.py": ["play/comparison/test_player.py"],
    "play/comparison/state.py": ["play/comparison/test_player.py"],
    "play/go/ownership.py": ["play/go/test_ownership.py"],
    "play/go/player.py": ["play/go/test_player.py"],
    "play/go/puct.py": ["play/go/test_puct.py"],
    "play/go/thought.py": ["play/go/test_player.py", "play/go/test_puct.py"],
    "play/providers.py": ["play/test_providers.py"],
    "play/puct/cache.py": ["play/puct/test_cache.py"],
    "play/puct/chess.py": ["play/puct/test_chess.py"],
    "play/puct/go.py": ["play/puct/test_go.py"],
    "play/puct/human.py": ["play/puct/test_human.py"],
    "play/puct/pace.py": ["play/puct/test_pace.py", "play/puct/test_player.py"],
    "play/puct/player.py": ["play/puct/test_player.py"],
    "play/puct/search.py": ["play/puct/test_player.py", "play/puct/test_human.py", "play/puct/test_go.py"],
    "play/puct/tree.py": ["play/puct/test_tree.py", "play/puct/test_player.py", "play/puct/test_chess.py"],
    "play/session.py": ["play/test_session.py"],
    "play/side_inputs.py": ["play/test_side_inputs.py"],
    "records.py": ["test_records.py"],
    "stats.py": ["test_stats.py"],
    "store/positions.py": ["store/test_positions.py"],
    "store/sampling.py": ["store/test_sampling.py"],
    "store/split.py": ["store/test_split.py"],
    "store/store.py": ["store/test_store.py", "test_received.py"],
    "store/writer.py": ["store/test_writer.py", "store/test_power_cut.py"],
    "systems/__init__.py": ["systems/test_base.py", "systems/test_another_system.py", "systems/test_recipes.py"],
    "systems/base.py": ["systems/test_base.py", "systems/movers/test_system.py", "systems/test_recipes.py"],
    "systems/chessnet.py": ["systems/movers/test_system.py", "systems/movers/test_nets.py"],
    "systems/convchess.py": ["systems/movers/test_system.py", "systems/movers/test_nets.py"],
    "systems/deepchess.py": ["systems/test_deepchess.py"],
    "systems/gocnn.py": ["systems/test_gocnn.py"],
    "systems/gohuman.py": ["systems/test_gohuman.py"],
    "systems/human.py": ["systems/test_human.py"],
    "systems/movers/nets.py": ["systems/movers/test_nets.py"],
    "systems/movers/system.py": ["systems/movers/test_system.py"],
    "systems/winner.py": ["systems/test_winner.py"],
    "training/batch_size.py": ["training/test_batch_size.py"],
    "training/checkpoints.py": ["training/test_checkpoints.py"],
    "training/compiled.py": ["training/test_compiled.py"],
    "training/dataloader.py": ["training/test_dataloader.py"],
    "training/fit.py": ["training/test_fit.py"],
    "training/health.py": ["training/test_health.py"],
    "training/profile.py": ["training/test_profile.py"],
    "training/ranks.py": ["training/test_ranks.py"],
    "training/trainer.py": ["training/test_trainer.py"],
    "training/tune/search.py": ["training/tune/test_search.py"],
    "training/tune/space.py": ["training/tune/test_search.py"],
    "web/answers.py": ["web/test_answers.py"],
    "web/chess/answers.py": ["web/test_answers.py"],
    "web/chess/candidates.py": ["web/test_candidates.py"],
    "web/chess/checking.py": ["web/test_candidates.py"],
    "web/chess/files.py": ["web/test_files.py"],
    "web/chess/judging.py": ["web/test_judging.py"],
    "web/chess/line.py": ["web/test_lines.py", "web/test_planes.py"],
    "web/chess/occlusion.py": ["web/test_answers.py"],
    "web/chess/opinion.py": ["web/test_opinions.py"],
    "web/files.py": ["web/test_files.py"],
    "web/game_tree.py": ["web/test_files.py"],
    "web/go/answers.py": ["web/test_answers.py"],
    "web/go/candidates.py": ["web/test_candidates.py"],
    "web/go/checking.py": ["web/test_candidates.py"],
    "web/go/files.py": ["web/test_files.py"],
    "web/go/line.py": ["web/test_lines.py", "web/test_planes.py"],
    "web/go/occlusion.py": ["web/test_answers.py"],
    "web/go/opinion.py": ["web/test_opinions.py"],
    "web/mygames/background.py": ["web/test_mygames.py"],
    "web/mygames/sources.py": ["web/test_mygames_parts.py", "web/test_mygames.py"],
    "web/mygames/state.py": ["web/test_mygames_parts.py", "web/test_mygames.py"],
    "web/mygames/training.py": ["web/test_mygames_parts.py", "web/test_mygames.py"],
    "web/networks.py": ["web/test_app.py", "web/test_without_torch.py"],
    "web/opinions.py": ["web/test_opinions.py"],
    "web/page.py": ["web/test_security.py", "web/test_app.py"],
    "web/params.py": ["web/test_params.py", "web/test_app.py", "web/test_security.py"],
    "web/planes.py": ["web/test_planes.py"],
    "web/players.py": ["web/test_players.py"],
    "web/positions.py": ["web/test_files.py", "web/test_lines.py"],
    "web/responses.py": ["web/test_app.py"],
    "web/routing.py": ["web/test_app.py", "web/test_siege.py"],
    "web/security.py": ["web/test_security.py"],
    "web/server.py": ["web/test_siege.py"],
    "web/state.py": ["web/test_app.py"],
    "web/stores.py": ["web/test_stores.py"],
    "web/torch_process.py": ["web/test_without_torch.py"],
    "web/workers.py": ["web/test_workers.py"],
}

OTHER: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.BitXor: (ast.BitOr,),
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
"""What an operator becomes: the other direction, the other side of a bound, the opposite."""

UNREAD = ("annotation", "returns", "decorator_list", "type_params")
"""Parts of the program that say nothing about what it computes: types, and how functions are compiled."""


@dataclass(frozen=True)
class Change:
    """One node of a module, in the order of `nodes`, and what takes its place."""

    module: str
    line: int
    node: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.module, self.source, self.node, self.after


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose change may change what is computed, parents first."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in UNREAD:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.Raise, ast.JoinedStr, ast.ImportFrom)):
                yield from nodes(child)


def variants(node: ast.AST) -> list[ast.AST]:
    """What may take a node's place."""
    given = copy.deepcopy(node)
    match given:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op):
            return [_with(given, op=other()) for other in OTHER.get(type(op), ())]
        case ast.Compare(ops=[op, *rest]):
            return [_with(given, ops=[other(), *rest]) for other in OTHER.get(type(op), ())]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return [operand]
        case ast.Constant(value=bool() as value):
            return [_with(given, value=not value)]
        case ast.Constant(value=int() | float() as number):
            return [_with(given, value=number + 1)]
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            return [_with(given, value=ast.Constant(None))]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return [_with(given, test=ast.UnaryOp(ast.Not(), test))]
        case ast.Break():
            return [ast.Continue()]
        case ast.Continue():
            return [ast.Break()]
    return []


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def changes(module: str, text: str) -> list[Change]:
    """All changes of a module that could be tried."""
    source = hashlib.sha256(text.encode()).hexdigest()[:12]
    return [
        Change(module, getattr(node, "lineno", 0), i, _head(node), _head(variant), source)
        for i, node in enumerate(nodes(ast.parse(text)))
        for variant in variants(node)
    ]


def _head(node: ast.AST) -> str:
    """The first line of a node, as text."""
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0]


def changed(text: str, change: Change) -> str:
    """The module's text with one change."""
    tree = ast.parse(text)
    wanted = list(nodes(tree))[change.node]
    new = next(variant for variant in variants(wanted) if _head(variant) == change.after)

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is wanted else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Replace().visit(tree)))


INTERPRETED, ANEW, CACHED = "interpreted", "anew", "cached"


class Bench:
    """A copy of the sources, in which one module at a time is another."""

    def __init__(self, folder: Path, wide: bool = False):
        """wide: whether all tests of a module's folder run, and not only the module's own."""
        self.wide = wide
        self.sources, self.cache, self.fresh = folder / "src", folder / "numba", folder / "fresh"
        shutil.rmtree(self.sources, ignore_errors=True)
        shutil.copytree(ROOT / "src", self.sources, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(self.sources, quiet=2)  # tests write none of it

    def file(self, module: str) -> Path:
        return self.sources / "kibitz" / module

    def compiled(self) -> Path:
        """A copy of the cache of compiled functions, so that what changed modules add does not pile up."""
        shutil.rmtree(self.fresh, ignore_errors=True)
        self.cache.mkdir(exist_ok=True)
        shutil.copytree(self.cache, self.fresh)
        return self.fresh

    def passes(self, module: str, seconds: float, kernels: str) -> bool | None:
        """Whether the module's tests pass, None if they took too long.

        kernels: interpreted, compiled anew where a change of the module may reach them, or as they are in the cache.
        """
        cache = self.compiled() if kernels == ANEW else self.cache
        if not (child := os.fork()):
            try:
                os._exit(self._test(module, seconds, cache, kernels == INTERPRETED))
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests have left behind
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            return None
        return status == 0

    def _test(self, module: str, seconds: float, cache: Path, interpreted: bool) -> int:
        """In a process of its own, which has the libraries and not yet a module of kibitz."""
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        os.environ |= {"PYTHONPATH": str(self.sources), "PYTHONDONTWRITEBYTECODE": "1"}
        os.environ |= {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": str(int(interpreted))}
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.sources))
        numba.config.reload_config()
        tests = [str(ROOT / "tests" / name) for name in TESTS[module]]
        if self.wide:
            folder = (ROOT / "tests" / module).parent
            tests += [str(path) for path in sorted(folder.glob("test_*.py")) if str(path) not in tests]
        options = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", f"--rootdir={ROOT}",
                   "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip

        return int(pytest.main([*options, *tests]))


def baseline(bench: Bench, module: str, slowest: float) -> tuple[float, str] | None:
    """Seconds of the unchanged module's tests, and the quicker way with its kernels; None where they do not pass, or
    not in `slowest` seconds."""
    if bench.passes(module, 300, CACHED) is not True:  # compiles what is not in the cache
        return None
    ways = (
        [ANEW, INTERPRETED]
        if "from kibitz.kernels import" in bench.file(module).read_text(encoding="utf-8")
        else [CACHED]
    )
    best = (slowest, "")
    for kernels in ways:
        start = time.monotonic()
        if bench.passes(module, best[0], kernels):
            best = time.monotonic() - start, kernels
    return best if best[1] else None


def draw(module: str, text: str, many: int, seed: int) -> list[Change]:
    """A module's changes of this seed; more of them begin with the same."""
    found = changes(module, text)
    random.Random(f"{seed} {module}").shuffle(found)
    return found[:many]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=10, help="of each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", default="", help="modules, or beginnings of their names")
    parser.add_argument("--slowest", type=float, default=300.0, help="leave out modules whose tests take more seconds")
    parser.add_argument(
        "--again", action="store_true", help="only those that were not noticed, with all tests of their folders"
    )
    parser.add_argument("--folder", type=Path, default=Path(".soak"))
    parser.add_argument("--functions", action="store_true", help="whole functions, instead of single changes")
    parser.add_argument("--report", action="store_true", help="with --functions: show what is known, and try nothing")
    parser.add_argument("--sample", type=int, default=0, help="with --functions: so many, drawn with --seed")
    parser.add_argument("--markers", default="not slow", help="with --functions: which tests, as of pytest -m")
    asked = parser.parse_args()
    if asked.functions:
        functions.main(asked.minutes, asked.only, asked.folder, 2 * asked.slowest, asked.report, asked.markers,
                       asked.sample, asked.seed)  # fmt: skip
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    journal = asked.folder / "mutations.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    known = {Change(**line["change"]).key: line["noticed"] for line in lines}
    end = time.monotonic() + 60 * asked.minutes
    with journal.open("a", encoding="utf-8") as out:
        bench = Bench((asked.folder / "mutate").resolve(), wide=asked.again)
        for module in (name for begin in asked.only.split(",") for name in TESTS if name.startswith(begin)):
            text = bench.file(module).read_text(encoding="utf-8")
            drawn = draw(module, text, asked.changes, asked.seed)
            todo = [c for c in drawn if (known.get(c.key) == "no" if asked.again else c.key not in known)]
            if todo and time.monotonic() < end:
                try_all(bench, module, text, todo, end, asked.slowest, out, known)
            report(module, [(c, known[c.key]) for c in drawn if c.key in known])
    answers = list(known.values())
    print(f"{len(answers)} changes, {sum(answer != 'no' for answer in answers)} noticed")


def try_all(
    bench: Bench,
    module: str,
    text: str,
    todo: list[Change],
    end: float,
    slowest: float,
    out: Any,
    known: dict[Any, str],
) -> None:
    """Tries changes until `end`, and writes a line for each."""
    if (base := baseline(bench, module, slowest)) is None:
        print(f"{module}: its tests do not pass, or are too slow", flush=True)
        return
    seconds, kernels = base
    Path(importlib.util.cache_from_source(str(bench.file(module)))).unlink(missing_ok=True)  # its source will change
    for change in todo:
        if time.monotonic() > end:
            break
        bench.file(module).write_text(changed(text, change), encoding="utf-8")
        noticed = {True: "no", False: "yes", None: "too long"}[bench.passes(module, 10 + 3 * seconds, kernels)]
        known[change.key] = noticed
        out.write(json.dumps({"change": vars(change), "noticed": noticed, "seconds": round(seconds, 1)}) + "\n")
        out.flush()
    bench.file(module).write_text(text, encoding="utf-8")


def report(module: str, tried: list[tuple[Change, str]]) -> None:
    print(f"{module}: {sum(answer != 'no' for _, answer in tried)} of {len(tried)} noticed", flush=True)
    for change, answer in tried:
        if answer == "no":
            print(f"    line {change.line}: {change.before}  ->  {change.after}", flush=True)


if __name__ == "__main__":
    main()
