/** Tests what overlays show over an item, and the names of looks. */
import { expect, test } from 'vitest';
import { brokenRule, OVERLAY_TEXT } from '../../../../../src/core/lib/sentences.ts';
import { renditionJobName } from '../../../../../src/core/resources/common/names.ts';
import {
  fillTemplate,
  findItemFacts,
  findLayerImage,
  type ItemFacts,
  isPicture,
  listImageNames,
  resolveLayers,
} from '../../../../../src/core/resources/upload/layers.ts';
import { lookProfile, parseLookProfile } from '../../../../../src/core/resources/upload/look.ts';
import { nameProfile } from '../../../../../src/core/resources/upload/loudness.ts';
import type { Layer, Overlays } from '../../../../../src/core/resources/upload/overlays.ts';

const FACTS: ItemFacts = {
  'item.title': 'Rain',
  'item.artist': '',
  'item.album': 'Storms',
  'playlist.name': 'Night',
  'stream.name': 'Radio',
};
const PLACE = { anchor: 'BottomRight', marginPercent: 4, opacityPercent: 100 } as const;
const image = { key: 'sources/1', sha256: 'a'.repeat(64) };
const layer = (own: Partial<Layer>): Layer => ({ ...PLACE, ...own });
const overlays = (...layers: Partial<Layer>[]): Overlays => ({ layers: layers.map(layer) });
const resolve = (own: Overlays, facts = FACTS) => resolveLayers(own, facts, () => image) ?? [];

test('a text has the facts of its item in the place of its fields', () => {
  expect(fillTemplate('{{item.title}} – {{ item.album }}\r\non {{stream.name}}', FACTS)).toBe(
    'Rain – Storms\non Radio',
  );
  expect(fillTemplate('{{item.artist}}', FACTS)).toBe('');
  expect(fillTemplate('{{item.title}}', { ...FACTS, 'item.title': '{{stream.name}} {{x}}' })).toBe(
    '{{stream.name}} {{x}}',
  );
});

test('a text stays short and drawable, whatever the facts are', () => {
  const long = fillTemplate('{{item.title}}', { ...FACTS, 'item.title': `${'a'.repeat(499)}😀` });
  expect(long).toBe('a'.repeat(499));
  expect(fillTemplate('{{item.title}}', { ...FACTS, 'item.title': 'a\u0000\u001bb\ud800c' })).toBe('ab\ufffdc');
});

test('facts are the tags of an item, and its name where it has no title', () => {
  const upload = {
    metadata: { name: 'upl-1' },
    spec: { displayName: 'rain.mp4', source: {}, tags: { artist: 'Own' } },
    status: { media: { sha256: '', sizeBytes: 1, durationSeconds: 1, tags: { artist: 'File', album: 'Storms' } } },
  };
  const stream = { metadata: { name: 'str-1' }, spec: { displayName: 'Radio' } };
  expect(findItemFacts(upload, stream, { metadata: { name: 'pls-1' }, spec: {} })).toEqual({
    'item.title': 'rain.mp4',
    'item.artist': 'Own',
    'item.album': 'Storms',
    'playlist.name': 'pls-1',
    'stream.name': 'Radio',
  });
  expect(findItemFacts(upload, stream)['playlist.name']).toBe('');
});

test('a text may name the known fields alone', () => {
  for (const text of [
    'plain',
    '{{item.title}}',
    'a { b } {{ stream.name }} }}',
    '{',
    'two\nlines',
    'x{y}{{item.album}}',
  ])
    expect(brokenRule(OVERLAY_TEXT, text)).toBeUndefined();
  for (const text of ['{{next.title}}', '{{item.titles}}', '{{', 'a {{item.title}', '{{itemxtitle}}', '{{}}'])
    expect(brokenRule(OVERLAY_TEXT, text)).toContain('{{item.title}}, {{item.artist}}');
  expect(brokenRule(OVERLAY_TEXT, 'bell\u0007')).toContain('control characters');
});

test('layers have all they are drawn with, and those without a text for the item are left out', () => {
  expect(
    resolve(overlays({ text: '{{item.artist}}' }, { text: 'by {{item.title}}', show: { firstSeconds: 5 } })),
  ).toEqual([
    {
      ...PLACE,
      sizePercent: 5,
      text: 'by Rain',
      font: 'Sans',
      bold: false,
      color: '#FFFFFF',
      show: { firstSeconds: 5 },
    },
  ]);
  expect(resolve(overlays({ imageUploadName: 'logo', anchor: 'TopLeft' }))).toEqual([
    { ...PLACE, anchor: 'TopLeft', sizePercent: 15, imageKey: 'sources/1', imageSha256: image.sha256 },
  ]);
});

test('a look waits for all its pictures', () => {
  const both = overlays({ imageUploadName: 'logo' }, { imageUploadName: 'gone' }, { imageUploadName: 'logo' });
  expect(listImageNames(both)).toEqual(['logo', 'gone']);
  expect(resolveLayers(both, FACTS, (name) => (name === 'logo' ? image : undefined))).toBeUndefined();
});

test('a picture is one that is imported and has no sound', () => {
  const video = { codec: 'png', width: 1, height: 1, framerate: 25 };
  const audio = { codec: 'aac', sampleRate: 48_000, channels: 2 };
  const media = { sha256: image.sha256, sizeBytes: 1, durationSeconds: 10, video };
  expect(findLayerImage({ metadata: { uid: '1' }, status: { media } })).toEqual(image);
  expect(findLayerImage({ metadata: { uid: '1' } })).toBeUndefined();
  expect([
    isPicture({ video, audio }),
    isPicture({ audio }),
    isPicture({ video: { ...video, codec: 'h264' } }),
  ]).toEqual([false, false, false]);
});

test('the same overlays in one profile have one name, and what differs has another', () => {
  const logo = resolve(overlays({ imageUploadName: 'logo' }));
  const moved = logo.map((one) => ({ ...one, imageKey: 'sources/2' }));
  const name = lookProfile('720p30', logo);
  expect(name).toMatch(/^720p30-l[0-9a-z]{6}$/);
  expect(lookProfile('720p30', moved)).toBe(name);
  const others = [
    lookProfile('1080p30', logo).replace('1080p30', '720p30'),
    lookProfile('720p30', [...logo, ...logo]),
    lookProfile('720p30', resolve(overlays({ imageUploadName: 'logo', opacityPercent: 99 }))),
    lookProfile('720p30', resolve(overlays({ imageUploadName: 'logo', show: { lastSeconds: 3 } }))),
  ];
  expect(new Set([name, ...others]).size).toBe(5);
});

test('the profile of a look says the quality, and its Job has a name that fits', () => {
  expect(parseLookProfile('720p30-l3k9x0a')).toEqual({ profile: '720p30', look: '3k9x0a' });
  for (const profile of ['720p30', 'preview', 'sound-14-1-6', '720p30-l3k9x0', '720p30-3k9x0a1'])
    expect(parseLookProfile(profile)).toBeUndefined();
  expect(nameProfile('720p30-l3k9x0a')).toBe('720p30 with overlays');
  expect(renditionJobName('upl-1', '2160p60-l3k9x0a')).toBe('upl-1-l3k9x0a');
});
