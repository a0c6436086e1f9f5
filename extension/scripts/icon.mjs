// Draws media/icon.png: a browser window with a plug's two ends meeting in it. No tool but Node.
import { mkdir, writeFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";

const size = 256;
const samples = 4; // per pixel and axis, for smooth edges

const background = [24, 32, 56];
const frame = [236, 241, 250];
const bar = [88, 132, 255];
const link = [46, 196, 140];

/** Distance to a rounded rectangle's edge; negative inside. */
function box(x, y, cx, cy, w, h, r) {
  const dx = Math.abs(x - cx) - w / 2 + r;
  const dy = Math.abs(y - cy) - h / 2 + r;
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - r;
}

const disc = (x, y, cx, cy, r) => Math.hypot(x - cx, y - cy) - r;

/** The colour at a point, or undefined where it is transparent. */
function colour(x, y) {
  if (box(x, y, 128, 128, 256, 256, 48) > 0) return undefined;
  if (box(x, y, 128, 128, 184, 148, 18) > 0) return background;
  if (y < 88) {
    const dot = [60, 82, 104].some((cx) => disc(x, y, cx, 71, 6) < 0);
    return dot ? frame : bar;
  }
  if (disc(x, y, 84, 146, 20) < 0 || disc(x, y, 172, 146, 20) < 0) return link;
  if (Math.abs(y - 146) < 6 && x > 84 && x < 172) return link;
  return frame;
}

const rows = [];
for (let y = 0; y < size; y++) {
  const row = Buffer.alloc(1 + size * 4); // filter 0
  for (let x = 0; x < size; x++) {
    const sum = [0, 0, 0, 0];
    for (let i = 0; i < samples * samples; i++) {
      const found = colour(x + ((i % samples) + 0.5) / samples, y + (Math.floor(i / samples) + 0.5) / samples);
      if (!found) continue;
      found.forEach((value, channel) => {
        sum[channel] += value;
      });
      sum[3] += 1;
    }
    const covered = sum[3];
    const at = 1 + x * 4;
    for (let channel = 0; channel < 3; channel++) row[at + channel] = covered ? Math.round(sum[channel] / covered) : 0;
    row[at + 3] = Math.round((255 * covered) / (samples * samples));
  }
  rows.push(row);
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = crcTable[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4);
  return out;
}

const header = Buffer.alloc(13);
header.writeUInt32BE(size, 0);
header.writeUInt32BE(size, 4);
header.set([8, 6, 0, 0, 0], 8); // 8 bits a channel, RGBA

const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  chunk("IHDR", header),
  chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })),
  chunk("IEND", Buffer.alloc(0)),
]);
const media = new URL("../media/", import.meta.url);
await mkdir(media, { recursive: true });
await writeFile(new URL("icon.png", media), png);
