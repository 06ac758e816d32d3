// Samples that are images: drawn, and read from files.

// Draw the values of pixels, each brought to a colour.
function drawPixels(canvas, shape, colourOf) {
  const [height, width] = shape, picture = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) picture.data.set([...colourOf(i), 255], 4 * i);
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(picture, 0, 0);
}

function drawImage(canvas, image, x) {
  const { shape, white } = image, channels = shape[2] || 1;
  const level = (value) => Math.min(Math.max((255 * value) / white, 0), 255);
  drawPixels(canvas, shape, (i) => [0, 1, 2].map((k) => level(x[channels * i + (channels === 3 ? k : 0)])));
}

// Slopes, 0 in the middle; of colours their sum.
function drawSlopes(canvas, image, slopes) {
  const channels = image.shape[2] || 1, n = image.shape[0] * image.shape[1], sums = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let k = 0; k < channels; k++) sums[i] += slopes[channels * i + k];
  const most = sums.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1;
  drawPixels(canvas, image.shape, (i) => blendAboutZero(sums[i] / most));
}

// Means over the boxes that a smaller image divides a larger one into; the nearest pixel where it is not smaller.
function resample(pixels, from, to) {
  const [height, width] = from, [rows, columns] = to, out = new Float64Array(4 * rows * columns);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
    const [top, bottom] = [(r * height) / rows, ((r + 1) * height) / rows];
    const [left, right] = [(c * width) / columns, ((c + 1) * width) / columns];
    for (let y = Math.floor(top); y < bottom; y++) for (let x = Math.floor(left); x < right; x++) {
      const share = ((Math.min(y + 1, bottom) - Math.max(y, top)) * (Math.min(x + 1, right) - Math.max(x, left)))
        / ((bottom - top) * (right - left));
      for (let k = 0; k < 4; k++) out[4 * (r * columns + c) + k] += share * pixels[4 * (y * width + x) + k];
    }
  }
  return from[0] === rows && from[1] === columns ? out : out.map(Math.round);
}

// The pixels of an image file as a sample of the map.
async function readImage(file, image) {
  const bitmap = await createImageBitmap(file, { premultiplyAlpha: "none", colorSpaceConversion: "none" });
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const pixels = resample(data, [bitmap.height, bitmap.width], image.shape), n = image.shape[0] * image.shape[1];
  const scale = image.white / 255;
  if (image.shape[2] === 3) return Float64Array.from({ length: 3 * n }, (_, i) => pixels[4 * Math.floor(i / 3) + (i % 3)] * scale);
  return Float64Array.from({ length: n }, (_, i) => {
    const [red, green, blue] = pixels.slice(4 * i, 4 * i + 3);
    const grey = red === green && green === blue ? red : Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
    return grey * scale;
  });
}
