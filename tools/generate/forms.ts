/** Writes what the page’s forms read of the table of fields of a stream: labels, choices and defaults. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STREAM_FIELDS } from '../../src/service/domain/streams/fields.ts';
import type { FieldTable } from '../../src/service/lib/fields.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import { formatModule } from './format.ts';

export const FORMS_PATH = 'src/dashboard/features/streams/fields.ts';

/** Returns the module of a table. A choice has a label, and the default of a resource that has nothing. */
export function formsModule(table: FieldTable = STREAM_FIELDS): string {
  const labels = Object.entries(table).flatMap(([name, { label }]) => (label === undefined ? [] : [[name, label]]));
  const chosen = Object.entries(table).flatMap(([name, { choices, read, label }]) => {
    if (!choices) return [];
    if (label === undefined) throw new TypeError(`The field ${name} has choices and no label.`);
    return [{ name, choices, fallback: read?.({ metadata: {}, spec: {} } as never) }];
  });
  const choices = chosen.map(({ name, choices }) => [
    name,
    Object.entries(choices).map(([value, label]) => ({ value, label })),
  ]);
  const defaults = chosen.map(({ name, fallback }) => [name, fallback]);
  const print = (entries: unknown[][]) => `${JSON.stringify(Object.fromEntries(entries))} as const;`;
  return formatModule(
    FORMS_PATH,
    `/** Lists the labels, choices and defaults of a stream’s fields. Made from src/service/domain/streams/fields.ts by \`make generate\`. */
export const LABELS = ${print(labels)}

export const CHOICES = ${print(choices)}

export const DEFAULTS = ${print(defaults)}
`,
  );
}

/** Writes the module, and returns its path. */
export function generateForms(): string {
  const path = join(PROJECT_ROOT, FORMS_PATH);
  writeFileSync(path, formsModule());
  return path;
}
