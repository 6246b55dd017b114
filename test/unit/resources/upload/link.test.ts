/** Tests that a link is taken as people paste it, and keeps its name. */
import { expect, test } from 'vitest';
import { tidyLink } from '../../../../src/resources/upload/link.ts';
import { parseLinkName } from '../../../../src/resources/upload/name.ts';

test.each([
  ' https://a.example/x.mp4',
  'https://a.example/x.mp4\n',
  '<https://a.example/x.mp4>',
  ' < https://a.example/x.mp4 > ',
])('%j is taken', (text) => expect(tidyLink(text)).toBe('https://a.example/x.mp4'));

test.each([
  ['100%.mp4', '100%.mp4'],
  ['100%25%20sure.mp4', '100% sure.mp4'],
  ['100%%20caf%C3%A9.mp4', '100% café.mp4'],
  ['bad%FF%20.mp4', 'bad%FF%20.mp4'],
  ['a%00b.mp4', 'ab.mp4'],
])('the link …/%s names its file %s', (last, name) => expect(parseLinkName(`https://a.example/x/${last}`)).toBe(name));
