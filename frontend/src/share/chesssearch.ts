/** Chess as a search needs it. */

import type { NormalMove } from "chessops/types";
import { movesOf, rowOf, whiteOf } from "./chessanswers";
import { legalMoves, Played } from "./chessrules";
import type { Ask } from "./local";
import type { Shared } from "./network";
import type { SearchRules } from "./puct";

/** A network with rating inputs is asked about players of this rating: their moves are the best that it knows. */
const RATING = 2400;

export function searchRules(shared: Shared, ask: Ask): SearchRules<Played, NormalMove> {
  const rating = shared.network.rated ? RATING : 0;
  return {
    after(at, move) {
      const then = at.copy();
      then.push(move);
      return then;
    },
    over(at) {
      const end = at.end();
      return end === null ? null : end === "checkmate" ? -1 : 0;
    },
    wins(at) {
      for (const { move } of legalMoves(at.board)) {
        const then = at.board.clone();
        then.play(move);
        if (then.isCheck() && !then.hasDests()) return move;
      }
      return null;
    },
    async look(positions) {
      const answers = await ask(positions.map((at) => rowOf(at, shared.side_inputs, [rating, rating])));
      return positions.map((at, place) => {
        const white = whiteOf(at.board, answers[place]!) ?? 0.5;
        const moves = movesOf(at.board, answers[place]!).map(({ move, p }) => ({ move, prior: p }));
        return { value: at.board.turn === "white" ? 2 * white - 1 : 1 - 2 * white, moves };
      });
    },
  };
}
