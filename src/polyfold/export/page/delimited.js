// Tables of text.

const MISSING = new Set(["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "."]);

function guessDelimiter(text) {
  const header = text.slice(0, Math.max(text.indexOf("\n"), 0) || text.length);
  const counts = [",", ";", "\t", "|"].map((mark) => [header.split(mark).length, mark]);
  return counts.sort((a, b) => b[0] - a[0])[0][1];
}

// Rows of cells; quotes as in RFC 4180, lines that are empty left out.
function parseDelimited(text, delimiter) {
  const rows = [];
  let row = [], cell = "", quoted = false, i = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
    cell = "";
  };
  for (; i < text.length; i++) {
    const mark = text[i];
    if (quoted) {
      if (mark !== '"') cell += mark;
      else if (text[i + 1] === '"') { cell += '"'; i++; }
      else quoted = false;
    } else if (mark === '"' && cell === "") quoted = true;
    else if (mark === delimiter) { row.push(cell); cell = ""; }
    else if (mark === "\n" || mark === "\r") {
      if (mark === "\r" && text[i + 1] === "\n") i++;
      endRow();
    } else cell += mark;
  }
  if (quoted) throw new Error("A quote is opened and not closed.");
  if (cell !== "" || row.length) endRow();
  return rows;
}

// NaN where a value is missing or is no number.
function readNumber(cell) {
  const text = (cell ?? "").trim();
  return MISSING.has(text) || /^[+-]?0[xob]/i.test(text) ? NaN : Number(text);
}

function listSome(names) {
  const more = names.length - 8;
  return names.slice(0, 8).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

// The rows of a text in the columns of a map: {rows, numbers, skipped, note}.
function readSamples(text, map) {
  const cells = parseDelimited(text, guessDelimiter(text));
  if (!cells.length) throw new Error("The file is empty.");
  const header = cells[0].map((name) => name.trim());
  const twice = map.columns.find((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (twice !== undefined) throw new Error(`The file has more than one column ${twice}.`);
  const namesAreNumbers = header.every((name) => Number.isFinite(readNumber(name)));
  let positions, note = "", first = 1;
  if (map.columns.every((name) => header.includes(name))) {
    positions = map.columns.map((name) => header.indexOf(name));
    const extra = header.filter((name) => !map.columns.includes(name));
    if (extra.length) note = `Ignored ${listSome(extra)}: the map does not take ${extra.length > 1 ? "them" : "it"}.`;
  } else if ((namesAreNumbers || !map.hasNames) && header.length === map.nInputs) {
    positions = header.map((_, j) => j);
    if (namesAreNumbers) first = 0;
    note = "Columns were taken in their order.";
  } else if (map.hasNames) {
    throw new Error(`The file lacks ${listSome(map.columns.filter((name) => !header.includes(name)))}.`);
  } else throw new Error(`The file has ${header.length} columns, and the map takes ${map.nInputs}.`);
  const rows = [], numbers = [], skipped = [];
  for (let r = first; r < cells.length; r++) {
    const number = r - first + 1, x = Float64Array.from(positions, (position) => readNumber(cells[r][position]));
    if (cells[r].length !== header.length) skipped.push({ row: number, why: `${cells[r].length} cells instead of ${header.length}` });
    else if (x.every(Number.isFinite)) { rows.push(x); numbers.push(number); }
    else skipped.push({ row: number, why: `no number in column ${map.columns[x.findIndex((value) => !Number.isFinite(value))]}` });
  }
  return { rows, numbers, skipped, note };
}

function writeCell(value) {
  const text = typeof value === "number" ? (Number.isNaN(value) ? "" : String(value)) : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function writeDelimited(rows) {
  return rows.map((row) => row.map(writeCell).join(",") + "\n").join("");
}
