/** Compares pictures of pages with the kept ones, and renews those. */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { comparePictures, hasSource, joinPictures, readPng, writePng } from './pictures.ts';

const ROOT = join(import.meta.dirname, '../../..');
const KEPT = join(ROOT, 'test/e2e/looks/');
/** Where the pictures of a run are. */
const REPORTS = join(ROOT, 'test-reports/looks');
/** Part of the pixels that may differ. */
const LIMIT = 0.005;

export interface Judged {
  name: string;
  /** Part of the pixels that differ; undefined where no picture is kept. */
  part: number | undefined;
  fails: boolean;
  /** Says what differs, and where to see it. Empty where nothing does. */
  sentence: string;
}

const read = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

const hash = (png: Buffer): string => createHash('sha256').update(png).digest('hex');

export const listKept = (): string[] => globSync(`${KEPT}*.png`).map((file) => basename(file, '.png'));

/** `png`: as the browser has written it. Of a picture that differs, it and the difference are written to the reports. */
export function judge(name: string, png: Buffer): Judged {
  const kept = read(join(KEPT, `${name}.png`));
  // A browser draws the same picture in the same bytes. Most are, and to unpack them takes as long as to draw them.
  if (kept && hasSource(kept, hash(png))) return { name, part: 0, fails: false, sentence: '' };
  const actual = readPng(png);
  const { part, picture } = kept ? comparePictures(readPng(kept), actual) : { part: undefined, picture: undefined };
  const fails = part === undefined || part > LIMIT;
  const [actualFile, differenceFile] = ['actual', 'diff'].map((what) => join(REPORTS, `${name}.${what}.png`));
  rmSync(actualFile as string, { force: true });
  rmSync(differenceFile as string, { force: true });
  if (part === 0) return { name, part, fails, sentence: '' };
  mkdirSync(REPORTS, { recursive: true });
  writeFileSync(actualFile as string, writePng(actual));
  if (picture) writeFileSync(differenceFile as string, writePng(picture));
  const what = part === undefined ? 'has no kept picture' : `differs in ${(100 * part).toFixed(2)} % of its pixels`;
  return { name, part, fails, sentence: `${name} ${what}: test-reports/looks/${name}.{actual,diff}.png` };
}

/** Keeps the picture; returns the file that shows the one before it, it and their difference side by side, where there was one. */
export function keep(name: string, png: Buffer): string | undefined {
  const file = join(KEPT, `${name}.png`);
  const before = read(file);
  const actual = readPng(png);
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(file, writePng(actual, hash(png)));
  if (!before) return undefined;
  const { picture } = comparePictures(readPng(before), actual);
  const beside = join(REPORTS, `${name}.beside.png`);
  mkdirSync(REPORTS, { recursive: true });
  writeFileSync(beside, writePng(joinPictures([readPng(before), actual, ...(picture ? [picture] : [])])));
  return beside;
}

/** Removes pictures of looks that are no more. */
export function removeOthers(names: ReadonlySet<string>): string[] {
  const others = listKept().filter((name) => !names.has(name));
  for (const name of others) rmSync(join(KEPT, `${name}.png`));
  return others;
}
