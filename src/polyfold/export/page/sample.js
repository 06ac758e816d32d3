// One sample: a slider for each column, where it lands, how far outside it lies, and the slopes there.

const SHOWN_SLIDERS = 12, SHOWN_SLOPES = 10;

class SamplePanel {
  constructor(data, whenMoved) {
    Object.assign(this, { data, map: data.map, whenMoved, showsAll: false });
    this.x = Float64Array.from(this.map.domain ? this.map.domain.center : this.map.shift);
    this.limits = this.findLimits();
    this.build();
    this.take(this.x, "The mean of the training samples.");
  }

  // How far each slider goes: the training range and a tenth more on each side.
  findLimits() {
    const { map } = this, ranges = map.domain && map.domain.ranges;
    return map.columns.map((_, j) => {
      const [low, high] = ranges ? [ranges[0][j], ranges[1][j]] : [this.x[j] - 3 * map.scale, this.x[j] + 3 * map.scale];
      const margin = 0.1 * (high - low) || 0.5 * Math.abs(low) || 1;
      return [low - margin, high + margin];
    });
  }

  build() {
    const { map, data } = this, many = map.nInputs > SHOWN_SLIDERS;
    byId("order-hint").textContent = map.nInputs > 1 ? "What moves the coordinates most comes first." : "";
    byId("filter").hidden = !many;
    byId("more").hidden = !many;
    byId("filter").addEventListener("input", () => this.listSliders());
    byId("more").addEventListener("click", () => { this.showsAll = !this.showsAll; this.listSliders(); });
    byId("landing").replaceChildren(...map.coordinates.map((name) => {
      const line = make("div");
      line.append(make("span", name), make("b", "", { "data-coordinate": name }));
      return line;
    }));
    if (data.image) {
      this.picture = make("canvas", "", { "aria-label": "The sample", role: "img" });
      byId("picture").replaceChildren(this.picture);
      byId("picture").hidden = false;
      // Of images the slopes are seen at a glance, and a slider moves a single pixel: slopes first.
      byId("columns").before(byId("slopes"));
    }
    this.listSliders();
  }

  listSliders() {
    const { map } = this, wanted = byId("filter").value.trim().toLowerCase();
    let columns = this.data.order.filter((j) => map.columns[j].toLowerCase().includes(wanted));
    const found = columns.length;
    if (!this.showsAll) columns = columns.slice(0, SHOWN_SLIDERS);
    byId("more").textContent = this.showsAll ? "Show fewer" : `Show all ${found.toLocaleString("en")}`;
    byId("more").hidden = found <= SHOWN_SLIDERS;
    this.sliders = new Map();
    byId("sliders").replaceChildren(...columns.map((j) => this.makeSlider(j)));
    this.showValues();
  }

  makeSlider(j) {
    const line = make("div"), name = this.map.columns[j], [low, high] = this.limits[j];
    const label = make("label", name, { for: `slider-${j}`, title: name });
    const slider = make("input", "", { type: "range", id: `slider-${j}`, step: "any", min: low, max: high });
    const number = make("input", "", { type: "number", step: "any", "aria-label": `${name}, as a number` });
    slider.addEventListener("input", () => this.set(j, Number(slider.value), number));
    number.addEventListener("input", () => { if (number.value !== "") this.set(j, Number(number.value), null, slider); });
    // A slider without steps moves by its keys by a hundredth of its range.
    slider.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!way) return;
      event.preventDefault();
      slider.value = Number(slider.value) + (way * (high - low)) / 100;
      this.set(j, Number(slider.value), number);
    });
    line.append(label, slider, number);
    this.sliders.set(j, [slider, number]);
    return line;
  }

  set(j, value, number, slider) {
    if (!Number.isFinite(value)) return;
    this.x[j] = value;
    if (number) number.value = showNumber(value, 5);
    if (slider) slider.value = value;
    byId("origin").textContent = `Changed by hand: ${this.map.columns[j]} is ${showNumber(value)}.`;
    this.show();
  }

  take(x, origin) {
    this.x = Float64Array.from(x);
    byId("origin").textContent = origin;
    this.showValues();
    this.show();
  }

  showValues() {
    for (const [j, [slider, number]] of this.sliders) {
      slider.value = this.x[j];
      number.value = showNumber(this.x[j], 5);
    }
  }

  show() {
    const { map, x } = this;
    this.y = map.place(x);
    this.y.forEach((value, c) => {
      byId("landing").children[c].lastChild.textContent = showNumber(value, 12);
    });
    this.showVerdict(map.extrapolate(x));
    if (this.picture) drawImage(this.picture, this.data.image, x);
    this.showSlopes();
    this.whenMoved(this);
  }

  showVerdict(score) {
    const verdict = byId("verdict");
    if (score === null) { verdict.textContent = "The map does not say what it has learned from."; return; }
    this.isOutside = score > 1;
    verdict.className = this.isOutside ? "out" : "in";
    verdict.dataset.score = score;
    verdict.textContent = this.isOutside
      ? `Extrapolation ${showNumber(score, 3)}: outside of what was learned. Do not trust the place.`
      : `Extrapolation ${showNumber(score, 3)}: within what was learned (1 is the edge).`;
  }

  showSlopes() {
    const slopes = this.map.differentiate(this.x);
    const shown = this.data.image ? this.drawSlopes(slopes) : slopes.map((each, c) => this.listSlopes(each, c));
    byId("gradient").replaceChildren(...shown);
  }

  drawSlopes(slopes) {
    const images = make("div", "", { class: "images" });
    slopes.forEach((each, c) => {
      const figure = make("figure"), canvas = make("canvas", "", { role: "img", "aria-label": `Slopes of ${this.map.coordinates[c]}` });
      drawSlopes(canvas, this.data.image, each);
      figure.append(canvas, make("figcaption", this.map.coordinates[c]));
      images.append(figure);
    });
    return [make("p", "Blue where a brighter pixel raises the coordinate, orange where it lowers it.", { class: "hint" }), images];
  }

  // Bars: how far a coordinate moves, by its slope, when a column goes through its range.
  listSlopes(slopes, c) {
    const reach = (j) => slopes[j] * (this.limits[j][1] - this.limits[j][0]);
    const order = Array.from(slopes.keys()).sort((a, b) => Math.abs(reach(b)) - Math.abs(reach(a))).slice(0, SHOWN_SLOPES);
    const most = Math.abs(reach(order[0])) || 1, table = make("table");
    table.append(make("caption", `${this.map.coordinates[c]} per unit of a column; bars: over its range`));
    for (const j of order) {
      const row = make("tr"), bars = make("div", "", { class: "bar-half" }), share = (100 * Math.abs(reach(j))) / most;
      const down = make("span", "", { class: "down" }), rise = make("span", "", { class: "rise" }), bar = make("i");
      bar.style.width = `${share}%`;
      (slopes[j] < 0 ? down : rise).append(bar);
      bars.append(down, rise);
      const cell = make("td");
      cell.append(bars);
      row.append(make("th", this.map.columns[j], { scope: "row", title: this.map.columns[j] }), cell, make("td", showNumber(slopes[j])));
      row.lastChild.dataset.slope = slopes[j];
      table.append(row);
    }
    return table;
  }
}
