import { expect, test } from 'vitest';
import { checkMessage } from '../../../scripts/commit-message.ts';

test.each([
  'fix(operator): retry a pod that a policy refused\n\nA policy may change.\n',
  'feat: add a table of lanes\n',
  'Process the queue of uploads\n',
  'build!: drop Node 22\n\n# a comment\n',
  'Merge branch of somebody whose name makes this line much longer than seventy-two characters\n',
  'fixup! fix: whatever was.\n',
])('%j is a good message', (message) => expect(checkMessage(message)).toEqual([]));

test.each([
  ['\n', 'The subject is empty.'],
  ['fix: \n', 'The subject is empty.'],
  [`fix: ${'x'.repeat(68)}\n`, 'The subject has 73 characters, and 72 are allowed.'],
  ['fix: add a table.\n', 'The subject ends with a full stop.'],
  ['fix: added a table\n', expect.stringContaining('begins with "added"')],
  ['fix: adds a table\n', expect.stringContaining('begins with "adds"')],
  ['fix: adding a table\n', expect.stringContaining('begins with "adding"')],
  ['fix: add a table\nfor lanes\n', expect.stringContaining('The second line is not empty')],
])('%j is refused with its reason', (message, problem) => expect(checkMessage(message)).toEqual([problem]));
