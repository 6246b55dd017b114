/** Extracts a PDF's texts in the order of drawing, as readers copy text. */
import { inflateSync } from 'node:zlib';

type Letters = Map<number, string>;

/** Maps glyph numbers to letters. */
function parseLetters(map: string): Letters {
  const letters: Letters = new Map();
  for (const [, from = '', list = ''] of map.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/gi)) {
    const entries = [...list.matchAll(/<([0-9a-f ]*)>/gi)].map(([, hex = '']) => hex.replaceAll(' ', ''));
    for (const [index, hex] of entries.entries())
      letters.set(Number.parseInt(from, 16) + index, Buffer.from(hex, 'hex').swap16().toString('utf16le'));
  }
  return letters;
}

export function readPdfTexts(pdf: Buffer): string[] {
  const objects = new Map<string, string>();
  for (const [, id = '', body = ''] of pdf.toString('latin1').matchAll(/(?:^|\n)(\d+) 0 obj\n([\s\S]*?)\nendobj/g))
    objects.set(id, body);
  const inflated = (body = ''): string => {
    const [, bytes = ''] = /stream\n([\s\S]*)\nendstream/.exec(body) ?? [];
    return /\/FlateDecode/.test(body) ? inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1') : bytes;
  };
  const fonts = new Map<string, Letters>();
  for (const body of objects.values())
    for (const [, name = '', id = ''] of body.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, map] = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? '') ?? [];
      if (map !== undefined) fonts.set(name, parseLetters(inflated(objects.get(map))));
    }
  const contents = [...objects.values()].filter((body) => /FlateDecode/.test(body)).map(inflated);
  return contents
    .filter((content) => / Tf\b/.test(content))
    .flatMap(
      (content) =>
        [...content.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)].reduce<{ texts: string[]; font: string }>(
          ({ texts, font }, [, name, shown]) => {
            if (name !== undefined) return { texts, font: name };
            const glyphs = [...(shown ?? '').matchAll(/<([0-9a-f]*)>/gi)].flatMap(
              ([, hex = '']) => hex.match(/.{4}/g) ?? [],
            );
            const text = glyphs.map((glyph) => fonts.get(font)?.get(Number.parseInt(glyph, 16)) ?? '?').join('');
            return { texts: [...texts, text], font };
          },
          { texts: [], font: '' },
        ).texts,
    );
}
