/** Tests the layout of an invoice: all texts are on the page, none overlap, and there are as many pages as needed. */
import { describe, expect, test } from 'vitest';
import { buildContent, type Content } from '../../../../../src/service/billing/invoices/document.ts';
import { layOut, PAGE, type PageOps, type TextOp } from '../../../../../src/service/billing/invoices/layout.ts';
import { renderPdf } from '../../../../../src/service/billing/invoices/pdf.ts';
import {
  type FaceOf,
  formatAmount,
  formatDay,
  formatHours,
  formatPrice,
  type MeasureText,
  toPrintable,
  wrap,
} from '../../../../../src/service/billing/invoices/text.ts';

/** Each letter is two thirds of its size wide. */
const measure: MeasureText = (text, size) => text.length * size * 0.66;
const long = 'A name of a stream that goes on and on, as long as names may be, '.repeat(4);

const invoice = (count: number, name = 'Night fireplace'): Content =>
  buildContent({
    number: 'LS-2027-00042',
    issuedOn: '2027-02-01',
    currency: 'EUR',
    currencyDigits: 2,
    period: { firstDay: '2027-01-01', lastDay: '2027-01-31' },
    seller: {
      name: 'Loops Broadcasting Company Limited',
      address: ['12 Harbour Street', 'Dublin', 'Ireland'],
      country: 'IE',
      taxes: [{ name: 'VAT', ratePercent: '23' }],
      note: 'Thank you.',
    },
    buyer: { name: long, address: [long, 'Paris'], country: 'FR', taxID: null, email: 'ada@example.com' },
    charged: Array.from({ length: count }, (_, index) => ({
      streamID: `str-${index}`,
      name,
      profile: '1080p30',
      seconds: '3600',
      creditsPerHour: '1250',
      credits: 1250n + BigInt(index),
    })),
  });

const listTexts = (pages: PageOps[]) => pages.flatMap((page) => page.texts);
const box = ({ x, y, text, size, weight, align }: TextOp) => {
  const width = measure(text, size, weight);
  const left = align === 'left' ? x : x - width;
  return { left, right: left + width, top: y, bottom: y + size };
};

describe.each([
  ['no line', invoice(0)],
  ['one', invoice(1)],
  ['very long names', invoice(30, long)],
  ['a word that is longer than a line', invoice(9, 'x'.repeat(250))],
  ['hundreds', invoice(300)],
])('an invoice with %s', (_what, content) => {
  const pages = layOut(content, measure);

  test('is within its pages, and nothing stands on anything else', () => {
    for (const { texts } of pages) {
      const boxes = texts.map(box);
      for (const [index, one] of boxes.entries()) {
        expect(one.left, texts[index]?.text).toBeGreaterThanOrEqual(50);
        expect(one.right, texts[index]?.text).toBeLessThanOrEqual(PAGE.width - 50);
        expect(one.bottom).toBeLessThan(PAGE.height - 30);
        for (const other of boxes.slice(index + 1)) {
          const apart =
            one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
          expect(apart, `${texts[index]?.text} | ${texts[boxes.indexOf(other)]?.text}`).toBe(true);
        }
      }
    }
  });

  test('has every line once, heads on each page of the table, and its number and place at each foot', () => {
    const ids = listTexts(pages).flatMap(({ text }) => /· (str-\d+)$/.exec(text)?.[1] ?? []);
    expect(ids).toEqual(content.lines.map(({ streamID }) => streamID));
    for (const [index, { texts }] of pages.entries()) {
      const said = texts.map(({ text }) => text);
      if (said.some((text) => text.includes('str-'))) expect(said).toContain('Description');
      expect(said).toContain(`Page ${index + 1} of ${pages.length}`);
      expect(said.filter((text) => text.includes('LS-2027-00042')).length).toBeGreaterThan(0);
    }
    const last = pages.at(-1)?.texts.map(({ text }) => text);
    expect(last).toEqual(expect.arrayContaining(['Net amount', 'VAT 23 %', 'Thank you.']));
  });
});

test('the same invoice is the same file, and another one is another', async () => {
  const [one, again, other] = await Promise.all(
    [invoice(40), invoice(40), invoice(41)].map((content) => renderPdf(content)),
  );
  expect(one?.subarray(0, 5).toString()).toBe('%PDF-');
  expect(one?.equals(again as Buffer)).toBe(true);
  expect(one?.equals(other as Buffer)).toBe(false);
  expect(one?.length).toBeLessThan(150_000);
});

describe('text on paper', () => {
  test('amounts, prices, times and days are written for people', () => {
    expect(formatAmount('123456789', 2)).toBe('1,234,567.89');
    expect(formatAmount('-5', 2)).toBe('−0.05');
    expect(formatAmount('1500', 0)).toBe('1,500');
    expect(formatPrice('1250', 2)).toBe('0.1250');
    expect(formatHours('2678399.9')).toBe('743:59:59');
    expect(formatDay('2027-02-01')).toBe('1 Feb 2027');
  });

  test('names lose invisible characters, and show letters that no font has', () => {
    const getFace: FaceOf = (codePoint) => (codePoint < 0x2e80 ? 'own' : undefined);
    let missing = 0;
    const print = (text: string) => toPrintable(text, getFace, () => (missing += 1));
    expect(print('Lofi  beats\n\u202e24/7 Łódź ©')).toBe('Lofi beats 24/7 Łódź ©');
    expect(missing).toBe(0);
    expect(print('🔥 Lofi ❤️‍🔥')).toBe('□ Lofi □');
    expect(print('株式')).toBe('□□');
    expect(missing).toBe(4);
  });

  test('lines are no longer than they may be, and nothing is lost between them', () => {
    const text = `${long}${'x'.repeat(120)}`;
    const lines = wrap(text, 200, 9, 'regular', measure);
    for (const line of lines) expect(measure(line, 9, 'regular')).toBeLessThanOrEqual(200);
    expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
  });
});
