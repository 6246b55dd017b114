/** Writes to the terminal. Colours appear only on a terminal without NO_COLOR. */
import { styleText } from 'node:util';
import { sanitize } from './table.ts';

const LEAST_WIDTH = 60;

export const write = (text: string): void => void process.stdout.write(text);
export const warn = (sentence: string): void => void process.stderr.write(`${sanitize(sentence)}\n`);

/** The width of the terminal; undefined where there is none: a program reads each row as one line. */
export const readWidth = (): number | undefined =>
  process.stdout.isTTY ? Math.max(LEAST_WIDTH, process.stdout.columns) : undefined;

export type Style = 'green' | 'yellow' | 'red' | 'dim' | 'bold';
/** Without a terminal, or with NO_COLOR, the text stays as it is. */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });
