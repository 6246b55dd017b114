/**
 * Lays out an invoice on as many pages as it takes: each text with its place, so that drawing it decides nothing. The
 * unit is the point (1/72 inch), from the upper left corner of an A4 page. Pure: no I/O, no clock.
 */
import type { Content, InvoiceLine, Party } from './document.ts';
import {
  formatAmount,
  formatDay,
  formatHours,
  formatPrice,
  formatWhole,
  type MeasureText,
  type Weight,
  wrap,
} from './text.ts';

export const PAGE = { width: 595.28, height: 841.89 };
const LEFT = 51;
const RIGHT = PAGE.width - 51;
const WIDTH = RIGHT - LEFT;
const TOP = 51;
/** Below it stands the imprint. */
const BOTTOM = PAGE.height - 84;

export type Colour = 'ink' | 'grey' | 'accent';

export interface TextOp {
  text: string;
  /** Of the text's left edge, or its right one. */
  x: number;
  /** Of the text's upper edge. */
  y: number;
  align: 'left' | 'right';
  size: number;
  weight: Weight;
  colour: Colour;
}

export interface BoxOp {
  x: number;
  y: number;
  width: number;
  height: number;
  colour: 'tint' | 'rule' | 'accent';
}

export interface PageOps {
  texts: TextOp[];
  boxes: BoxOp[];
}

interface Style {
  size?: number;
  weight?: Weight;
  colour?: Colour;
  align?: 'left' | 'right';
}

/** From the upper edge of a line of text to that of the next one. */
const leading = (size: number): number => Math.round(size * 1.45 * 10) / 10;

class Paper {
  readonly pages: PageOps[] = [{ texts: [], boxes: [] }];
  y = TOP;
  readonly #measure: MeasureText;

  constructor(measure: MeasureText) {
    this.#measure = measure;
  }

  get #page(): PageOps {
    return this.pages.at(-1) as PageOps;
  }

  /** Draws at `y` without moving on; returns the height. */
  put(text: string, x: number, width: number, style: Style = {}, y = this.y): number {
    const { size = 9, weight = 'regular', colour = 'ink', align = 'left' } = style;
    const lines = this.lines(text, width, style);
    for (const [index, line] of lines.entries())
      if (line !== '')
        this.#page.texts.push({
          text: line,
          x: align === 'left' ? x : x + width,
          y: y + index * leading(size),
          align,
          size,
          weight,
          colour,
        });
    return lines.length * leading(size);
  }

  lines(text: string, width: number, { size = 9, weight = 'regular' }: Style = {}): string[] {
    return wrap(text, width, size, weight, this.#measure);
  }

  box(colour: BoxOp['colour'], height: number, { x = LEFT, width = WIDTH, y = this.y } = {}): void {
    this.#page.boxes.push({ x, y, width, height, colour });
  }

  turn(): void {
    this.pages.push({ texts: [], boxes: [] });
    this.y = TOP;
  }

  has(height: number): boolean {
    return this.y + height <= BOTTOM;
  }
}

const SMALL = { size: 7.5, colour: 'grey' } as const;
const HALF = WIDTH / 2 - 12;

export function layOut(content: Content, measure: MeasureText): PageOps[] {
  const paper = new Paper(measure);
  const title = content.kind === 'invoice' ? 'Invoice' : 'Credit note';
  masthead(paper, content, title);
  parties(paper, content);
  summary(paper, content);
  table(paper, content, title);
  totals(paper, content, title);
  notes(paper, content, title);
  feet(paper, content, title);
  return paper.pages;
}

function masthead(paper: Paper, { seller, number }: Content, title: string): void {
  paper.box('accent', 3, { width: 42 });
  paper.y += 14;
  const right = paper.put(title, LEFT + HALF, WIDTH - HALF, { size: 21, weight: 'bold', align: 'right' });
  paper.put(number, LEFT + HALF, WIDTH - HALF, { size: 11, colour: 'grey', align: 'right' }, paper.y + right);
  const left = paper.put(seller.name, LEFT, HALF, { size: 14, weight: 'bold' });
  let { y } = paper;
  y += left + 2;
  for (const line of partyLines(seller)) y += paper.put(line, LEFT, HALF, { ...SMALL, size: 8 }, y);
  paper.y = Math.max(y, paper.y + right + leading(11)) + 22;
}

const partyLines = ({ address, taxID, email }: Party): string[] => [
  ...address,
  ...(taxID === null ? [] : [`Tax ID ${taxID}`]),
  ...(email === null ? [] : [email]),
];

function parties(paper: Paper, content: Content): void {
  const { buyer, issuedOn, periodFrom, periodTo, correctsNumber, reason, number, currency } = content;
  const top = paper.y;
  let left = top + paper.put('BILLED TO', LEFT, HALF, SMALL) + 3;
  left += paper.put(buyer.name, LEFT, HALF, { size: 11, weight: 'bold' }, left) + 1;
  for (const line of partyLines(buyer)) left += paper.put(line, LEFT, HALF, {}, left);
  const facts: [string, string][] = [
    ['Number', number],
    ['Date of issue', formatDay(issuedOn)],
    ...(periodFrom !== null && periodTo !== null
      ? [['Period', `${formatDay(periodFrom)} to ${formatDay(periodTo)}`] as [string, string]]
      : []),
    ...(correctsNumber === null ? [] : [['Corrects invoice', correctsNumber] as [string, string]]),
    ['Currency', currency],
    ...(reason === null ? [] : [['Reason', reason] as [string, string]]),
  ];
  const [x, label] = [LEFT + WIDTH / 2 + 12, 84];
  let right = top;
  for (const [name, value] of facts) {
    paper.put(name, x, label, { colour: 'grey' }, right);
    right += paper.put(value, x + label, RIGHT - x - label, {}, right) + 2.5;
  }
  paper.y = Math.max(left, right) + 18;
}

/** The part that most readers look for. */
function summary(paper: Paper, { totalMinor, currency, currencyDigits, notes }: Content): void {
  paper.box('tint', 42);
  const amount = `${formatAmount(totalMinor, currencyDigits)} ${currency}`;
  paper.put(amount, LEFT + 12, WIDTH - 24, { size: 16, weight: 'bold', align: 'right' }, paper.y + 9.5);
  paper.put('Total', LEFT + 12, 120, { size: 10, weight: 'bold' }, paper.y + 7.5);
  paper.put(notes[0] ?? '', LEFT + 12, WIDTH - 190, { ...SMALL, size: 8 }, paper.y + 22.5);
  paper.y += 42 + 20;
}

/** From the left: where each ends. */
const COLUMNS = [
  { name: 'Description', width: WIDTH - 262, align: 'left' },
  { name: 'On air (h:mm:ss)', width: 68, align: 'right' },
  { name: 'Price per hour', width: 62, align: 'right' },
  { name: 'Credits', width: 64, align: 'right' },
  { name: 'Amount', width: 68, align: 'right' },
] as const;

function tableHead(paper: Paper, { currency, taxes }: Content): void {
  const names: Record<string, string> = {
    'Price per hour': `Price/h (${currency})`,
    Amount: taxes.length > 0 ? `Amount, gross (${currency})` : `Amount (${currency})`,
  };
  let x = LEFT;
  const style = { size: 7.5, weight: 'bold' } as const;
  const heads = COLUMNS.map(({ name }) => names[name] ?? name);
  const rows = Math.max(...heads.map((name, i) => paper.lines(name, (COLUMNS[i]?.width ?? 0) - 14, style).length));
  const height = rows * leading(7.5);
  for (const [index, { width, align }] of COLUMNS.entries()) {
    const name = heads[index] ?? '';
    const own = paper.lines(name, width - 14, style).length * leading(7.5);
    paper.put(name, x + (align === 'right' ? 14 : 0), width - 14, { ...style, align }, paper.y + height - own);
    x += width;
  }
  paper.y += height + 4;
  paper.box('accent', 1);
  paper.y += 6;
}

const ofLine = (line: InvoiceLine, digits: number): string[] => [
  line.name === '' ? (line.streamID ?? '') : line.name,
  line.seconds === null ? '' : formatHours(line.seconds),
  line.creditsPerHour === null ? '' : formatPrice(line.creditsPerHour, digits),
  formatWhole(line.credits),
  formatAmount(line.amountMinor, digits),
];

/** Longer names are cut after this many lines. */
const MAX_NAME_LINES = 4;

function row(paper: Paper, content: Content, line: InvoiceLine, title: string): void {
  const cells = ofLine(line, content.currencyDigits);
  const [first] = COLUMNS;
  const under = [line.profile, line.streamID].filter((part) => part !== null).join(' · ');
  const all = paper.lines(cells[0] ?? '', first.width - 8);
  const name = all.length > MAX_NAME_LINES ? [...all.slice(0, MAX_NAME_LINES - 1), `${all[MAX_NAME_LINES - 1]}…`] : all;
  const nameHeight = name.length * leading(9);
  const height = nameHeight + (under === '' ? 0 : paper.lines(under, first.width - 8, SMALL).length * leading(7.5)) + 9;
  if (!paper.has(height)) {
    paper.turn();
    running(paper, content, title);
    tableHead(paper, content);
  }
  for (const [index, text] of name.entries()) paper.put(text, LEFT, first.width, {}, paper.y + index * leading(9));
  if (under !== '') paper.put(under, LEFT, first.width - 8, SMALL, paper.y + nameHeight);
  let x = LEFT + first.width;
  for (const [index, { width, align }] of COLUMNS.slice(1).entries()) {
    paper.put(cells[index + 1] ?? '', x, width, { align });
    x += width;
  }
  paper.y += height - 5;
  paper.box('rule', 0.5);
  paper.y += 5;
}

function table(paper: Paper, content: Content, title: string): void {
  tableHead(paper, content);
  for (const line of content.lines) row(paper, content, line, title);
}

/** The header of a further page names its invoice. */
function running(paper: Paper, { number, seller }: Content, title: string): void {
  const name = paper.lines(seller.name, HALF, { size: 8 })[0] ?? '';
  paper.put(name, LEFT, HALF + 4, { size: 8, colour: 'grey' });
  paper.y +=
    paper.put(`${title} ${number}`, LEFT + HALF, WIDTH - HALF, { size: 8, colour: 'grey', align: 'right' }) + 14;
}

function totals(paper: Paper, content: Content, title: string): void {
  const { currency, currencyDigits, taxes, lines, roundingMinor, totalMinor, totalCredits, netMinor } = content;
  const sum = lines.reduce((total, { amountMinor }) => total + BigInt(amountMinor), 0n);
  const small: [string, string][] = taxes.map(({ name, ratePercent, amountMinor }) => [
    `${name} ${ratePercent} %`,
    formatAmount(amountMinor, currencyDigits),
  ]);
  const rows: [name: string, value: string, weight: Weight][] = [
    ['Sum of the lines', formatAmount(String(sum), currencyDigits), 'regular'],
    ...(roundingMinor === '0'
      ? []
      : [
          ['Rounding of the lines', formatAmount(roundingMinor, currencyDigits), 'regular'] as [string, string, Weight],
        ]),
    [
      taxes.length > 0 ? 'Total, taxes included' : 'Total',
      `${formatAmount(totalMinor, currencyDigits)} ${currency}`,
      'bold',
    ],
    ...(taxes.length > 0
      ? ([['Net amount', formatAmount(netMinor, currencyDigits), 'regular']] as [string, string, Weight][])
      : []),
    ...small.map(([name, value]): [string, string, Weight] => [name, value, 'regular']),
    ['Total in credits', formatWhole(totalCredits), 'regular'],
  ];
  // All of it stays together, with what is said below it where that is not very much.
  const below = content.notes.slice(1).reduce((sum, note) => sum + noteHeight(paper, note), 0);
  const height = rows.length * 17 + 24 + Math.min(below, PAGE.height / 4);
  if (!paper.has(height)) {
    paper.turn();
    running(paper, content, title);
  }
  paper.y += 8;
  const [x, width] = [LEFT + WIDTH - 250, 250];
  for (const [name, value, weight] of rows) {
    const style = { weight, size: weight === 'bold' ? 10.5 : 9 };
    if (weight === 'bold') {
      paper.box('accent', 1, { x, width });
      paper.y += 6;
    }
    paper.put(name, x, 150, style);
    paper.put(value, x + 120, width - 120, { ...style, align: 'right' });
    paper.y += weight === 'bold' ? 20 : 15;
  }
  paper.y += 16;
}

const noteHeight = (paper: Paper, note: string): number => paper.lines(note, WIDTH).length * leading(9) + 6;

function notes(paper: Paper, content: Content, title: string): void {
  // The first one stands beside the total.
  for (const note of content.notes.slice(1)) {
    if (!paper.has(noteHeight(paper, note))) {
      paper.turn();
      running(paper, content, title);
    }
    paper.y += paper.put(note, LEFT, WIDTH) + 6;
  }
}

/** When it is known how many pages there are. */
function feet(paper: Paper, { number, imprint }: Content, title: string): void {
  for (const [index, page] of paper.pages.entries()) {
    const place = (y: number, text: string, align: 'left' | 'right'): TextOp => ({
      text,
      x: align === 'left' ? LEFT : RIGHT,
      y,
      align,
      size: 7,
      weight: 'regular',
      colour: 'grey',
    });
    page.boxes.push({ x: LEFT, y: BOTTOM + 14, width: WIDTH, height: 0.5, colour: 'rule' });
    const lines = imprint.flatMap((text) => paper.lines(text, WIDTH - 150, { size: 7 })).slice(0, 4);
    for (const [line, text] of lines.entries()) page.texts.push(place(BOTTOM + 21 + line * leading(7), text, 'left'));
    page.texts.push(place(BOTTOM + 21, `${title} ${number}`, 'right'));
    page.texts.push(place(BOTTOM + 21 + leading(7), `Page ${index + 1} of ${paper.pages.length}`, 'right'));
  }
}
