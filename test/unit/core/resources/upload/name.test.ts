/** Tests that a file keeps the name that its link gives it. */
import { expect, test } from 'vitest';
import { parseLinkName } from '../../../../../src/core/resources/upload/name.ts';

test.each([
  ['100%.mp4', '100%.mp4'],
  ['100%25%20sure.mp4', '100% sure.mp4'],
  ['100%%20caf%C3%A9.mp4', '100% café.mp4'],
  ['bad%FF%20.mp4', 'bad%FF%20.mp4'],
  ['watch?v=1', 'a.example/watch'],
  ['', 'a.example'],
  ['a%00b.mp4', 'ab.mp4'],
])('the link …/%s names its file %s', (last, name) => expect(parseLinkName(`https://a.example/x/${last}`)).toBe(name));
