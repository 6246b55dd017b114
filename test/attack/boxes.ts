/** Changes numbers in the headers of small media files, as an attacker does to claim a false size. */

/** Returns the content's offset of the nth box with this name (ISO/IEC 14496-12 4.2), behind its size and name. */
export function boxAt(file: Buffer, name: string, nth = 0): number {
  let at = -1;
  for (let count = 0; count <= nth; count++) {
    at = file.indexOf(name, at + 1, 'latin1');
    if (at < 0) throw new Error(`no box ${name}`);
  }
  return at + 4;
}

/** Returns a copy with 32-bit numbers written at offsets from the content of a box. */
export function withNumbers(file: Buffer, name: string, numbers: Record<number, number>, nth = 0): Buffer {
  const copy = Buffer.from(file);
  const start = boxAt(copy, name, nth);
  for (const [offset, value] of Object.entries(numbers)) copy.writeUInt32BE(value, start + Number(offset));
  return copy;
}

/** Builds boxes inside boxes. */
export function nestedBoxes(name: string, depth: number): Buffer {
  const file = Buffer.alloc(depth * 8);
  for (let level = 0; level < depth; level++) {
    file.writeUInt32BE((depth - level) * 8, level * 8);
    file.write(name, level * 8 + 4, 'latin1');
  }
  return file;
}

/** Builds the header of a WAV file (RIFF, 16 bits a sample) and a second of silence at 8 kHz behind it. */
export function wav(sampleRate: number, channels: number): Buffer {
  const file = Buffer.alloc(44 + 16_000);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE((sampleRate * channels * 2) % 2 ** 32, 28);
  file.writeUInt16LE((channels * 2) % 2 ** 16, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(16_000, 40);
  return file;
}

/** Adds bytes at the end of the first box at a path of names, e.g. `['moov', 'trak']`, and to the sizes of all boxes around it. */
export function addToBox(file: Buffer, path: readonly string[], bytes: Buffer): Buffer {
  const copy = Buffer.from(file);
  let end = 0;
  let from = 0;
  for (const name of path) {
    const start = copy.indexOf(name, from, 'latin1') - 4;
    if (start < 0) throw new Error(`no box ${name}`);
    end = start + copy.readUInt32BE(start);
    copy.writeUInt32BE(copy.readUInt32BE(start) + bytes.length, start);
    from = start + 8;
  }
  return Buffer.concat([copy.subarray(0, end), bytes, copy.subarray(end)]);
}
