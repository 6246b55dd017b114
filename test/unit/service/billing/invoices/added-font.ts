/**
 * Builds a font with exactly the letters that a test wants: those of DejaVu Sans under other numbers, by a table of its own. Its looks do
 * not matter; the set of letters, and the text that a reader copies, do.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A glyph of some letter. */
const FIRST_GLYPH = 36;

/** Builds a cmap table of format 12: one group for each letter. */
function cmap(letters: readonly number[]): Buffer {
  const groups = [...letters].sort((a, b) => a - b).map((letter, index) => [letter, letter, FIRST_GLYPH + index]);
  const size = 16 + 12 * groups.length;
  const table = Buffer.alloc(12 + size);
  // One subtable: platform Windows, all of Unicode.
  for (const [at, value] of [0, 1, 3, 10].entries()) table.writeUInt16BE(value, 2 * at);
  table.writeUInt32BE(12, 8);
  table.writeUInt16BE(12, 12);
  table.writeUInt32BE(size, 16);
  table.writeUInt32BE(groups.length, 24);
  for (const [index, group] of groups.entries())
    for (const [at, value] of group.entries()) table.writeUInt32BE(value, 28 + 12 * index + 4 * at);
  return table;
}

export function fontWith(text: string): Buffer {
  const file = readFileSync(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')));
  const table = cmap([...new Set(Array.from(text, (sign) => sign.codePointAt(0) ?? 0))]);
  const font = Buffer.concat([file, Buffer.alloc((4 - (file.length % 4)) % 4), table]);
  for (let entry = 12; entry < 12 + 16 * font.readUInt16BE(4); entry += 16) {
    const name = font.toString('latin1', entry, entry + 4);
    if (name === 'cmap') {
      font.writeUInt32BE(font.length - table.length, entry + 8);
      font.writeUInt32BE(table.length, entry + 12);
    }
    // The library tells fonts of one name apart by this checksum.
    if (name === 'head') font.writeUInt32BE(0x01020304, font.readUInt32BE(entry + 8) + 8);
  }
  return font;
}
