/**
 * Writes the notices of all bundled packages, each with the text of its licence: MIT, BSD, ISC and Apache ask for it.
 * Throws for a package without a known text, so that none ships without.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const TEXTS = /^((un)?licen[cs]e|copying|notice|copyright)([.-]|$)/i;
const LICENCES = /^((un)?licen[cs]e|copying)/i;

/** https://spdx.org/licenses/MIT.html, for packages that name it and leave its text out. */
const mit = (holder: string): string => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;

interface Manifest {
  name: string;
  version: string;
  license?: string;
  author?: string | { name?: string };
}

export interface Notice {
  name: string;
  version: string;
  licence: string;
  text: string;
}

/** Folders of packages, below `root`, of files that a bundler has read. */
export function packageFolders(files: Iterable<string>): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    const folder = FOLDER.exec(file.replaceAll('\\', '/'))?.[1];
    // Files of the bundler itself have no package.
    if (folder && !folder.includes('\0') && existsSync(join(folder, 'package.json'))) folders.add(folder);
  }
  return [...folders];
}

function standardText({ name, license, author }: Manifest): string {
  const holder = (typeof author === 'string' ? author : author?.name) ?? `the authors of ${name}`;
  if (license === 'MIT') return mit(holder);
  if (license === 'Apache-2.0') return readFileSync(join(import.meta.dirname, '../LICENSE'), 'utf8');
  throw new Error(`The package ${name} contains no text of its licence (${license}). Add it to scripts/notices.ts.`);
}

export function readNotice(folder: string): Notice {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && TEXTS.test(entry.name))
    .map((entry) => entry.name)
    .sort();
  const texts = names.map((name) => readFileSync(join(folder, name), 'utf8').trim());
  if (!names.some((name) => LICENCES.test(name))) texts.unshift(standardText(manifest).trim());
  const { name, version, license = 'see its text' } = manifest;
  return { name, version, licence: String(license), text: texts.join('\n\n') };
}

const HEAD = 'loopstream contains the following third-party packages, each under its own licence.\n';
/** Between two notices; no text of a licence has such a line. */
const RULE = `\n${'='.repeat(100)}\n`;

const joinSections = (sections: Iterable<string>): string => [HEAD, ...[...new Set(sections)].sort()].join(RULE);

const SECTION = /^(\S+) (\S+) \(([^\n]+)\)\n\n(.*)\n$/s;

/** One text of them all, in the order of their names; each version of a package once. */
export const writeSections = (notices: readonly Notice[]): string =>
  joinSections(notices.map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}\n`));

export const writeNotices = (folders: Iterable<string>): string => writeSections([...folders].map(readNotice));

const splitSections = (text: string): string[] => text.split(RULE).slice(1);

/** Reads the notices of such a text. */
export const readNotices = (text: string): Notice[] =>
  splitSections(text).map((section) => {
    const [, name, version, licence, own] = SECTION.exec(section) ?? [];
    if (!name || !version || !licence || own === undefined) throw new Error(`No notice: ${section.slice(0, 80)}`);
    return { name, version, licence, text: own };
  });

/** One text of several. */
export const mergeNotices = (texts: readonly string[]): string => joinSections(texts.flatMap(splitSections));
