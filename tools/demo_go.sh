#!/bin/sh
# The workflow on the bundled Go games: import, train, test, analyze, gtp. Usage: demo_go.sh KIBITZ FOLDER
set -eu
kibitz=$1
folder=$2
python=$(dirname "$kibitz")/python
games=$("$python" -c 'import importlib.resources as r; print(r.files("kibitz") / "data" / "games.sgfl.zst")')
mkdir -p "$folder"

step() {
    printf '\n\033[1m$ kibitz %s\033[0m\n' "$*"
    "$kibitz" "$@"
}

echo "This demo imports bundled games, trains a network that predicts territory, tests it and analyzes a game."
echo "In the games GNU Go plays itself at low levels. The paper used games of strong players and a larger network."
if [ ! -d "$folder/go.store" ]; then
    step import "$games" --into "$folder/go.store" --ending counted --test-share 10
fi
# A smaller network than the paper's, which learns in minutes. DEMO_MINUTES: the time of the training.
step train gocnn "$folder/go.store" --run "$folder/gocnn" --recipe quick --time-limit "${DEMO_MINUTES:-2.5}"
step test "$folder/gocnn" --out "$folder/test-go.html" --positions 4000 --playout-positions 200 --gnugo-positions 20

# One of the games in a file of its own, as a program for Go saves it.
"$python" -c 'import sys, zstandard
text = zstandard.ZstdDecompressor().stream_reader(open(sys.argv[1], "rb")).read().decode()
print(next(line for line in text.splitlines() if "SZ[19]" in line))' "$games" >"$folder/game.sgf"
step analyze "$folder/gocnn" "$folder/game.sgf"
step analyze "$folder/gocnn" "$folder/game.sgf" --sgf "$folder/game-owners.sgf"

printf '\n\033[1m$ kibitz gtp %s   (what a program for Go says to it)\033[0m\n' "$folder/gocnn"
printf '%s\n' 'boardsize 19' 'clear_board' 'komi 6.5' 'play black Q16' 'genmove white' 'play black D16' 'genmove white' \
    'showboard' 'quit' | "$kibitz" gtp "$folder/gocnn"
printf '\nThe result page: %s\nThe game with its owners: %s\nNow your own games: %s import my-games.sgf --into my.store\n' \
    "$folder/test-go.html" "$folder/game-owners.sgf" "$kibitz"
