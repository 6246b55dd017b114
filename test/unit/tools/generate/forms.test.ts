import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { shown } from '../../../../src/service/lib/fields.ts';
import { FORMS_PATH, formsModule } from '../../../../tools/generate/forms.ts';

test('the words of the page match the table of fields (fix with `make generate`)', () => {
  const committed = readFileSync(join(import.meta.dirname, '../../../..', FORMS_PATH), 'utf8');
  expect(formsModule()).toBe(committed);
});

test('a choice without a label is a mistake in the table', () => {
  const mode = { ...shown(Type.String(), () => 'a'), choices: { a: 'A' } };
  expect(() => formsModule({ mode })).toThrow('The field mode has choices and no label.');
});
