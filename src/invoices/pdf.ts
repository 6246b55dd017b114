/**
 * An invoice as a PDF: the same content gives the same bytes, whenever and wherever it is made. So the file bears the date of
 * the invoice and no other, and its fonts come with us.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import PDFDocument from 'pdfkit';
import type { Content } from './document.ts';
import { layOut, PAGE } from './layout.ts';
import { drawn, type Measure, printable, type Weight } from './text.ts';

/** DejaVu Sans has Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and Arabic letters. */
const fontFile = (name: string): string => fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}`));
const FILES: Record<Weight, string> = { regular: fontFile('DejaVuSans.ttf'), bold: fontFile('DejaVuSans-Bold.ttf') };
const COLOURS = { ink: '#17191b', grey: '#5b6066', accent: '#0a7768', tint: '#eef4f2', rule: '#d5d9d8' } as const;

/** What the library has of a font, besides what its types tell. */
interface OpenFont {
  font: { hasGlyphForCodePoint(codePoint: number): boolean };
  ascender: number;
}

/** Of the library's font that is in use. */
const openFont = (doc: PDFKit.PDFDocument): OpenFont => (doc as unknown as { _font: OpenFont })._font;

/** All texts in it as they can be printed. */
function printed<T>(value: T, print: (text: string) => string): T {
  if (typeof value === 'string') return print(value) as T;
  if (Array.isArray(value)) return value.map((part) => printed(part, print)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, printed(part, print)])) as T;
}

export async function renderPdf(kept: Content): Promise<Buffer> {
  const issued = new Date(`${kept.issuedOn}T00:00:00Z`);
  const doc = new PDFDocument({
    ...{ size: [PAGE.width, PAGE.height], margin: 0, autoFirstPage: false, font: FILES.regular, lang: 'en' },
    ...{ pdfVersion: '1.7', displayTitle: true },
    info: {
      ...{ Title: `${kept.number}`, Author: kept.seller.name, CreationDate: issued, ModDate: issued },
      ...{ Creator: 'loopstream', Producer: 'loopstream' },
    },
  });
  const bytes = collect(doc as AsyncIterable<Buffer>);
  for (const [weight, file] of Object.entries(FILES)) doc.registerFont(weight, readFileSync(file));

  doc.font('bold');
  const { font } = openFont(doc);
  const content = printed(kept, (text) => printable(text, (codePoint) => font.hasGlyphForCodePoint(codePoint)));
  const measure: Measure = (text, size, weight) => doc.font(weight).fontSize(size).widthOfString(text);

  for (const page of layOut(content, measure)) {
    doc.addPage({ size: [PAGE.width, PAGE.height], margin: 0 });
    for (const { x, y, width, height, colour } of page.boxes) doc.rect(x, y, width, height).fill(COLOURS[colour]);
    for (const { text, x, y, align, size, weight, colour } of page.texts) {
      const from = align === 'left' ? x : x - measure(text, size, weight);
      doc.font(weight).fontSize(size).fillColor(COLOURS[colour]).text(drawn(text), from, y, { lineBreak: false });
    }
  }
  doc.end();
  return bytes;
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
