// Files that the user brings: each row of a table, or an image, is placed by the map.

const LISTED_ROWS = 500, PLACED_COLOUR = [213, 94, 0], OUTSIDE_COLOUR = [200, 0, 90];

class PlacedPanel {
  constructor(data, whenPlaced, whenPicked) {
    Object.assign(this, { data, map: data.map, whenPlaced, whenPicked, rows: [] });
    byId("kinds").textContent = data.image
      ? "an image, or a CSV file with a column for each pixel."
      : `a CSV file with the column${data.map.nInputs > 1 ? "s" : ""} ${listSome(data.map.columns)}.`;
    byId("file").setAttribute("accept", data.image ? "image/*,.csv,.tsv,.txt" : ".csv,.tsv,.txt");
    byId("file").addEventListener("change", (event) => this.take(event.target.files[0]));
    byId("save-placed").addEventListener("click", () => this.save());
    byId("clear-placed").addEventListener("click", () => { this.tell(""); this.show([]); });
    const body = document.body;
    body.addEventListener("dragover", (event) => { event.preventDefault(); body.classList.add("dropping"); });
    body.addEventListener("dragleave", (event) => { if (!event.relatedTarget) body.classList.remove("dropping"); });
    body.addEventListener("drop", (event) => {
      event.preventDefault();
      body.classList.remove("dropping");
      this.take(event.dataTransfer.files[0]);
    });
  }

  tell(text, failed = false) {
    byId("placed-message").textContent = text;
    byId("placed-message").className = failed ? "failed" : "";
  }

  async take(file) {
    if (!file) return;
    try {
      if (/^image\//.test(file.type)) await this.takeImage(file);
      else if (/\.(parquet|npy|npz|gz|xlsx?|zip)$/i.test(file.name)) throw new Error("This page reads CSV files; polyfold transform reads more kinds.");
      else await this.takeTable(file);
    } catch (error) {
      this.tell(`${file.name}: ${error.message}`, true);
    }
    byId("file").value = ""; // so that the same file can be chosen again
  }

  async takeImage(file) {
    if (!this.data.image) throw new Error("The columns of this map are not pixels: give a CSV file.");
    const x = await readImage(file, this.data.image).catch(() => { throw new Error("This is not an image that the browser can read."); });
    this.show([{ number: file.name, x }]);
    this.tell(`Placed ${file.name}.`);
    this.whenPicked(x, `The image ${file.name}.`);
  }

  async takeTable(file) {
    const { rows, numbers, skipped, note } = readSamples(await file.text(), this.map);
    this.show(rows.map((x, k) => ({ number: numbers[k], x })));
    const nOutside = this.rows.filter(({ score }) => score > 1).length;
    const parts = [`Placed ${rows.length.toLocaleString("en")} row${rows.length === 1 ? "" : "s"} of ${file.name}`
      + (this.map.domain ? `, ${nOutside.toLocaleString("en")} outside of what was learned.` : ".")];
    if (skipped.length) {
      parts.push(`${skipped.length.toLocaleString("en")} left out (first: row ${skipped[0].row}, ${skipped[0].why}).`);
    }
    this.tell([...parts, note].filter(Boolean).join(" "), !rows.length);
  }

  show(rows) {
    this.rows = rows.map(({ number, x }) => ({ number, x, y: this.map.place(x), score: this.map.extrapolate(x) }));
    for (const id of ["save-placed", "show-placed", "clear-placed", "placed"]) byId(id).hidden = !rows.length;
    const table = byId("placed"), head = make("tr"), listed = this.rows.slice(0, LISTED_ROWS);
    for (const name of ["row", ...this.map.coordinates, "extrapolation"]) head.append(make("th", name, { scope: "col" }));
    const caption = make("caption", rows.length > LISTED_ROWS ? `The first ${LISTED_ROWS}; all are drawn and saved.` : "");
    table.replaceChildren(caption, head, ...listed.map((row) => this.makeRow(row)));
    this.whenPlaced(this.rows);
  }

  makeRow({ number, x, y, score }) {
    const line = make("tr"), cell = make("td"), pick = make("button", String(number), { title: "Take as the sample" });
    pick.addEventListener("click", () => this.whenPicked(x, typeof number === "number" ? `Row ${number} of your file.` : `The image ${number}.`));
    cell.append(pick);
    line.append(cell, ...Array.from(y, (value) => make("td", showNumber(value, 12))));
    line.append(make("td", score === null ? "" : showNumber(score, 12), score > 1 ? { class: "out" } : {}));
    return line;
  }

  save() {
    const rows = this.rows.map(({ number, y, score }) => [number, ...y, score ?? ""]);
    saveFile("placed.csv", writeDelimited([["row", ...this.map.coordinates, "extrapolation"], ...rows]));
  }
}
