/** Tests that the table of forms, by which bad input is tried in a browser, names every text field. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { FORMS, type Made, OPEN_FORMS, SEARCHES } from '../../../kit/make/forms.ts';

const ROOT = resolve(import.meta.dirname, '../../../../src/dashboard');
/** These files make the fields that others use by name. */
const SHARED = ['features/account/fields.tsx', 'features/destinations/address.tsx'];
const FIELD = /<(\w*(?:Input|Field|Autocomplete|Combobox|[Ss]elect|[Aa]rea)|input)(?=[\s/>])/g;
/** These elements take no text. */
const CHOICES =
  /^<NativeSelect\b|type="(?:radio|checkbox|file|hidden)"|type=\{single \? 'radio' : 'checkbox'\}|\sreadOnly\b/;

/** Returns the text from `start` to the first `end` outside of braces. */
function upTo(end: string, text: string, start: number): string {
  let depth = 0;
  for (let i = start; i < text.length; i += 1) {
    if (text[i] === end && depth === 0) return text.slice(start, i + 1);
    if (text[i] === '{') depth += 1;
    if (text[i] === '}') depth -= 1;
  }
  throw new Error(`no ${end} after ${text.slice(start, start + 60)}`);
}

/**
 * Returns a field's labels as the source has them: all texts of an expression, or the expression where there is none; without one, its
 * name.
 */
function listLabels(name: string, tag: string): string[] {
  const label = /\s(?:aria-)?label=(?:"([^"]*)"|\{)/.exec(tag);
  if (label?.[1] !== undefined) return [label[1]];
  const which = / which="([^"]*)"/.exec(tag)?.[1];
  if (label === null) return [which ? `${name} ${which}` : name];
  const expression = upTo('}', tag, label.index + label[0].length).slice(0, -1);
  const texts = [...expression.matchAll(/'([^']*)'|`([^`]*)`/g)].map(
    ([, a, b = '']) => a ?? b.replace(/\$\{.*?\}/g, '…'),
  );
  return texts.length > 0 ? texts : [expression];
}

function fieldsIn(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(FIELD)].flatMap((found) => {
    const [, name = ''] = found;
    const tag = upTo('>', text, found.index);
    return made.has(name) || CHOICES.test(tag) ? [] : listLabels(name, tag).map((label) => `${file}: ${label}`);
  });
}

const files = globSync('**/*.tsx', { cwd: ROOT }).filter((file) => !SHARED.includes(file));
/** Components of these files, whose fields are found where they are made. */
const made = new Set(
  files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:const|function) (\w+)/g)].map(([, name = '']) => name),
  ),
);

const facts = { email: '…', password: '', apiKey: '' } as Made['facts'];
const account: Made = { destination: '', playlist: '', stream: '', endpoint: '', facts };
const named = new Set([
  ...Object.values({ ...FORMS, ...OPEN_FORMS }).flatMap(({ file, fields }) =>
    fields(account).map((field) => `${field.file ?? file}: ${field.source ?? field.label}`),
  ),
  ...SEARCHES.map(({ file, label, source = label }) => `${file}: ${source}`),
]);
const there = new Set(files.flatMap(fieldsIn));

test('no field is there that the table does not name, and none is named that is not there', () => {
  expect([...there].sort()).toEqual([...named].sort());
});

test('the fields that others use by name are fields', () => {
  const uses = [...there].flatMap((one) => /: (\w+Field)\b/.exec(one)?.[1] ?? []);
  const text = SHARED.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
  for (const name of uses) expect(text).toContain(`export const ${name} =`);
});
