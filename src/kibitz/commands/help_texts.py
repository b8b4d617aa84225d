"""The texts of `kibitz --help`: what each command does, its examples, and the text of each option.

An option has the same text in every command. If a command needs a different text for an option, the key of this text is
"COMMAND --option". The settings of a system (kind of network) have no text in this module. The help takes the text of a
setting from the declaration of the setting.
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
"""The names of the commands under each heading, in the order of `kibitz --help`."""

SUMMARY = "Train neural networks on chess and Go games; analyze, play and measure with them."
"""What the program kibitz does, in one sentence."""

EXAMPLES = (
    "kibitz board",
    "kibitz analyze human my-games.pgn",
    "kibitz import my-games.pgn --into my.store && kibitz train winner my.store",
)
"""Three commands with which a user can begin."""


@dataclass(frozen=True)
class CommandHelp:
    """The help texts of one command.

    summary: what the command does, at most 70 characters.
    examples: three command lines.
    common: the options that `-h` shows, such as "--into".
    panels: the options under each heading of `--help`, by heading. Options without a heading come last.
    about: further paragraphs of `--help`.
    page: the path, relative to docs/, of the page of the documentation about the command.
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
        "Open a page in your browser: play, analyze and compare networks",
        ("kibitz board", "kibitz board my-games.pgn --checked-by stockfish", "kibitz board runs/winner-1 my.store"),
        ("--checked-by", "--port", "--engine", "--lan", "--no-browser"),
        {
            "Page": ("--port", "--lan", "--no-browser"),
            "Engines": ("--checked-by", "--engine"),
            "Performance": ("--provider",),
        },
        ("Without --lan, only this computer can open the page. Press Ctrl-C to stop kibitz.",),
        "how-to/board.md",
    ),
    "prepare": CommandHelp(
        "Compile the search now, so that the first game starts sooner",
        ("kibitz prepare", "kibitz prepare --game go", "kibitz prepare --json"),
        ("--game", "--json"),
        about=(
            "After an installation or an update, kibitz compiles its search once for your CPU. The other commands"
            " compile it when they first need it. This command compiles it in advance.",
        ),
        page="how-to/install.md",
    ),
    "doctor": CommandHelp(
        "Check this installation and suggest a fix for each problem",
        ("kibitz doctor", "kibitz doctor --engine /path/to/stockfish", "kibitz doctor --json"),
        ("--engine", "--json"),
        about=(
            "kibitz checks versions, CPU, memory, disk, caches, engines and the bundled networks. It changes nothing"
            " and contacts no other computer. The exit code is 1 if there is a problem.",
            "The last line of the output describes your installation. If you report a problem, include this line.",
        ),
        page="how-to/doctor.md",
    ),
    "analyze": CommandHelp(
        "Evaluate every move of a game",
        (
            "kibitz analyze human my-games.pgn",
            "kibitz analyze human lichess:NAME --mine --limit 100 --page report.html",
            "kibitz analyze gohuman my-game.sgf --page game.html",
        ),
        ("--game", "--mine", "--rating", "--nodes", "--json"),
        {
            "Choose games": ("--game", "--all"),
            "Account (lichess:NAME, chesscom:NAME, ogs:NAME)": ("--since", "--speed", "--rated", "--limit"),
            "Player report": ("--mine", "--player"),
            "Evaluation": (
                "--checked-by",
                "--nodes",
                "--depth",
                "--engine-option",
                "--raw",
                "--rating",
                "--practical",
                "--swing",
            ),
            "Output": ("--page", "--pgn", "--sgf", "--csv", "--parquet", "--json", "--by-rating", "--move", "--owners"),
            "Performance": PERFORMANCE,
        },
        (
            "In chess, kibitz shows the expected score, mistakes and better moves. The marks ?!, ? and ?? mean a loss"
            " of 10, 20 and 30 percentage points. Networks that predict moves also show their first choices and the"
            " rank of the played move.",
            "In Go, kibitz shows the score, the points lost and the territory.",
        ),
        "tutorials/find-my-mistakes.md",
    ),
    "annotate": CommandHelp(
        "Write new game files with evaluations, marks and reasons",
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
            "kibitz writes one new file for each file, with all its games: my-games-annotated.pgn for my-games.pgn."
            " Other chess and Go programs can open the new file.",
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
            "Account (lichess:NAME, chesscom:NAME)": ("--since", "--speed", "--rated", "--limit"),
            "Output": ("--json",),
        },
        (
            "The estimate uses only the moves, not the results, and needs at least 5 games. It is on the rating scale"
            " of the site on which the games were played.",
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
            "A game store is kibitz's compact game database. If kibitz skips games, it prints their number for each"
            " reason.",
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
            "`kibitz train SYSTEM --help` also lists the settings of that system, with their values in the recipe.",
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
            "Training needs at least 20 games and takes a few minutes for 1,000 games. You can press Ctrl-C at any"
            " time. Run the same command again to resume. Your games do not leave this computer.",
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
        "Evaluate a network on games that it was not trained on",
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
            "Special tests": ("--all-symmetries", "--stranger", "--learning-curve"),
            "Output": ("--out", "--json"),
            "Performance": PERFORMANCE,
        },
        ("The command prints a table with 95% confidence intervals and writes an HTML report.",),
        "reference/test-rows.md",
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
            "Limits (default: 100 ms a move; in Go, no limit)": (
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
        "Measure the speed of a network",
        ("kibitz bench", "kibitz bench human --seconds 5", "kibitz bench chessnet --json"),
        ("--seconds", "--provider", "--json"),
    ),
    "uci": CommandHelp(
        "Run a network as a UCI chess engine",
        ("kibitz uci human --elo 1500", "kibitz uci human --method puct", "kibitz uci runs/personal-NAME"),
        ("--elo", "--method", "--temperature", "--value", "--resign"),
        {
            "Strength and style": ("--elo", "--method", "--temperature", "--value", "--think-times", "--resign"),
            "Performance": ("--provider",),
        },
        (
            "Enter this command in a chess program, with the full path of kibitz. The program can also set other"
            " options, such as Hash, Threads, MultiPV, SyzygyPath and BookFile.",
        ),
        "how-to/gui-chess.md",
    ),
    "gtp": CommandHelp(
        "Run a network as a GTP Go engine",
        ("kibitz gtp gohuman", "kibitz gtp gohuman --visits 800", "kibitz gtp gohuman --rank 5k"),
        ("--visits", "--rank", "--method", "--rules", "--komi", "--resign", "--name"),
        {
            "Strength and style": ("--visits", "--rank", "--method", "--temperature", "--seed", "--resign"),
            "Rules and komi": ("--rules", "--komi"),
            "Program": ("--name", "--threads", "--provider"),
        },
        ("Enter this command in a Go program, with the full path of kibitz.",),
        "how-to/gui-go.md",
    ),
    "setup": CommandHelp(
        "Print what to enter in a chess or Go program to start kibitz",
        (
            "kibitz setup pychess",
            "kibitz setup cutechess --rating 1500 --write folder",
            "kibitz setup sabaki --rank 5k",
        ),
        ("--network", "--rating", "--rank", "--write", "--json"),
        {"Engine": ("--network", "--rating", "--rank"), "Output": ("--write", "--json")},
        (
            "Chess: arena, banksia, cutechess, en-croissant, gnome-chess, knights, lichess-bot, nibbler, polyglot,"
            " pychess, scid, xboard.",
            "Go: gogui, gtp2ogs, kigo, lizzie, q5go, quarry, sabaki.",
        ),
        "how-to/gui-chess.md",
    ),
    "export": CommandHelp(
        "Export a network as an ONNX file, or as a web page to share",
        (
            "kibitz export human --to folder",
            "kibitz export human --web site",
            "kibitz export runs/chessnet-1 --to folder --int8",
        ),
        ("--to", "--web"),
        {"Output": ("--to", "--web", "--name", "--card"), "Number format": ("--int8", "--half")},
        about=(
            "With --web, the folder is a website. Visitors play against the network in their browser, without a"
            " server.",
            "With --to, the folder contains the network, a description of its inputs and outputs, and an example. The"
            " example needs only onnxruntime, numpy and chess. --to works for all chess networks except deepchess.",
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
        ("docs/reference/python.md describes the arrays. To write HDF5 files, run pip install 'kibitz[hdf5]' first.",),
        "reference/python.md",
    ),
}
"""The help texts of each command, by the command's name."""

_EACH = "may be given several times"

SETTINGS_OF = "Settings of "
"""The first words of the heading above the settings of a system (kind of network). The system's name follows. The texts
of settings are in their declarations, not in OPTIONS.
"""
OPTIONS: Mapping[str, str] = {
    "prepare --game": "Compile only the functions for this game: chess or go. [default: both]",
    "--card": "Also write README.md, a model card. With hub, the card begins with the header that model hubs"
    " read. No other value is allowed.",
    "doctor --engine": f"Start this engine, with its arguments, and check that it replies; {_EACH}.",
    "--json": "Print one JSON object instead of text.",
    "--into": "Folder of the game store to create.",
    "--append": "Add games to an existing store. Games that the store already contains are skipped.",
    "import --game": "Game in the files: chess or go. [default: recognized from the files, else chess]",
    "--limit": "For games from an account: use only the newest N games. [default: all]",
    "import --limit": "Stop after this many imported games; from an account, import only the newest. [default: no"
    " limit]",
    "--rated": "For games from an account: use only rated games.",
    "import --player": f"Keep games in which a player's name contains this text; {_EACH}. [default: all]",
    "--min-rating": "Chess: both players must have at least this rating. [default: no limit]",
    "--max-rating": "Chess: both players must have at most this rating. [default: no limit]",
    "--rank": "Go: both players must have at least this rank, such as 5k, 6d or 1p. [default: no limit]",
    "--unrated": "With a rating or rank filter, also keep games of players without a rating or rank.",
    "--ending": "Keep games with this ending. In chess: checkmate, decisive (no draws) or any; in Go: counted,"
    " resignation, time or any.",
    "--result": f"Keep games with this result; {_EACH}. [default: all]",
    "--rules": f"Go: keep only games played under these rules; {_EACH}. [default: all]",
    "--handicap": "Go: largest number of handicap stones; 0 keeps even games only. [default: no limit]",
    "import --size": f"Go: keep games on boards of this size; {_EACH}. [default: all]",
    "--no-bots": "Chess: skip games with a computer player. kibitz recognizes computer players by the title BOT, or by"
    " tags such as WhiteIsComp.",
    "--keep-duplicates": "Keep all copies of a game. [default: of several games with the same moves, result, players"
    " and date, keep only the first; in games of 60 plies or more, players and date may differ]",
    "--since": "For games from an account: use only games played on or after this date, given as 2015, 2015-06 or"
    " 2015-06-30. [default: all]",
    "--speed": f"For games from an account: use only games of this speed, such as blitz; {_EACH}. [default: all]",
    "import --since": "Keep games played on or after this date: 2015, 2015-06 or 2015-06-30. [default: no limit]",
    "--until": "Keep games up to this date; 2015 includes the whole year. [default: no limit]",
    "import --speed": f"Chess: keep games of this speed, which kibitz takes from the time control or the event's name;"
    f" {_EACH}. [default: all]",
    "--min-plies": "Keep games of at least this many plies (moves of both players).",
    "--referee": "Go: method that determines the territory at the end of scored games: playouts, gnugo, auto (both)"
    " or none. If this territory does not confirm the recorded result, the game is skipped.",
    "--gnugo": "Path of GNU Go. [default: the installed GNU Go]",
    "--stockfish": "Path of Stockfish. [default: the installed Stockfish]",
    "--unconfirmed": "Go: also keep scored games whose recorded result --referee does not confirm, but without"
    " territory labels.",
    "--play-out": "Go: let GNU Go play resigned games to the end, a few seconds each, to label their territory. If the"
    " recorded winner then loses, the game stays without labels.",
    "--gnugo-limit": "Go: seconds that GNU Go may use for a game. If GNU Go needs more time, the game is skipped.",
    "--validate-share": "Percentage of the games to put into the validation set. kibitz chooses these games by a hash."
    " [default: 5]",
    "--test-share": "Percentage of the games to put into the test set. kibitz chooses these games by a hash."
    " [default: 5]",
    "--validate-from": "Use the games played on or after this date as the validation set, instead of a percentage of"
    " all games.",
    "--test-from": "Use the games played on or after this date as the test set, instead of a percentage of all games.",
    "train --validate-share": "Percentage of the games to put into the validation set. [default: the store's]",
    "train --test-share": "Percentage of the games to put into the test set. [default: the store's]",
    "--workers": "Number of processes that work in parallel. [default: 1; with --ray, one per core]",
    "--ray": "Use Ray to run in parallel, on this computer or on the cluster at ADDRESS (HOST:PORT). To install Ray:"
    " pip install 'kibitz[ray]'.",
    "--provider": "ONNX Runtime execution provider (the hardware to use) for large batches: cpu, cuda, openvino or"
    " auto. [default: cpu]",
    "--fen": "Chess: start from this position (FEN) instead of the initial position.",
    "explore --rating": "Use only games with a mean rating in this range, such as 1600-2000 or 2400-; in Go, such as"
    " 5k-3d. [default: all]",
    "--recipe": "Named set of settings: default (best result in less than an hour), long, paper and others."
    " kibitz systems SYSTEM lists them.",
    "train --run": "Folder of the run: the trained network with its logs. [default: runs/SYSTEM-1, or the next free"
    " number]",
    "--start-from": "Start from the weights of this run or bundled network (fine-tuning).",
    "--time-limit": "Stop after this many minutes. Run the same command again to resume. [default: no limit]",
    "train --time-limit": "Stop after this many minutes of training. The preparation before the first iteration does"
    " not count. Run the same command again to resume. [default: no limit]",
    "personal --time-limit": "Stop after this many minutes. The preparation counts, too. Run the same command"
    " again to resume. [default: no limit]",
    "--seed": "Random seed.",
    "--summary-every": "Number of iterations between progress lines. [default: 1% of all iterations, at most 300]",
    "--validate-every": "Number of iterations between validations. [default: 5% of all iterations]",
    "--checkpoint-every": "Number of iterations between checkpoints. [default: 2% of all iterations, at most 2000]",
    "--checkpoint-megabytes": "Maximum disk space for checkpoints, in MB. [default: 200]",
    "train --validate-positions": "Number of positions for each validation. [default: 2048 to 51200, more for longer"
    " training]",
    "tune --validate-positions": "Number of positions for each validation.",
    "--patience": "Stop early after this many validations without improvement. 0 disables early stopping."
    " [default: 20]",
    "--average": "Average the weights over this many iterations. The averaged weights are validated and kept. 0 turns"
    " averaging off.",
    "--against": "Compare the tested network with this second network, on the same positions from games that neither"
    " network was trained on.",
    "test --engine": f"Also test how well this UCI or GTP engine predicts the moves; {_EACH}. RATING=COMMAND uses an"
    " engine only for the moves of players whose rating is nearest to RATING.",
    "test --nodes": "With --engine: number of nodes that the engine searches for each tested position.",
    "--engine-option": f"With --engine: set this UCI option, such as Threads=2, in all engines; {_EACH}.",
    "export-positions --positions": "Maximum number of positions, sampled at random from all positions of the games. 0"
    " exports all.",
    "--new": "Create a Python package in this new folder, with a small example system that you can install and change.",
    "--part": "Export only this part of the store's split. [default: all games]",
    "export-positions --network": "Export the positions that kibitz test uses for this network.",
    "--played": "Leave out the last position of each game, in which no move was played, and also export the played"
    " moves.",
    "--view": "View of the board; mover: the player to move has the white pieces (in Go, the black stones); board: the"
    " real colors.",
    "export-positions --to": "File to create: .npz for NumPy, .h5 for HDF5.",
    "--precision": "Number format: float32, bf16, or auto (bf16 if the device supports it). [default: auto]",
    "--device": "Device to train on: cpu, cuda (the GPU), or auto to let kibitz choose.",
    "--devices": "Number of GPUs to train on; with --device cpu, number of processes. [default: 1]",
    "--num-nodes": "Number of machines that train together. Start the same command on each machine, with its"
    " --node-rank.",
    "--node-rank": "Number of this machine, counted from 0. Only machine 0 writes the files of the run.",
    "--main-address": "Address of machine 0, HOST or HOST:PORT. [default port: 29400]",
    "--compile": "Compile the training steps with PyTorch: on, off, or auto (only on a GPU). Training starts more"
    " slowly and then runs faster. [default: off; with the recipe gpu, auto]",
    "--profile": "Print how much time each part of training took.",
    "personal --player": f"Name of the person in the records; {_EACH}, if the person has several accounts. Case,"
    " accents and word order are ignored. [default: the player who appears in nearly all games]",
    "--from": "Network to start from: a run or a bundled network. [default: human; in Go, gohuman]",
    "personal --run": "Folder of the run. [default: runs/personal-NAME]",
    "--update": "Add these games to an existing run, and train again on all games of the run.",
    "--most-games": "Train on the newest N games only. [default: all]",
    "--learning-rates": "Learning rates to try, separated by commas. [default: the default learning rate of SYSTEM,"
    " about a third of it, and about three times it]",
    "--weight-decays": "Weight decays to try, separated by commas. [default: 0, 0.0001, 0.001 and the default weight"
    " decay of SYSTEM]",
    "--initials": "Initial weights to try, separated by commas; see --initial of kibitz train. [default: all]",
    "--network": "Which network to train, if SYSTEM has several networks. [default: piece, or all if the networks"
    " share layers]",
    "--iterations-per-trial": "Length of each trial, in batches.",
    "--trials": "Try this many combinations of values, chosen by Optuna's TPE sampler, instead of the whole grid.",
    "--prune": "Stop a trial early if its validation result is worse than the median result of the earlier trials.",
    "tune --out": "File that records the trials. [default: searches/SYSTEM-STORE.journal]",
    "test --out": "File for the HTML report. [default: test-STORE.html in the run's folder; for a bundled network,"
    " next to the store]",
    "--split": "Games to use: unseen, validation, training or all. unseen means games that the network was not trained"
    " on; training measures overfitting.",
    "--positions": "Maximum number of positions, sampled at random from all positions of the games. 0 uses all.",
    "--stockfish-positions": "Number of positions that Stockfish evaluates as a baseline at depth 1. At depth 10, it"
    " evaluates a fifth of them. 0 turns the baseline off.",
    "--gnugo-positions": "Number of positions that GNU Go evaluates as a baseline, by its influence function and by"
    " its score estimate. 0 turns the baseline off.",
    "--playout-positions": "Number of positions to evaluate with random playouts, as a baseline. 0 turns the baseline"
    " off.",
    "--all-symmetries": "Go: average the network's outputs over the eight symmetries of the board. The test then takes"
    " eight times as long.",
    "--stranger": "Also evaluate this network, which imitates another person, on the same moves. Only for personal"
    " networks.",
    "--learning-curve": "Also train networks on 20, 50, 100 and more of the person's games. This takes minutes."
    " Only for personal networks.",
    "analyze --game": "Number of the game in the file, counted from 1. [default: the first of a PGN file, all of an"
    " SGF file]",
    "--all": "Analyze every game in the file.",
    "analyze --player": f"Report on this player over all games of a file or folder; {_EACH}. Case, accents and word"
    " order are ignored.",
    "annotate --network": "Network that evaluates: a run or a bundled network. [default: human; in Go, gohuman]",
    "annotate --out": "Output file; for several files or a folder, the folder for the outputs. [default: next to each"
    " file, with -annotated in the name]",
    "--overwrite": "Replace existing output files. [default: keep them and report them]",
    "rate --player": f"Name of the player; {_EACH}, if the player has several accounts. [default: the player who"
    " appears in nearly all games]",
    "--mine": "Report on the player who appears in nearly all games. For another player, use --player NAME.",
    "--page": "Write an HTML page to this file: the games on a board or, with --mine or --player, the report on the"
    " player. The page opens without kibitz.",
    "analyze --pgn": 'Chess: write the games with evaluations and marks to this PGN file. The file name "-" prints'
    " them.",
    "--csv": 'Write one row for each move to this CSV file. The file name "-" prints the rows.',
    "--parquet": "Write one row for each move to this Parquet file.",
    "analyze --sgf": 'Go: write the games with scores, marks and territory to this SGF file. The file name "-" prints'
    " them.",
    "--practical": "Chess: for each marked move, also show the practical choice: the move that scores best against the"
    " opponent's likely replies. kibitz shows this move only if it scores at least 5 percentage points more than the"
    " best move. This takes a few seconds for each mark. Only for the network human.",
    "--swing": "Moves that lose this amount or more are marked ?!: percentage points in chess, points in Go. A loss"
    " of twice this amount is marked ?, and three times this amount ??. Percentage points are of the expected score."
    " [default: 10; in Go, 10 on 19x19, 5 on 13x13, 3 on 9x9]",
    "analyze --rating": "Chess: ratings of the players, 1500 for both or 1500,1720 for White and Black. [default: from"
    " the file]",
    "--raw": "Show the network's output without a search.",
    "--checked-by": "Engine that judges the moves instead of the network, such as stockfish or gnugo, or a command with"
    " its arguments. The network still shows what people play.",
    "analyze --nodes": "Number of positions to search for each move; 0 turns the search off. [default: chess 160, Go"
    " 16; with --checked-by, chess 100,000, Go 50]",
    "annotate --nodes": "With --checked-by: number of positions to search for each move. [default: chess 100,000, Go"
    " 50]",
    "analyze --engine-option": f"With --checked-by: set this UCI option of the engine, such as Threads=2; {_EACH}.",
    "annotate --engine-option": f"With --checked-by: set this UCI option of the engine, such as Threads=2; {_EACH}.",
    "analyze --depth": "Chess: search depth in plies; 2 is fast. With --checked-by, the depth of the engine's search."
    " [default: 6]",
    "--by-rating": "Chess: write a chart of the moves that players rated 800 to 2800 choose in one position, to this"
    " SVG or PNG file. The chart marks traps: bad moves that weak players choose more often than strong players. Choose"
    " the position with --move.",
    "--move": "Go: show the board after the move with this number. Chess, with --by-rating: the position after this"
    " number of plies. [default: Go, after the largest swing and at the end; chess, at the end]",
    "--owners": "Go, with --json: include the ownership map of each position.",
    "--to": "Folder to create.",
    "--web": "Create a website in this folder. The network plays in the visitor's browser.",
    "export --name": "Public name of the network. [default: the run's name; for a personal network,"
    ' "a person", unless you answer yes when kibitz asks for permission to write the name]',
    "--int8": "Quantize the network's weights and activations to int8: faster on a CPU, but slightly less accurate.",
    "--half": "Store the network's weights as fp16: half the size, for GPUs.",
    "setup --network": "Network that plays: a run or a bundled network. [default: human; in Go, gohuman]",
    "--rating": "Chess: play like a human with this rating, from 800 to 2800. [default: none; human then plays its"
    " most likely move]",
    "setup --rank": "Go: imitate players of this rank, from 15k to 9d. [default: none; the engine then plays its best"
    " move after a search]",
    "--write": "Write the files into this folder. In an existing JSON file, the other settings are kept, and the old"
    " file becomes a backup. [default: print the files]",
    "--port": "Port on which kibitz serves the page. [default: 8642, or the next free port]",
    "--engine": f"Add an engine with its arguments, such as stockfish or 'gnugo --mode gtp'; {_EACH}. kibitz finds"
    " well-known installed engines without this option.",
    "board --checked-by": "Engine that judges the moves instead of the network's own search, such as stockfish or"
    " gnugo. To choose an engine for chess and one for Go, repeat the option. You can choose another engine on the"
    " page.",
    "--lan": "Let other devices in your local network open the page. kibitz prints the address of the page, and a"
    " QR code of the address.",
    "--no-browser": "Only print the address, and do not open a browser.",
    "--seconds": "Seconds per measurement.",
    "uci --method": "Search method; auto picks the best method for the network.",
    "gtp --method": "Search method; auto picks the best method for the network.",
    "--value": "Use the values of this network in the search. [default: the network that plays]",
    "uci --temperature": "Randomness of the moves: 0 plays the best move, 100 plays each move as often as predicted."
    " [default: 0; 100 with --elo and for a personal network]",
    "--elo": "Play like a human with this rating; needs a network with rating inputs, such as human. kibitz evaluates"
    " the network once per move; for a short search, add --method human-search.",
    "--think-times": "Take as long for each move as a person with the rating of --elo. A personal network takes as long"
    " as the person whom it imitates.",
    "uci --resign": "Resign when a person with the rating of --elo would resign. A personal network resigns when"
    " the person whom it imitates would resign.",
    "--name": "Name of the engine. Lizzie shows territory if the name begins with KataGo.",
    "gtp --rules": "Rules to use until the GUI or server sets others.",
    "gtp --komi": "Komi to use until the GUI or server sets another.",
    "gtp --temperature": "Randomness of the opening moves; with --rank or a personal network, of all moves. 0 plays"
    " the best move. 100 samples a move by its visits, or without a search by its predicted probability or score."
    " [default: 0; 100 with --rank and for a personal network]",
    "gtp --rank": "Imitate players of this rank, from 15k to 9d. The engine then plays without a search, and its"
    " strength is not measured. The network must have rank inputs, like gohuman. [default: no imitation]",
    "gtp --seed": "Random seed for move sampling. [default: random]",
    "--threads": "Number of CPU cores. [default: all]",
    "--visits": "Search visits per move in games without a clock. [default: 200]",
    "gtp --resign": "Resign if the win probability is below this percentage for three moves. 0 never resigns.",
    "match --game": "Game to play, chess or go, if the players do not determine it. [default: chess]",
    "--games": "Number of games, two per opening.",
    "--concurrency": "Number of games played at the same time. With more games than cores, the engines slow each other"
    " down.",
    "--option-a": "Set this option of player A: a UCI option, or in Go an option of kibitz gtp or of"
    f" gnugo, such as level=5; {_EACH}.",
    "--option-b": f"Set this option of player B; {_EACH}.",
    "--name-a": "Name of player A in the games and the table.",
    "--name-b": "Name of player B in the games and the table.",
    "match --nodes": "Chess: number of nodes to search per move. If you give a range, such as 100-800, kibitz"
    " picks a random number from it for each move.",
    "match --depth": "Chess: search depth in plies.",
    "--movetime": "Milliseconds per move; in Go, a multiple of 1000.",
    "--clock": "Seconds for the game + seconds per move, such as 10+0.1. In Go, the seconds per move begin after the"
    " main time.",
    "--nodes-a": "Chess: number of nodes that player A searches per move, or a range such as 100-800.",
    "--nodes-b": "Chess: number of nodes that player B searches per move, or a range such as 100-800.",
    "--depth-a": "Chess: search depth of player A in plies.",
    "--depth-b": "Chess: search depth of player B in plies.",
    "--movetime-a": "Milliseconds per move for player A.",
    "--movetime-b": "Milliseconds per move for player B.",
    "--clock-a": "Clock of player A: seconds for the game + seconds per move.",
    "--clock-b": "Clock of player B: seconds for the game + seconds per move.",
    "match --seed": "Random seed for the openings, and for the number of nodes if you give a range.",
    "--adjudicate-draw": "Chess: end a game as a draw if both engines score the position within CP centipawns of 0 for"
    " MOVES moves.",
    "--adjudicate-win": "Chess: end a game as a win if both engines score the same side at CP centipawns or more for"
    " MOVES moves.",
    "--max-plies": "Maximum length of a game, in plies. At this length, a game of chess is a draw, and a game of Go is"
    " counted. [default: 600; in Go, three times the number of intersections]",
    "--hang": "If an engine without a time limit gives no move for this many seconds, it forfeits the game.",
    "match --size": "Go: board size, 9, 13 or 19. [default: 19]",
    "match --komi": "Go: komi, the points that White gets. [default: 7.5]",
    "--sprt": "Stop the match as soon as the test decides between the Elo differences ELO0 and ELO1. [default: off]",
    "--alpha": "Probability of a false positive: --sprt accepts ELO1 although ELO0 is true.",
    "--beta": "Probability of a false negative: --sprt accepts ELO0 although ELO1 is true.",
    "match --pgn": "Chess: write the games to this PGN file. [default: matches/A-vs-B.pgn]",
    "match --sgf": "Go: write the games to this SGF file. [default: matches/A-vs-B.sgf]",
}
"""The help text of each option. The key "--option" is for all commands, and "COMMAND --option" for one command only."""

ARGUMENTS: Mapping[str, str] = {
    "import FILES": "PGN or SGF files (also .zst, .gz, .bz2 or .zip). You can also name folders, accounts"
    ' (lichess:NAME, chesscom:NAME, ogs:NAME), or "-" for standard input.',
    "merge STORES": "Two or more game stores of the same game.",
    "rate GAMES": "PGN file or folder with games of one player, or an account: lichess:NAME or chesscom:NAME.",
    "info STORE": "A game store, a run, or the name of a bundled network.",
    "explore STORE": "A game store.",
    "explore MOVES": "Moves that lead to the position, such as e4 e5 Nf3, or in Go Q16 D4.",
    "systems SYSTEM": "Name of a model family; the command then shows its recipes.",
    "train SYSTEM": "Name of a model family; the command kibitz systems lists the names.",
    "train STORE": "Game store to train on.",
    "personal GAMES": "PGN or SGF files of the person's games, folders, or a game store. You can also name accounts:"
    " lichess:NAME, chesscom:NAME, ogs:NAME.",
    "tune SYSTEM": "Name of a model family; the command kibitz systems lists the names.",
    "tune STORE": "Game store to train on.",
    "test NETWORK": "A run, or the name of a bundled network.",
    "test STORE": "Game store with the games. [default: the store of the run]",
    "analyze NETWORK": "A run, or the name of a bundled network.",
    "annotate FILES": "PGN or SGF files (also .zst, .gz, .bz2 or .zip). You can also name folders.",
    "analyze FILE": "PGN or SGF file (also .zst, .gz or .bz2). You can also name an account (lichess:NAME,"
    ' chesscom:NAME, ogs:NAME), or "-" for standard input.',
    "export NETWORK": "A run, or the name of a bundled network.",
    "export-positions STORE": "A game store.",
    "setup PROGRAM": "Name of the program, such as pychess or sabaki.",
    "uci NETWORK": "A run, or the name of a bundled network.",
    "gtp NETWORK": "A run, or the name of a bundled network.",
    "match PLAYER": "Player A: a run, a bundled network, sunfish, gnugo, or the command of a UCI or GTP engine.",
    "match OPPONENT": "Player B, with the same choices as for PLAYER.",
    "bench NETWORK": "A run, or the name of a bundled network. [default: chessnet]",
    "board FILES": "Runs and bundled networks to open first, game stores to explore, or PGN and SGF files of games.",
}
"""The help text of each positional argument, by "COMMAND ARGUMENT"."""

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
"""The name of each argument in the help, by the name of its parameter. If a parameter is not listed here, the help
shows its name in capitals.
"""

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
    "--web": "FOLDER",
    "--limit": "N",
    "--name-a": "NAME",
    "--name-b": "NAME",
}
"""The word for an option's value in the help, such as NAME in "--player NAME". If an option is not listed here, its
declaration contains the word.
"""
