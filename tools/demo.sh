#!/bin/sh
# The workflow on the bundled games: import, train, test, analyze. Usage: demo.sh KIBITZ FOLDER
set -eu
kibitz=$1
folder=$2
games=$("$(dirname "$kibitz")/python" -c 'import importlib.resources as r; print(r.files("kibitz") / "data" / "games.pgn.zst")')
mkdir -p "$folder"

step() {
    printf '\n\033[1m$ kibitz %s\033[0m\n' "$*"
    "$kibitz" "$@"
}

echo "This demo imports bundled games, trains a network that predicts the winner, tests it and analyzes a game."
echo "In the games two weakened Stockfish play each other. After two minutes of training the network mostly counts"
echo "material, so expect about the accuracy of the baseline \"more material\". The paper used other games."
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
printf '\nGame with annotations: %s\nReport: %s\nTo open the board: %s board %s\n' "$folder/marked.pgn" "$folder/test.html" "$kibitz" "$folder/winner"
printf 'To continue with your own games: %s import my-games.pgn --into my.store\n' "$kibitz"
