// Place samples by an ONNX model: node place.js model.onnx < samples.json
const {readFileSync} = require("node:fs");
const ort = require("onnxruntime-web");

const TYPES = {float32: Float32Array, float64: Float64Array};

async function run(model, rows) {
  const session = await ort.InferenceSession.create(model);
  const {name, type} = session.inputMetadata[0];
  const samples = new ort.Tensor(type, TYPES[type].from(rows.flat()), [rows.length, rows[0].length]);
  const results = await session.run({[name]: samples});
  return Object.fromEntries(Object.entries(results).map(([key, {data}]) => [key, Array.from(data, Number)]));
}

run(readFileSync(process.argv[2]), JSON.parse(readFileSync(0, "utf8")))
  .then((results) => console.log(JSON.stringify(results)));
