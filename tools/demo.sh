#!/bin/sh
# The whole road on the games that come with kibitz: import, train, test, analyze. Usage: demo.sh KIBITZ FOLDER
set -eu
kibitz=$1
folder=$2
games=$("$(dirname "$kibitz")/python" -c 'import importlib.resources as r; print(r.files("kibitz") / "data" / "games.pgn.zst")')
mkdir -p "$folder"

step() {
    printf '\n\033[1m$ kibitz %s\033[0m\n' "$*"
    "$kibitz" "$@"
}

echo "These are games of Stockfish against itself at limited strength: what follows shows the road,"
echo "and its figures are not the paper's."
if [ ! -d "$folder/games.store" ]; then
    step import "$games" --into "$folder/games.store" --ending checkmate
fi
# Two minutes' worth; without --recipe it takes the default, up to half an hour (kibitz systems winner). DEMO_MINUTES:
# the time of the training.
step train winner "$folder/games.store" --run "$folder/winner" --recipe quick --time-limit "${DEMO_MINUTES:-2.5}"
step test "$folder/winner" --out "$folder/test.html" --stockfish-positions 500
step analyze "$folder/winner" "$games" --game 42

# What a network for human moves adds, without a training: choices by rating, and the game with marks and better moves.
printf '\nThe bundled network human predicts the moves of people. What players of two ratings would choose in game 42:\n'
"$(dirname "$kibitz")/python" "$(dirname "$0")/demo_ratings.py" "$games" 42
step analyze human "$games" --game 42 --pgn "$folder/marked.pgn"
if [ -n "${DISPLAY:-}" ]; then
    "$(dirname "$kibitz")/python" -m webbrowser "$folder/test.html" >/dev/null 2>&1 || true
fi
printf '\nThe game with marks: %s\nThe result page: %s\nThe board in the browser: %s board %s\n' "$folder/marked.pgn" "$folder/test.html" "$kibitz" "$folder/winner"
printf 'Now your own games: %s import my-games.pgn --into my.store\n' "$kibitz"
