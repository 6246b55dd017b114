/**
 * Tests names in many scripts on an invoice: text copied from the PDF is the original text, and missing signs are
 * named.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildContent } from '../../../../../src/service/billing/invoices/document.ts';
import { readInvoiceFont } from '../../../../../src/service/billing/invoices/font.ts';
import { renderPdf } from '../../../../../src/service/billing/invoices/pdf.ts';
import { type FaceOf, splitByFace } from '../../../../../src/service/billing/invoices/text.ts';
import { readPdfTexts } from '../../../../kit/make/pdf-text.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';
import { fontWith } from './added-font.ts';

const [COMPANY, ADDRESS, STREAM] = ['株式会社ループ', '東京都渋谷区1-2-3', '24/7 로파이 라디오'];
const invoice = (name: string, address: string, stream: string) =>
  buildContent({
    number: 'LS-2027-00042',
    issuedOn: '2027-02-01',
    currency: 'EUR',
    currencyDigits: 2,
    period: null,
    seller: { name: 'Loops', address: ['Dublin'], country: 'IE' },
    buyer: { name, address: [address], country: 'JP', taxID: null, email: null },
    charged: [
      { streamID: 'str-1', name: stream, profile: '1080p30', seconds: '3600', creditsPerHour: '1250', credits: 1250n },
    ],
  });
/** Returns the pieces of one font run as one text. */
const readPieces = async (...args: Parameters<typeof renderPdf>) => readPdfTexts(await renderPdf(...args)).join('|');

describe('letters that our fonts lack', () => {
  const directory = tempDir();
  const at = (name: string) => join(directory, name);
  beforeAll(async () => {
    await writeFile(at('cjk.ttf'), fontWith(COMPANY + ADDRESS + STREAM));
    await writeFile(at('none.ttf'), 'This is no font.');
  });

  test('are printed by the font that was added, beside ours in one line, and are copied as they were written', async () => {
    const font = await readInvoiceFont(at('cjk.ttf'));
    const texts = await readPieces(invoice(COMPANY, ADDRESS, STREAM), font);
    expect(texts).toContain(`|${COMPANY}|`);
    expect(texts).toContain('|東京都渋谷区|1-2-3|');
    expect(texts).toContain('|24/7 |로파이 라디오|');
    expect(texts).not.toContain('□');
    const [one, again] = await Promise.all([1, 2].map(() => renderPdf(invoice(COMPANY, ADDRESS, STREAM), font)));
    expect(one?.equals(again as Buffer)).toBe(true);
  });

  test('are boxes, each one, and the invoice says so; a font with all of them needs none', async () => {
    const texts = await readPieces(invoice(COMPANY, ADDRESS, '🔥 Lofi 👩‍🚀'));
    expect(texts).toContain(`|${'□'.repeat(7)}|`);
    expect(texts).toContain('|□ Lofi □|');
    expect(texts).toContain('□ replaces a character that this document cannot print');
    expect(await readPieces(invoice('Łódź & Ωμέγα', 'Київ', 'Éclair'))).not.toContain('□');
  });

  test('cost one more font, and each font is opened once for all texts', async () => {
    const pdf = await renderPdf(invoice('Ada', 'Lyon', STREAM), await readInvoiceFont(at('cjk.ttf')));
    // The library numbers fonts as it opens them.
    const names = Array.from(pdf.toString('latin1').matchAll(/\/(F\d+) \d+ 0 R/g), ([, name]) => name);
    expect(new Set(names)).toEqual(new Set(['F1', 'F2', 'F3']));
  });

  test('are of a file that is a font: anything else ends the start with a sentence', async () => {
    expect(await readInvoiceFont(undefined)).toBeUndefined();
    await expect(readInvoiceFont(at('missing.ttf'))).rejects.toThrow(
      'The file in LOOPSTREAM_INVOICE_FONT cannot be read.',
    );
    for (const wrong of ['none.ttf', 'none.ttf#Some-Name'])
      await expect(readInvoiceFont(at(wrong))).rejects.toThrow(/^LOOPSTREAM_INVOICE_FONT must be the path of a font/);
  });
});

describe('lines that are read from the right', () => {
  test('stand with their words in order, and their letters as they are joined', async () => {
    const texts = await readPieces(invoice('رادیو شب', 'רחוב הרצל 12', 'Radio שידור חי 24/7'));
    // The order is that of drawing, from the left: the last word first, its last letter first.
    expect(texts).toContain('|12| |לצרה| |בוחר|');
    expect(texts).toContain('|Radio| |יח| |רודיש| |24/7|');
    expect(texts).not.toContain('□');
  });

  const own: FaceOf = () => 'own';
  test.each([
    ['Night radio', ['Night radio']],
    ['אבג דהו', ['דהו', ' ', 'אבג']],
    ['Radio אבג דהו live', ['Radio', ' ', 'דהו', ' ', 'אבג', ' ', 'live']],
    ['אבג 12 דהו 34 x', ['דהו', ' ', '12', ' ', 'אבג', ' ', '34', ' ', 'x']],
  ])('%s', (line, words) => {
    // Neighbours in one font form one piece: here each word has its own font.
    expect(splitByFace(line, own).map(({ text }) => text)).toEqual(words);
  });
});
