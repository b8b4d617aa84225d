"use strict";
// Shows the games of the page. All texts of the games are untrusted: they only become text nodes.
(() => {
  const { games, texts } = JSON.parse(document.getElementById("data").textContent);
  const STONES = { X: ["#17191c", "#3c3a36"], O: ["#fbfbf8", "#3c3a36"] };
  const PIECES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
  const GRADES = { "?!": "inaccuracy", "?": "mistake", "??": "blunder" };
  /** The signs of the buttons as SVG paths, because not every font has them. */
  const SIGNS = { first: "M5 4v16h3V4zM20 4v16L9 12z", back: "M17 4v16L6 12z", next: "M7 4v16l11-8z", last: "M16 4v16h3V4zM4 4v16l11-8z", turn: "M7 3l5 6H9v9H5V9H2zM17 21l-5-6h3V6h4v9h3z" };
  const WIDTH = 600, HEIGHT = 110;
  const number = (value, digits, most = digits) => value.toLocaleString(document.documentElement.lang, { minimumFractionDigits: digits, maximumFractionDigits: most });
  const percent = (value) => value.toLocaleString(document.documentElement.lang, { style: "percent" });
  const signed = (value, digits, most = digits) => (value > 0 ? "+" : value < 0 ? "−" : "") + number(Math.abs(value), digits, most);

  /** An element with attributes and children; "on…" are listeners, and strings become text. */
  function el(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  /** An SVG element; the markup contains only numbers and names from this script. */
  function drawing(box, attributes, markup) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    made.setAttribute("viewBox", box);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.innerHTML = markup;
    return made;
  }

  let game, ply, line, turned = false;
  /** The elements of the moves and of the better lines of the game. */
  let buttons, notes, variations, board, readout, graph, cursor, frame;

  /** The position after some moves and, if `line` is set, after moves of a better line in place of the last of them. */
  function position() {
    const cells = [...game.start];
    const steps = line ? [...game.moves.slice(0, ply - 1), ...game.moves[ply - 1].line.slice(0, line)] : game.moves.slice(0, ply);
    for (const step of steps) for (const [cell, letter] of step.cells) cells[cell] = letter;
    const owners = !line && ply === game.moves.length ? game.owners || "" : "";
    return { cells, at: steps.length ? steps[steps.length - 1].at : [], owners };
  }

  function chessBoard({ cells, at }) {
    const place = (cell) => (turned ? [7 - (cell % 8), cell >> 3] : [cell % 8, 7 - (cell >> 3)]).map((each) => each * 45);
    const last = at.map((cell) => { const [x, y] = place(cell); return `<rect class="last" x="${x}" y="${y}" width="45" height="45"/>`; });
    const pieces = cells.map((letter, cell) => {
      const kind = PIECES[letter.toLowerCase()];
      const [x, y] = place(cell);
      return kind ? `<use href="#${letter === letter.toLowerCase() ? "black" : "white"}-${kind}" x="${x}" y="${y}"/>` : "";
    });
    return ["0 0 360 360", `<use href="#board-squares${turned ? "-turned" : ""}"/>${last.join("")}${pieces.join("")}`];
  }

  function goBoard({ cells, at, owners }) {
    const { size } = game;
    const place = (cell) => [26 + 20 * (cell % size), 26 + 20 * Math.floor(cell / size)];
    const stones = cells.map((letter, cell) => {
      if (!(letter in STONES)) return "";
      const [[x, y], [fill, rim]] = [place(cell), STONES[letter]];
      return `<circle cx="${x}" cy="${y}" r="9.4" fill="${fill}" stroke="${rim}" stroke-width=".8"/>`;
    });
    const last = at.map((cell) => { const [x, y] = place(cell); return `<circle cx="${x}" cy="${y}" r="5" fill="none" stroke="#2b7de0" stroke-width="2.6"/>`; });
    // Territory, and dead stones: squares of their owner's color.
    const owned = [...owners].map((letter, cell) => {
      if (!(letter in STONES) || cells[cell] === letter) return "";
      const [[x, y], [fill, rim]] = [place(cell), STONES[letter]];
      return `<rect class="owned" x="${x - 3.5}" y="${y - 3.5}" width="7" height="7" fill="${fill}" stroke="${rim}" stroke-width=".8"/>`;
    });
    const side = (size - 1) * 20 + 52;
    return [`0 0 ${side} ${side}`, `<use href="#go-${size}"/>${stones.join("")}${last.join("")}${owned.join("")}`];
  }

  function name(move) {
    return game.game === "go" ? `${move.number} ${texts[move.side]} ${move.text}` : `${move.number} ${move.text}`;
  }

  function label() {
    if (!ply) return texts.start;
    const move = game.moves[ply - 1];
    if (line) return `${texts.better} ${move.line.slice(0, line).map((step) => step.text).join(" ")}`;
    return name(move) + move.mark;
  }

  function valueWords() {
    const words = [];
    const value = game.values[ply], lead = (game.leads || [])[ply];
    if (typeof value === "number") words.push(`${texts.values[game.value] || game.value}: ${percent(value)}`);
    if (typeof lead === "number") words.push(`${texts.lead}: ${signed(lead, 1)}`);
    if (game.owners && ply === game.moves.length) words.push(texts.owned);
    return words;
  }

  /** Shows a position. to: the number of moves. steps: the number of moves of the better line; 0 for the game. */
  function show(to, steps = 0, scrolls = true) {
    ply = Math.max(0, Math.min(game.moves.length, to));
    line = steps;
    const [box, markup] = (game.game === "go" ? goBoard : chessBoard)(position());
    const words = label();
    board.replaceChildren(drawing(box, { class: "board", role: "img", "aria-label": `${texts.board}: ${words}` }, markup));
    readout.replaceChildren(el("b", {}, words), " ", el("span", { class: "quiet" }, line ? "" : valueWords().join(" · ")));
    buttons.forEach((each, index) => (index + 1 === ply ? each.setAttribute("aria-current", "true") : each.removeAttribute("aria-current")));
    notes.forEach((each, index) => each && each.classList.toggle("current", index + 1 === ply));
    variations.forEach(([at, step, each]) => each.classList.toggle("on", at === ply && step === line));
    if (cursor) cursor.setAttribute("d", `M${(WIDTH * ply) / Math.max(1, game.moves.length)} 0v${HEIGHT}`);
    const place = ply && scrolls ? notes[ply - 1] || buttons[ply - 1] : null;
    if (place) place.scrollIntoView({ block: "nearest" });
  }

  /** The lines of a curve; a position without a value interrupts the line. values: 0 to 1, or null. */
  function curve(values) {
    let path = "";
    values.forEach((value, at) => {
      if (typeof value !== "number") return;
      const x = (WIDTH * at) / Math.max(1, values.length - 1), y = HEIGHT * (1 - value);
      path += `${typeof values[at - 1] === "number" ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    });
    return path;
  }

  function graphOf() {
    const leads = game.leads || [];
    const reach = Math.max(10, ...leads.map((lead) => Math.abs(lead || 0)));
    const dots = game.moves.map((move, at) => {
      const value = game.values[at + 1];
      if (!(move.mark in GRADES) || typeof value !== "number") return "";
      return `<circle class="${GRADES[move.mark]}" cx="${((WIDTH * (at + 1)) / game.moves.length).toFixed(1)}" cy="${(HEIGHT * (1 - value)).toFixed(1)}" r="4"/>`;
    });
    const second = leads.length ? `<path class="second" d="${curve(leads.map((lead) => (typeof lead === "number" ? (lead / reach + 1) / 2 : null)))}"/>` : "";
    const markup = `<rect class="whole" width="${WIDTH}" height="${HEIGHT}"/><path class="middle" d="M0 ${HEIGHT / 2}h${WIDTH}"/>${second}<path class="first" d="${curve(game.values)}"/><path class="cursor" d=""/>${dots.join("")}`;
    const made = drawing(`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`, { class: "course", role: "img", "aria-label": `${texts.graph}: ${texts.values[game.value] || game.value}` }, markup);
    made.addEventListener("click", (event) => {
      const { left, width } = made.getBoundingClientRect();
      const inside = ((event.clientX - left) / width) * (WIDTH + 8) - 4;
      show(Math.round((inside / WIDTH) * game.moves.length));
    });
    cursor = made.querySelector(".cursor");
    const keys = [el("span", { class: "key first" }), texts.values[game.value] || game.value];
    if (second) keys.push(el("span", { class: "key second" }), `${texts.lead} (−${Math.ceil(reach)} … +${Math.ceil(reach)})`);
    return el("figure", {}, made, el("figcaption", { class: "quiet" }, ...keys));
  }

  const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");

  function noteOf(move, at) {
    // Rounded already, with as many decimals as the mark needs.
    const points = signed(move.change, game.game === "go" ? 1 : 0, 5);
    const unit = game.game === "go" ? texts.points : texts.percentage;
    const made = el("div", { class: `note-of ${GRADES[move.mark] || "gained"}` });
    if (typeof move.change === "number") made.append(el("b", {}, `${points} ${unit}`), " ");
    made.append(move.notes.map(sentence).join(" "));
    if (move.line.length) {
      const steps = move.line.map((step, index) => {
        const each = el("button", { type: "button", "aria-label": `${texts.line} ${step.text}`, onclick: () => show(at, index + 1, false) }, step.text);
        variations.push([at, index + 1, each]);
        return each;
      });
      made.append(el("p", { class: "line" }, `${texts.better} `, ...steps));
    }
    return made;
  }

  function movesOf() {
    const made = el("div", { class: "list" });
    let before = true;
    game.moves.forEach((move, index) => {
      const at = index + 1, black = move.side === "black";
      // Chess: Black's move has its number only after a note or at the start.
      const head = game.game === "go" || !black || before ? [el("i", {}, move.number), " "] : [];
      if (game.game === "go") head.push(el("span", { class: `stone ${move.side}`, "aria-label": texts[move.side] }));
      const each = el("button", { type: "button", class: GRADES[move.mark] || "", onclick: () => show(at, 0, false) }, ...head, move.text + move.mark);
      made.append(each, " ");
      buttons.push(each);
      before = Boolean(move.mark);
      notes.push(before ? noteOf(move, at) : null);
      if (before) made.append(notes[index]);
    });
    return made;
  }

  function summaryOf() {
    const { summary } = game;
    if (!summary) return "";
    const order = game.game === "go" ? ["black", "white"] : ["white", "black"];
    const head = ["", texts.accuracy, texts.lost, ...Object.keys(GRADES)];
    const rows = order.map((side) => {
      const { accuracy, average_loss: loss, marks } = summary[side];
      const cells = [
        accuracy.value === null ? "–" : percent(accuracy.value),
        loss.value === null ? "–" : number(game.game === "go" ? loss.value : 100 * loss.value, 1),
        ...["inaccuracies", "mistakes", "blunders"].map((each) => String(marks[each])),
      ];
      return el("tr", {}, el("th", { scope: "row" }, texts[side]), ...cells.map((each) => el("td", {}, each)));
    });
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...head.map((each) => el("th", { scope: "col" }, each)))), el("tbody", {}, ...rows));
    const made = el("section", { class: "sum", "aria-label": texts.summary }, table, el("p", { class: "quiet" }, `${texts.unit[game.game]}.`));
    const turning = summary.turning_point;
    if (turning && game.moves[turning.ply - 1]) {
      const move = game.moves[turning.ply - 1];
      made.append(el("p", {}, `${texts.ahead[turning.ahead || ""]} `, el("button", { type: "button", class: "link", onclick: () => show(turning.ply) }, name(move) + move.mark)));
    }
    return made;
  }

  function open(index) {
    game = games[index];
    [buttons, notes, variations, turned, cursor] = [[], [], [], false, null];
    board = el("div", { class: "boards" });
    readout = el("p", { class: "readout", "aria-live": "polite" });
    const tool = (sign, act) => el("button", { type: "button", "aria-label": texts[sign], title: texts[sign], onclick: act }, drawing("0 0 24 24", { "aria-hidden": "true" }, `<path d="${SIGNS[sign]}"/>`));
    const controls = el("div", { class: "controls" },
      tool("first", () => show(0)), tool("back", () => show(ply - 1)), tool("next", () => show(ply + 1)), tool("last", () => show(game.moves.length)));
    if (game.game === "chess") controls.append(tool("turn", () => { turned = !turned; show(ply, line, false); }));
    graph = game.values.length && game.moves.length ? graphOf() : "";
    const by = game.checked_by ? [`${texts.checked} ${game.checked_by}`] : [];
    const head = el("div", {}, el("h1", {}, ...[game.players[0], el("span", { class: "quiet" }, ` ${game.result} `), game.players[1]]), el("p", { class: "quiet" }, [...game.facts, ...by].join(" · ")));
    const left = el("div", { class: "left" }, el("div", { class: "held" }, board, controls, readout), graph);
    const right = el("div", { class: "right-side" }, summaryOf(), el("section", { "aria-label": texts.moves }, movesOf(), ...(game.moves.some((move) => move.mark) ? [el("p", { class: "quiet" }, texts.legend)] : []), el("p", { class: "quiet keys" }, texts.keys)));
    frame.replaceChildren(head, el("div", { class: "both" }, left, right));
    show(0);
  }

  const choice = el("select", { id: "game", onchange: () => open(choice.selectedIndex) },
    ...games.map((each, index) => el("option", {}, `${index + 1}. ${each.players.join(" – ")}, ${each.result}`)));
  frame = el("main");
  document.getElementById("page").append(
    el("header", { class: "bar-top" }, el("span", { class: "brand" }, "kibitz"), ...(games.length > 1 ? [el("label", { for: "game" }, `${texts.game} `), choice] : [])),
    frame, el("footer", {}, el("p", {}, texts.footer)));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target === choice) return;
    const to = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: game.moves.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
  open(0);
})();
