/**
 * Renders an invoice as a PDF: the same content gives the same bytes, whenever and wherever it is made, as long as the
 * additional font is the same. So the file bears the date of the invoice and no other, and we ship our own fonts.
 */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import PDFDocument from 'pdfkit';
import type { Content } from './document.ts';
import { layOut, PAGE, type TextOp } from './layout.ts';
import {
  type Face,
  type FaceOf,
  type MeasureText,
  MISSING,
  splitByFace,
  type TextPiece,
  toPrintable,
  type Weight,
} from './text.ts';

/** DejaVu Sans has Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and Arabic letters. */
const fontFile = (name: string): string => fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}`));
const FILES: Record<Weight, string> = { regular: fontFile('DejaVuSans.ttf'), bold: fontFile('DejaVuSans-Bold.ttf') };
const COLOURS = { ink: '#17191b', grey: '#5b6066', accent: '#0a7768', tint: '#eef4f2', rule: '#d5d9d8' } as const;
/** The note on a document with unprintable signs. */
const INCOMPLETE = `${MISSING} replaces a character that this document cannot print. The invoice in the API has the exact text.`;

/** A font for letters that ours lack (font.ts). */
export interface AddedFont {
  bytes: Uint8Array;
  /** For a collection (.ttc), the PostScript name of the font in it. */
  name: string | undefined;
}

/** Properties of the library's font that its types lack. */
interface OpenFont {
  font: { hasGlyphForCodePoint(codePoint: number): boolean };
  /** In thousandths of the size. */
  ascender: number;
}

type Doc = PDFKit.PDFDocument;

/** Returns the library's current font. */
const openFont = (doc: Doc): OpenFont => (doc as unknown as { _font: OpenFont })._font;

/** Whether the library can draw with it. */
export function canDraw({ bytes, name }: AddedFont): boolean {
  try {
    const doc = new PDFDocument({ autoFirstPage: false, font: FILES.regular });
    doc.registerFont('added', bytes as Buffer, name).font('added');
    return doc.fontSize(10).widthOfString('A') >= 0 && typeof openFont(doc).font.hasGlyphForCodePoint(65) === 'boolean';
  } catch {
    return false;
  }
}

/** All texts in it as they can be printed. */
function printed<T>(value: T, print: (text: string) => string): T {
  if (typeof value === 'string') return print(value) as T;
  if (Array.isArray(value)) return value.map((part) => printed(part, print)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, printed(part, print)])) as T;
}

/** Selects the font for a letter; the additional one is opened at its first use. */
function createFaceFinder(doc: Doc, hasAdded: boolean): FaceOf {
  const known = new Map<number, Face | undefined>();
  const has = (name: string, codePoint: number) => openFont(doc.font(name)).font.hasGlyphForCodePoint(codePoint);
  const look: FaceOf = (codePoint) => {
    if (has('regular', codePoint)) return has('bold', codePoint) ? 'own' : 'regular';
    return hasAdded && has('added', codePoint) ? 'added' : undefined;
  };
  return (codePoint) => {
    if (!known.has(codePoint)) known.set(codePoint, look(codePoint));
    return known.get(codePoint);
  };
}

/** Draws lines of text and measures their width, in all their fonts. */
function createPen(doc: Doc, findFace: FaceOf) {
  const take = ({ face }: TextPiece, size: number, weight: Weight): Doc =>
    doc.font(face === 'own' ? weight : face).fontSize(size);
  // At size 1: the same beginnings of lines are measured again and again.
  const widths: Record<Weight, Map<string, number>> = { regular: new Map(), bold: new Map() };
  const measureText = (text: string, weight: Weight): number =>
    splitByFace(text, findFace).reduce((sum, piece) => sum + take(piece, 1, weight).widthOfString(piece.text), 0);
  const measure: MeasureText = (text, size, weight) => {
    const width = widths[weight].get(text) ?? measureText(text, weight);
    widths[weight].set(text, width);
    return width * size;
  };
  return {
    measure,
    draw({ text, x, y, align, size, weight, colour }: TextOp): void {
      let at = align === 'left' ? x : x - measure(text, size, weight);
      // All stand on one line, however high the letters of a font reach.
      const baseline = y + (openFont(doc.font(weight)).ascender / 1000) * size;
      for (const piece of splitByFace(text, findFace)) {
        const pen = take(piece, size, weight).fillColor(COLOURS[colour]);
        pen.text(piece.text, at, baseline, { lineBreak: false, baseline: 'alphabetic' });
        at += pen.widthOfString(piece.text);
      }
    },
  };
}

/** `added` is for letters that ours lack. Letters in neither font are shown as MISSING, with a note at the end. */
export async function renderPdf(source: Content, added?: AddedFont): Promise<Buffer> {
  const issued = new Date(`${source.issuedOn}T00:00:00Z`);
  const doc = new PDFDocument({
    size: [PAGE.width, PAGE.height],
    margin: 0,
    autoFirstPage: false,
    // None: the library would not know it by its registered name, and would read its file again for each text.
    font: '',
    lang: 'en',
    pdfVersion: '1.7',
    displayTitle: true,
    info: {
      Title: `${source.number}`,
      Author: source.seller.name,
      CreationDate: issued,
      ModDate: issued,
      Creator: 'loopstream',
      Producer: 'loopstream',
    },
  });
  const bytes = collect(doc as AsyncIterable<Buffer>);
  for (const [weight, file] of Object.entries(FILES)) doc.registerFont(weight, readFileSync(file));
  if (added) doc.registerFont('added', added.bytes as Buffer, added.name);

  const findFace = createFaceFinder(doc, added !== undefined);
  let isComplete = true;
  const onMissing = () => {
    isComplete = false;
  };
  const content = printed(source, (text) => toPrintable(text, findFace, onMissing));
  if (!isComplete) content.notes.push(INCOMPLETE);

  const pen = createPen(doc, findFace);
  for (const page of layOut(content, pen.measure)) {
    // Other requests go on meanwhile.
    await setImmediate();
    doc.addPage({ size: [PAGE.width, PAGE.height], margin: 0 });
    for (const { x, y, width, height, colour } of page.boxes) doc.rect(x, y, width, height).fill(COLOURS[colour]);
    for (const text of page.texts) pen.draw(text);
  }
  doc.end();
  return bytes;
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
