"""The words of `kibitz --help`: what each command does, its examples, and the text of each option.

An option has the same words in every command. The key "COMMAND --option" is for words that
one command needs. Other options, such as the settings of a system, show the help of their declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PANELS: Mapping[str, tuple[str, ...]] = {
    "Start here": ("board", "analyze", "annotate", "rate", "prepare", "doctor"),
    "Games": ("import", "info", "explore", "merge"),
    "Train": ("train", "personal", "tune", "systems"),
    "Evaluate": ("test", "match", "bench"),
    "Use elsewhere": ("setup", "uci", "gtp", "export", "export-positions"),
}
"""The commands by purpose, in the order of the help."""

SUMMARY = "Train neural networks on chess and Go games; analyze, play and measure with them."
"""What the program does."""

EXAMPLES = (
    "kibitz board",
    "kibitz analyze human my-games.pgn",
    "kibitz import my-games.pgn --into my.store && kibitz train winner my.store",
)
"""Three ways to begin."""


@dataclass(frozen=True)
class CommandHelp:
    """The help of one command.

    summary: what you get, at most 70 characters.
    examples: three command lines.
    common: the options that `-h` shows, such as "--into".
    panels: heading -> options under it, for `--help`; options that are in no panel come last.
    about: further paragraphs of `--help`.
    page: the page of the documentation, relative to docs/.
    """

    summary: str
    examples: tuple[str, ...]
    common: tuple[str, ...]
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    about: tuple[str, ...] = ()
    page: str = "reference/commands.md"


SPLIT = ("--validate-share", "--test-share", "--validate-from", "--test-from")
PERFORMANCE = ("--workers", "--ray", "--provider")

COMMANDS: Mapping[str, CommandHelp] = {
    "board": CommandHelp(
        "Open the board in your browser: play, analyze, compare networks",
        ("kibitz board", "kibitz board my-games.pgn --checked-by stockfish", "kibitz board runs/winner-1 my.store"),
        ("--checked-by", "--port", "--engine", "--lan", "--no-browser"),
        {
            "Page": ("--port", "--lan", "--no-browser"),
            "Engines": ("--checked-by", "--engine"),
            "Performance": ("--provider",),
        },
        ("Without --lan, the page is for this computer only. Press Ctrl-C to end it.",),
        "how-to/board.md",
    ),
    "prepare": CommandHelp(
        "Compile once what the first analysis and game would wait for",
        ("kibitz prepare", "kibitz prepare --game go", "kibitz prepare --json"),
        ("--game", "--json"),
        about=(
            "kibitz compiles its search for your processor, once after an install or an update. Each command and the"
            " board do this when they need it. This command does it ahead.",
        ),
        page="how-to/install.md",
    ),
    "doctor": CommandHelp(
        "Check this installation and name a remedy for each problem",
        ("kibitz doctor", "kibitz doctor --engine /path/to/stockfish", "kibitz doctor --json"),
        ("--engine", "--json"),
        about=(
            "kibitz checks versions, CPU, memory, disk, caches, engines and the bundled networks. It changes nothing"
            " and contacts no other computer. The exit code is 1 if there is a problem.",
            "The last line describes your installation. Paste it into a report.",
        ),
        page="how-to/doctor.md",
    ),
    "analyze": CommandHelp(
        "Evaluate every move of a game",
        (
            "kibitz analyze human my-games.pgn",
            "kibitz analyze human lichess:NAME --mine --limit 100 --page report.html",
            "kibitz analyze gohuman my-game.sgf",
        ),
        ("--game", "--mine", "--rating", "--nodes", "--json"),
        {
            "Choose games": ("--game", "--all"),
            "Account (lichess:NAME, chesscom:NAME, ogs:NAME)": ("--since", "--speed", "--rated", "--limit"),
            "Player report": ("--mine", "--player", "--page"),
            "Evaluation": (
                "--checked-by",
                "--nodes",
                "--depth",
                "--engine-option",
                "--raw",
                "--rating",
                "--swing",
            ),
            "Output": ("--pgn", "--sgf", "--csv", "--parquet", "--json", "--move", "--owners"),
            "Performance": PERFORMANCE,
        },
        (
            "Chess: expected score, mistakes and better moves. The marks ?!, ? and ?? mean a loss of 10, 20 and 30"
            " percentage points. Networks that predict moves also show their first choices and the rank of the played"
            " move.",
            "For Go: the score, points lost and territory.",
        ),
        "tutorials/find-my-mistakes.md",
    ),
    "annotate": CommandHelp(
        "Write games with evaluations, marks and reasons to new files",
        (
            "kibitz annotate my-games.pgn",
            "kibitz annotate games/ --out annotated/",
            "kibitz annotate my-games.pgn --checked-by stockfish",
        ),
        ("--out", "--network", "--checked-by", "--overwrite", "--json"),
        {
            "Evaluation": ("--network", "--checked-by", "--nodes", "--engine-option"),
            "Output": ("--out", "--overwrite", "--json"),
        },
        (
            "Each file gets one output with all its games: my-games.pgn becomes my-games-annotated.pgn. The output"
            " opens in other chess and Go programs.",
            "If a file cannot be annotated, kibitz reports it and continues with the others. The exit code is then 1.",
        ),
        "how-to/annotate-games.md",
    ),
    "rate": CommandHelp(
        "Estimate a rating from the moves of a player",
        (
            "kibitz rate my-games.pgn",
            "kibitz rate lichess:NAME --since 2025 --speed blitz",
            "kibitz rate games/ --player NAME --json",
        ),
        ("--player", "--json"),
        {
            "Games": ("--player",),
            "Account (lichess:NAME, chesscom:NAME, ogs:NAME)": ("--since", "--speed", "--rated", "--limit"),
            "Output": ("--json",),
        },
        (
            "The estimate uses the moves only, not the results. It is on the rating scale of the games' site, and it"
            " needs at least 5 games.",
        ),
        "how-to/how-strong.md",
    ),
    "import": CommandHelp(
        "Build a game store from PGN or SGF files, or from an account",
        (
            "kibitz import my-games.pgn --into my.store",
            "kibitz import lichess:NAME --into my.store --since 2025 --speed blitz",
            "kibitz import my-games.sgf --into go.store --ending counted",
        ),
        ("--into", "--append", "--min-rating", "--player", "--since", "--json"),
        {
            "Input and output": ("--into", "--append", "--keep-duplicates", "--game", "--limit", "--json"),
            "Filter by player": ("--player", "--min-rating", "--max-rating", "--rank", "--unrated"),
            "Filter by game": (
                "--ending",
                "--result",
                "--speed",
                "--rated",
                "--since",
                "--until",
                "--min-plies",
                "--rules",
                "--handicap",
                "--size",
                "--no-bots",
            ),
            "Split": SPLIT,
            "Territory labels (Go)": ("--referee", "--gnugo", "--gnugo-limit", "--play-out", "--unconfirmed"),
            "Performance": ("--workers", "--ray"),
        },
        (
            "A game store is kibitz's compact game database. Skipped games are counted by reason.",
            "From an account such as lichess:NAME, kibitz downloads only what is new since the last call.",
        ),
        "tutorials/your-games.md",
    ),
    "info": CommandHelp(
        "Summarize a game store or a network",
        ("kibitz info my.store", "kibitz info human", "kibitz info runs/winner-1"),
        ("--json",),
    ),
    "explore": CommandHelp(
        "Show the moves played in a position",
        (
            "kibitz explore my.store",
            "kibitz explore my.store e4 c5 --rating 1600-2000",
            "kibitz explore go.store Q16 D4",
        ),
        ("--fen", "--rating", "--json"),
        about=("Games that reach the position by another move order count, too. The first call builds an index.",),
        page="how-to/explore-openings.md",
    ),
    "merge": CommandHelp(
        "Combine game stores",
        (
            "kibitz merge a.store b.store --into both.store",
            "kibitz merge a.store b.store --into both.store --test-share 10",
            "kibitz merge old.store new.store --into all.store --test-from 2025",
        ),
        ("--into", "--json"),
        {"Output": ("--into", "--json"), "Split": SPLIT},
        ("A game that is in several stores is kept once. The old stores stay unchanged.",),
        "how-to/many-games.md",
    ),
    "train": CommandHelp(
        "Train a network",
        (
            "kibitz train winner my.store",
            "kibitz train human my.store --start-from human",
            "kibitz train winner my.store --recipe paper --run runs/paper",
        ),
        ("--recipe", "--run", "--start-from", "--time-limit", "--json"),
        {
            "Start": ("--recipe", "--run", "--start-from", "--seed"),
            "Length": ("--time-limit", "--patience", "--average"),
            "Checks": (
                "--validate-every",
                "--validate-positions",
                "--summary-every",
                "--checkpoint-every",
                "--checkpoint-megabytes",
                "--profile",
            ),
            "Split": SPLIT,
            "Hardware": ("--device", "--devices", "--precision", "--compile"),
            "Several machines": ("--num-nodes", "--node-rank", "--main-address"),
            "Output": ("--json",),
        },
        (
            "You can press Ctrl-C at any time. Run the same command again to resume.",
            "`kibitz train SYSTEM --help` also lists the settings of that system, with the values of the recipe.",
        ),
        "tutorials/your-games.md",
    ),
    "personal": CommandHelp(
        "Train a network that plays like one person",
        (
            "kibitz personal lichess:NAME --since 2025",
            "kibitz personal games/ --player NAME --player OTHER-NAME",
            "kibitz personal new-games.pgn --run runs/personal-NAME --update",
        ),
        ("--player", "--run", "--from", "--update", "--time-limit", "--json"),
        {
            "Games": ("--player", "--most-games", "--update"),
            "Account (lichess:NAME, chesscom:NAME, ogs:NAME)": ("--since", "--speed", "--rated", "--limit"),
            "Training": ("--from", "--run", "--seed", "--time-limit"),
            "Output": ("--json",),
        },
        (
            "It needs at least 20 games and takes a few minutes for 1,000 games. You can press Ctrl-C at any time. Run"
            " the same command again to resume. Your games do not leave this computer.",
        ),
        "how-to/play-like-me.md",
    ),
    "tune": CommandHelp(
        "Search for good training settings",
        (
            "kibitz tune winner my.store",
            "kibitz tune winner my.store --learning-rates 0.001,0.01 --trials 8",
            "kibitz tune chessnet my.store --time-limit 60",
        ),
        ("--learning-rates", "--weight-decays", "--trials", "--time-limit", "--json"),
        {
            "Search": ("--learning-rates", "--weight-decays", "--initials", "--network", "--trials", "--prune"),
            "Length": ("--iterations-per-trial", "--time-limit", "--validate-positions", "--seed"),
            "Hardware": ("--device", "--precision", "--workers", "--ray"),
            "Output": ("--out", "--json"),
        },
        ("You can press Ctrl-C at any time. Run the same command again to resume.",),
    ),
    "systems": CommandHelp(
        "List model families, recipes and bundled networks",
        ("kibitz systems", "kibitz systems winner", "kibitz systems --new my_system"),
        ("--new", "--json"),
    ),
    "test": CommandHelp(
        "Evaluate a network on held-out games",
        (
            "kibitz test runs/winner-1",
            "kibitz test human my.store --positions 10000",
            "kibitz test gocnn go.store --gnugo-positions 100",
        ),
        ("--positions", "--split", "--out", "--json"),
        {
            "Positions": ("--positions", "--split"),
            "Baselines": (
                "--stockfish-positions",
                "--stockfish",
                "--gnugo-positions",
                "--gnugo",
                "--playout-positions",
            ),
            "Comparison": ("--against", "--engine", "--nodes", "--engine-option"),
            "Special tests": ("--all-ways", "--stranger", "--learning-curve"),
            "Output": ("--out", "--json"),
            "Performance": PERFORMANCE,
        },
        ("It prints a table with 95% confidence intervals and writes an HTML report.",),
        "results/conventions.md",
    ),
    "match": CommandHelp(
        "Play a match between two engines",
        (
            "kibitz match human chessnet --games 20",
            'kibitz match chessnet stockfish --option-b "Skill Level=3"',
            "kibitz match gohuman gnugo --size 9",
        ),
        ("--games", "--nodes", "--movetime", "--option-b", "--pgn", "--json"),
        {
            "Match": ("--game", "--games", "--concurrency", "--ray"),
            "Players": ("--option-a", "--option-b", "--name-a", "--name-b"),
            "Limits (default: 100 ms a move; Go: none)": (
                "--nodes",
                "--nodes-a",
                "--nodes-b",
                "--depth",
                "--depth-a",
                "--depth-b",
                "--movetime",
                "--movetime-a",
                "--movetime-b",
                "--clock",
                "--clock-a",
                "--clock-b",
            ),
            "Openings and adjudication": (
                "--seed",
                "--adjudicate-draw",
                "--adjudicate-win",
                "--max-plies",
                "--hang",
            ),
            "Go": ("--size", "--komi"),
            "Sequential test": ("--sprt", "--alpha", "--beta"),
            "Output": ("--pgn", "--sgf", "--json"),
        },
        (
            "Each opening is played twice, with colors swapped. Run the same command again to resume a match.",
            "Go is played by Chinese rules with positional superko. GNU Go counts the games if it is installed,"
            " otherwise random playouts do.",
        ),
        "how-to/match-engines.md",
    ),
    "bench": CommandHelp(
        "Measure network speed",
        ("kibitz bench", "kibitz bench human --seconds 5", "kibitz bench chessnet --json"),
        ("--seconds", "--provider", "--json"),
    ),
    "uci": CommandHelp(
        "Run as a UCI chess engine",
        ("kibitz uci human --elo 1500", "kibitz uci human --method puct", "kibitz uci runs/personal-NAME"),
        ("--elo", "--method", "--temperature", "--value", "--resign"),
        {
            "Strength and style": ("--elo", "--method", "--temperature", "--value", "--think-times", "--resign"),
            "Performance": ("--provider",),
        },
        (
            "Give this command to a chess program, with the full path of kibitz. The program can change further"
            " options, such as Hash, Threads, MultiPV, SyzygyPath and BookFile.",
        ),
        "how-to/gui-chess.md",
    ),
    "gtp": CommandHelp(
        "Run as a GTP Go engine",
        ("kibitz gtp gohuman", "kibitz gtp gohuman --visits 800", "kibitz gtp gohuman --name KataGo"),
        ("--visits", "--method", "--rules", "--komi", "--resign", "--name"),
        {
            "Strength and style": ("--visits", "--method", "--temperature", "--seed", "--resign"),
            "First game": ("--rules", "--komi"),
            "Program": ("--name", "--threads", "--provider"),
        },
        ("Give this command to a Go program, with the full path of kibitz.",),
        "how-to/gui-go.md",
    ),
    "setup": CommandHelp(
        "Print what to enter in a chess or Go program, with absolute paths",
        ("kibitz setup pychess", "kibitz setup cutechess --rating 1500 --write folder", "kibitz setup sabaki"),
        ("--network", "--rating", "--write", "--json"),
        {"Engine": ("--network", "--rating"), "Output": ("--write", "--json")},
        (
            "Chess: arena, banksia, cutechess, en-croissant, gnome-chess, knights, lichess-bot, nibbler, polyglot,"
            " pychess, scid, xboard.",
            "Go: gogui, gtp2ogs, kigo, lizzie, q5go, quarry, sabaki.",
        ),
        "how-to/gui-chess.md",
    ),
    "export": CommandHelp(
        "Export a network to ONNX, or as a page to share",
        (
            "kibitz export human --to folder",
            "kibitz export human --web site",
            "kibitz export runs/chessnet-1 --to folder --int8",
        ),
        ("--to", "--web"),
        {"Output": ("--to", "--web", "--name", "--card"), "Numbers": ("--int8", "--half")},
        about=(
            "With --web, the folder is a website. Visitors play against the network in their browser, without a"
            " server.",
            "With --to, the folder gets the network, a description of its inputs and outputs, and an example. The"
            " example needs only onnxruntime, numpy and chess. Chess networks only, except deepchess.",
        ),
        page="how-to/share-a-network.md",
    ),
    "export-positions": CommandHelp(
        "Export positions with moves, results and ratings as arrays",
        (
            "kibitz export-positions my.store --to positions.npz",
            "kibitz export-positions my.store --to positions.h5 --positions 0",
            "kibitz export-positions my.store --to test.npz --part test --played",
        ),
        ("--to", "--positions", "--part", "--played", "--json"),
        {
            "Positions": ("--positions", "--part", "--network", "--played", "--view", "--seed"),
            "Output": ("--to", "--json"),
        },
        ("docs/reference/python.md describes the arrays. HDF5 needs pip install 'kibitz[hdf5]'.",),
        "reference/python.md",
    ),
}
"""The help of each command."""

_EACH = "may be given several times"

SETTINGS_OF = "Settings of "
"""The heading of a system's settings, before its name. Their words are in their declaration, not in OPTIONS."""
OPTIONS: Mapping[str, str] = {
    "prepare --game": "Prepare only this game: chess or go. [default: both]",
    "--card": "Also write README.md, a model card. hub: with the front matter of model hubs.",
    "doctor --engine": f"Start this engine, given with its arguments, and check that it replies; {_EACH}.",
    "--json": "Print one JSON object instead of text.",
    "--into": "Folder of the game store to create.",
    "--append": "Add games to an existing store. Games that it already contains are skipped.",
    "import --game": "Game of the records. [default: from the file names, else chess]",
    "--limit": "Account: use only the newest N games. [default: all]",
    "import --limit": "Stop after importing this many games; of an account, use only the newest. [default: no limit]",
    "--rated": "Account: use only rated games.",
    "import --player": f"Keep games in which a player's name contains this text; {_EACH}. [default: all]",
    "--min-rating": "Chess: lowest rating of both players. [default: no limit]",
    "--max-rating": "Chess: highest rating of both players. [default: no limit]",
    "--rank": "Go: lowest rank of both players, such as 5k, 6d or 1p. [default: no limit]",
    "--unrated": "With a rating or rank filter, also keep games of players without one.",
    "--ending": "Keep games with this ending. Chess: checkmate, decisive (no draws), any. Go: counted,"
    " resignation, time, any.",
    "--result": f"Keep games with this result; {_EACH}. [default: all]",
    "--rules": f"Go: keep games under these rules; {_EACH}. [default: all]",
    "--handicap": "Go: largest number of handicap stones; 0 keeps even games only. [default: no limit]",
    "import --size": f"Go: keep games on boards of this size; {_EACH}. [default: all]",
    "--no-bots": "Chess: skip games with a computer player, marked by BOT titles or by WhiteIsComp and similar tags.",
    "--keep-duplicates": "Keep all copies of a game. [default: of games with the same moves, result, players and date,"
    " keep the first; from 60 plies on, players and date may differ]",
    "analyze --since": "Account: use games from this day on: 2015, 2015-06 or 2015-06-30. [default: all]",
    "personal --since": "Account: use games from this day on: 2015, 2015-06 or 2015-06-30. [default: all]",
    "analyze --speed": f"Account: use games of this speed, such as blitz; {_EACH}. [default: all]",
    "personal --speed": f"Account: use games of this speed, such as blitz; {_EACH}. [default: all]",
    "--since": "Keep games from this day on: 2015, 2015-06 or 2015-06-30. [default: no limit]",
    "--until": "Keep games up to this day; 2015 includes the whole year. [default: no limit]",
    "--speed": f"Chess: keep games of this speed, from the time control or the event's name; {_EACH}. [default: all]",
    "--min-plies": "Length of the shortest game to keep, in moves of one side.",
    "--referee": "Go: who finds the territory at the end of scored games: playouts, gnugo, both with auto, or"
    " none. A game is skipped if its recorded result is not confirmed.",
    "--gnugo": "Path of GNU Go. [default: the installed one]",
    "--stockfish": "Path of Stockfish. [default: the installed one]",
    "--unconfirmed": "Go: keep scored games whose result is not confirmed, without territory labels.",
    "--play-out": "Go: GNU Go plays resigned games to the end, a few seconds each, to label their territory. Games"
    " that the recorded winner then loses stay without labels.",
    "--gnugo-limit": "Go: seconds for GNU Go per game. After that the game is skipped.",
    "--validate-share": "Percent of the games for validation, chosen by hash. [default: 5]",
    "--test-share": "Percent of the games for the test, chosen by hash. [default: 5]",
    "--validate-from": "Use games from this day on for validation, instead of a share.",
    "--test-from": "Use games from this day on for the test, instead of a share.",
    "train --validate-share": "Percent of the games for validation. [default: the store's]",
    "train --test-share": "Percent of the games for the test. [default: the store's]",
    "--workers": "Number of processes. [default: 1; with --ray, one per core]",
    "--ray": "Run in parallel with Ray, on this computer or on the cluster at ADDRESS (HOST:PORT). Needs"
    " pip install 'kibitz[ray]'.",
    "--provider": "ONNX Runtime execution provider for large batches. [default: cpu]",
    "--fen": "Chess: start from this position instead of the initial one.",
    "explore --rating": "Games with a mean rating in this range: 1600-2000, 2400-; in Go 5k-3d. [default: all]",
    "--recipe": "Named set of settings: default (best result in half an hour on two cores), long, paper and others."
    " kibitz systems SYSTEM lists them.",
    "train --run": "Folder of the run: the trained network with its logs. [default: runs/SYSTEM-1, or the next free"
    " number]",
    "--start-from": "Initialize from this run or bundled network (fine-tuning).",
    "--time-limit": "Stop after this many minutes. Run the same command again to resume. [default: no limit]",
    "--seed": "Random seed.",
    "--summary-every": "Iterations between progress lines. [default: 1% of all, at most 300]",
    "--validate-every": "Iterations between validations. [default: 5% of all]",
    "--checkpoint-every": "Iterations between checkpoints. [default: 2% of all, at most 2000]",
    "--checkpoint-megabytes": "Disk space for checkpoints, in MB. [default: 200]",
    "train --validate-positions": "Positions per validation. [default: 2048 to 51200, by the length of the training]",
    "tune --validate-positions": "Positions per validation.",
    "--patience": "Stop early after this many validations without improvement. 0 disables early stopping."
    " [default: 20]",
    "--average": "Average the weights over this many iterations. The averages are validated and kept. 0 turns it off.",
    "--against": "Compare the two networks on the same positions, from games that neither was trained on.",
    "test --engine": "Also evaluate this UCI or GTP engine as a predictor of moves; may be given several times."
    " RATING=COMMAND uses an engine for the positions nearest to that rating.",
    "test --nodes": "With --engine: nodes per position.",
    "--engine-option": "With --engine: a UCI option of all engines; may be given several times.",
    "export-positions --positions": "Maximum number of positions, sampled evenly from the games. 0 exports all.",
    "--new": "Create a package with a small system of your own in this new folder, to install and change.",
    "--part": "Part of the store's split. [default: all games]",
    "export-positions --network": "Export the positions that kibitz test uses for this network.",
    "--played": "Only positions in which a move was played, with the move.",
    "--view": "View of the board: mover (the player to move has the white pieces, or the black stones) or board.",
    "export-positions --to": "File to create: .npz for NumPy, .h5 for HDF5.",
    "--precision": "Number format: float32, bf16, or auto (bf16 if the processor supports it). [default: auto]",
    "--device": "Train on auto, cpu or cuda.",
    "--devices": "Number of GPUs to train on; with --device cpu, number of processes. [default: 1]",
    "--num-nodes": "Number of machines. Start the same command on each, with its --node-rank.",
    "--node-rank": "Number of this machine, from 0. Machine 0 writes the run.",
    "--main-address": "Address of machine 0, HOST or HOST:PORT. [default port: 29400]",
    "--compile": "Compile training steps with PyTorch: auto, on or off. Slower to start, then faster. [default: off;"
    " auto in the recipe gpu]",
    "--profile": "Print where the time went.",
    "personal --player": f"Name of the person in the records; {_EACH} for several accounts. Case, accents and word"
    " order are ignored. [default: the player in nearly all games]",
    "--from": "Run or bundled network to start from. [default: human; in Go gohuman]",
    "personal --run": "Folder of the run. [default: runs/personal-NAME]",
    "--update": "Add these games to an existing run, and train again on all of them.",
    "--most-games": "Use only the newest N games. [default: all]",
    "--learning-rates": "Learning rates to try, separated by commas. [default: values around the system's]",
    "--weight-decays": "Weight decays to try. [default: 0, 0.0001, 0.001 and the system's]",
    "--initials": "Initializations to try, as in train --initial. [default: all]",
    "--network": "Which network to train, if the system has several. [default: piece; all if they share layers]",
    "--iterations-per-trial": "Length of each trial, in batches.",
    "--trials": "Sample this many trials (Optuna's TPE) instead of the whole grid.",
    "--prune": "Stop a trial early if its validation is worse than the median.",
    "tune --out": "File of the study. [default: searches/SYSTEM-STORE.journal]",
    "test --out": "HTML report. [default: test-STORE.html in the run; for a bundled network, next to the store]",
    "--split": "Games to use: unseen, validation, training or all. unseen: games that the network was not trained on."
    " training measures overfitting.",
    "--positions": "Maximum number of positions, sampled evenly from the games. 0 uses all.",
    "--stockfish-positions": "Number of positions for the Stockfish baseline at depth 1. Depth 10 gets a fifth. 0 turns"
    " it off.",
    "--gnugo-positions": "Number of positions for the GNU Go baseline: influence and score estimate. 0 turns it off.",
    "--playout-positions": "Number of positions for the random-playout baseline. 0 turns it off.",
    "--all-ways": "Go: average the network over the eight symmetries of the board. Takes eight times as long.",
    "--stranger": "Personal network: also evaluate this network of another person on the same moves.",
    "--learning-curve": "Personal network: also train on 20, 50, 100 and more of the games. Takes minutes.",
    "analyze --game": "Number of the game in the file, from 1. [default: the first of a PGN file, all of an SGF file]",
    "--all": "Analyze every game of the file.",
    "analyze --player": f"Report on this player over all games of a file or folder; {_EACH}. Case, accents and word"
    " order are ignored.",
    "annotate --network": "Run or bundled network that evaluates. [default: human; in Go gohuman]",
    "annotate --out": "Output file; for several files or a folder, the folder of the outputs. [default: next to each"
    " file, with -annotated in the name]",
    "--overwrite": "Replace existing outputs. [default: report them and keep them]",
    "rate --player": f"Name of the player; {_EACH} for several accounts. [default: the player in nearly all games]",
    "--mine": "Report on the player who is in nearly all games.",
    "--page": "Write the report to this HTML page.",
    "analyze --pgn": "Chess: write the games with evaluations and marks to this PGN file. - prints them.",
    "--csv": "Write one row for each move to this CSV file. - prints the rows.",
    "--parquet": "Write one row for each move to this Parquet file.",
    "analyze --sgf": "Go: write the games with scores, marks and territory to this SGF file. - prints them.",
    "--swing": "Mark moves that lose this much with ?!, twice as much with ?, three times with ??. Chess: percentage"
    " points. Go: points. [default: 10; Go 10 on 19x19, 5 on 13x13, 3 on 9x9]",
    "analyze --rating": "Chess: ratings of the players, 1500 for both or 1500,1720 for White and Black. [default: from"
    " the file]",
    "--raw": "Show the network's output without a search.",
    "--checked-by": "Engine that judges the moves instead of the network, such as stockfish or gnugo, or a command with"
    " its arguments. The network still shows what people play.",
    "analyze --nodes": "Search positions per move; 0 turns the search off. [default: 160; Go 16; with --checked-by"
    " 100,000; Go 50]",
    "annotate --nodes": "With --checked-by: search positions per move. [default: 100,000; Go 50]",
    "analyze --engine-option": f"With --checked-by: a UCI option, such as Threads=2; {_EACH}.",
    "annotate --engine-option": f"With --checked-by: a UCI option, such as Threads=2; {_EACH}.",
    "analyze --depth": "Chess: search depth in plies. 2 is fast. With --checked-by, the depth of the engine. [default:"
    " 6]",
    "--move": "Go: show the board after this move. [default: after the largest swing, and at the end]",
    "--owners": "Go, with --json: include the territory map of each position.",
    "--to": "Folder to create.",
    "--web": "Folder to create, with a website: the network plays in the visitor's browser.",
    "export --name": "Name of the network for others. [default: the run's name; of a personal network none]",
    "--int8": "Quantize to int8: faster on a CPU, slightly less accurate.",
    "--half": "Use fp16: half the size, for GPUs.",
    "setup --network": "Run or bundled network that plays. [default: human; in Go gohuman]",
    "--rating": "Chess: play like a human with this rating, from 800 to 2800. [default: full strength]",
    "--write": "Write the files into this folder. Other settings in a JSON file stay. The old file becomes a backup."
    " [default: print them]",
    "--port": "Port of the page. [default: 8642, or the next free one]",
    "--engine": "Add an engine with its arguments, such as stockfish or 'gnugo --mode gtp'; may be given several times."
    " Well-known installed engines are found without this.",
    "board --checked-by": "Engine that judges moves at first instead of the network's own search, such as stockfish or"
    " gnugo; one for each game. You can choose another on the page.",
    "--lan": "Let phones and computers in your network use the board, too: prints an address and its QR code.",
    "--no-browser": "Print the address only.",
    "--seconds": "Seconds per measurement.",
    "uci --method": "Search method. auto picks the best for the network.",
    "gtp --method": "Search method. auto picks the best for the network.",
    "--value": "Another run whose value network the search uses. [default: the same run]",
    "uci --temperature": "Randomness of the moves: 0 plays the best move, 100 samples from the predicted distribution."
    " [default: 0; 100 with --elo and for a personal network]",
    "--elo": "Play like a human with this rating. Evaluates the network once per move; add --method human-search for a"
    " short search. Needs a network with rating inputs, such as human.",
    "--think-times": "Take as long for each move as people of this rating, or this person, would.",
    "uci --resign": "Resign when people of this rating, or this person, would.",
    "--name": "Name of the engine. Lizzie shows territory if the name begins with KataGo.",
    "gtp --rules": "Rules of the first game.",
    "gtp --komi": "Komi of the first game.",
    "gtp --temperature": "Randomness of the opening moves: 0 plays the best move, 100 samples them by visits, or by"
    " score without a search. [default: 0; 100 for a personal network]",
    "gtp --seed": "Random seed for move sampling. [default: random]",
    "--threads": "Number of CPU cores. [default: all]",
    "--visits": "Visits per move if no clock runs. [default: 200]",
    "gtp --resign": "Resign if the win probability is below this for three moves. 0 never resigns.",
    "match --game": "Game, if the players do not determine it. [default: chess]",
    "--games": "Number of games, two per opening.",
    "--concurrency": "Games at the same time. More than the number of cores is unfair.",
    "--option-a": f"Option of A: a UCI option, or in Go an option of kibitz gtp or gnugo (level=5); {_EACH}.",
    "--option-b": f"Option of B; {_EACH}.",
    "--name-a": "Name of A in the games and the table.",
    "--name-b": "Name of B.",
    "match --nodes": "Chess: nodes per move. A range, such as 100-800, is sampled for each move.",
    "match --depth": "Chess: search depth in plies.",
    "--movetime": "Milliseconds per move. Go uses whole seconds.",
    "--clock": "Clock: seconds for the game + seconds per move. In Go the second number applies after the main time.",
    "--nodes-a": "Nodes for A only.",
    "--nodes-b": "Nodes for B only.",
    "--depth-a": "Depth for A only.",
    "--depth-b": "Depth for B only.",
    "--movetime-a": "Milliseconds for A only.",
    "--movetime-b": "Milliseconds for B only.",
    "--clock-a": "Clock for A only.",
    "--clock-b": "Clock for B only.",
    "match --seed": "Random seed for the openings and for node ranges.",
    "--adjudicate-draw": "Chess: end as a draw if both engines score within CP centipawns of 0 for MOVES moves.",
    "--adjudicate-win": "Chess: end as a win if both engines score CP centipawns or more for MOVES moves.",
    "--max-plies": "Longest game. Chess: a draw after that. Go: counted then. [default: 600; Go three times the"
    " intersections]",
    "--hang": "Seconds after which an engine without a time limit forfeits.",
    "match --size": "Go: board size, 9, 13 or 19. [default: 19]",
    "match --komi": "Go: White's compensation in points. [default: 7.5]",
    "--sprt": "Stop as soon as the test decides between ELO0 and ELO1. [default: off]",
    "--alpha": "Probability of accepting ELO1 by mistake.",
    "--beta": "Probability of accepting ELO0 by mistake.",
    "match --pgn": "Chess: file of the games. [default: matches/A-vs-B.pgn]",
    "match --sgf": "Go: file of the games. [default: matches/A-vs-B.sgf]",
}
"""What each option does: "--option" for all commands, "COMMAND --option" for one."""

ARGUMENTS: Mapping[str, str] = {
    "import FILES": "PGN or SGF files, also .zst, .gz, .bz2 or .zip; folders; - for standard input; or accounts:"
    " lichess:NAME, chesscom:NAME, ogs:NAME.",
    "merge STORES": "Two or more game stores of the same game.",
    "rate GAMES": "PGN file or folder with games of one player, or an account: lichess:NAME or chesscom:NAME.",
    "info STORE": "A game store, a run, or the name of a bundled network.",
    "explore STORE": "A game store.",
    "explore MOVES": "Moves that lead to the position, such as e4 e5 Nf3, or in Go Q16 D4.",
    "systems SYSTEM": "Show the recipes of this system.",
    "train SYSTEM": "Model family; kibitz systems lists them.",
    "train STORE": "Game store to train on.",
    "personal GAMES": "PGN or SGF files of the person's games, folders, or a game store; or accounts: lichess:NAME,"
    " chesscom:NAME, ogs:NAME.",
    "tune SYSTEM": "Model family; kibitz systems lists them.",
    "tune STORE": "Game store to train on.",
    "test NETWORK": "A run, or the name of a bundled network.",
    "test STORE": "Game store with the games. [default: the store of the run]",
    "analyze NETWORK": "A run, or the name of a bundled network.",
    "annotate FILES": "PGN or SGF files, also .zst, .gz, .bz2 or .zip; or folders.",
    "analyze FILE": "PGN or SGF file, also .zst, .gz or .bz2; - for standard input; or an account: lichess:NAME,"
    " chesscom:NAME, ogs:NAME.",
    "export NETWORK": "A run, or the name of a bundled network.",
    "export-positions STORE": "A game store.",
    "setup PROGRAM": "Name of the program, such as pychess or sabaki.",
    "uci NETWORK": "A run, or the name of a bundled network.",
    "gtp NETWORK": "A run, or the name of a bundled network.",
    "match PLAYER": "A run, a bundled network, sunfish, gnugo, or the command of a UCI or GTP engine.",
    "match OPPONENT": "The opponent.",
    "bench NETWORK": "A run, or the name of a bundled network. [default: chessnet]",
    "board FILES": "Runs and bundled networks to show first, game stores to explore, or PGN files of your own games.",
}
"""The help of each positional argument. The key is "COMMAND ARGUMENT"."""

METAVARS: Mapping[str, str] = {
    "run": "NETWORK",
    "network": "NETWORK",
    "runs": "FILES",
    "games": "GAMES",
    "stores": "STORES",
    "files": "FILES",
    "moves": "MOVES",
    "game_file": "FILE",
    "a": "PLAYER",
    "b": "OPPONENT",
}
"""Names of arguments in the help, by their parameters' names; others are the name in capitals."""

VALUES: Mapping[str, str] = {
    "--player": "NAME",
    "--rank": "RANK",
    "--min-rating": "RATING",
    "--max-rating": "RATING",
    "--ending": "ENDING",
    "--result": "RESULT",
    "--rules": "RULES",
    "--speed": "SPEED",
    "--referee": "WHO",
    "--gnugo-limit": "SECONDS",
    "--split": "PART",
    "--recipe": "NAME",
    "--run": "FOLDER",
    "--start-from": "NETWORK",
    "--from": "NETWORK",
    "--value": "NETWORK",
    "--stranger": "NETWORK",
    "--time-limit": "MINUTES",
    "--checkpoint-megabytes": "MB",
    "--precision": "FORMAT",
    "--device": "DEVICE",
    "--compile": "WHEN",
    "--main-address": "ADDRESS",
    "--learning-rates": "LIST",
    "--weight-decays": "LIST",
    "--initials": "LIST",
    "--network": "NAME",
    "--seconds": "SECONDS",
    "--hang": "SECONDS",
    "--provider": "NAME",
    "--validate-share": "PERCENT",
    "--test-share": "PERCENT",
    "--validate-from": "DATE",
    "--test-from": "DATE",
    "--seed": "N",
    "--threads": "N",
    "--visits": "N",
    "--port": "N",
    "--to": "FOLDER",
    "--web": "FOLDER",
    "--limit": "N",
    "--name-a": "NAME",
    "--name-b": "NAME",
}
"""What the value of an option is called in the help, if not by its declaration."""
