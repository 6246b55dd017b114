/** Tests the layers of a stream's overlays, as its form has them. */
import { expect, test } from 'vitest';
import {
  fillText,
  findLayersMistake,
  findShowKind,
  insertField,
  listPictures,
  NEW_TEXT,
  nameLayer,
  newPicture,
  type OverlayLayer,
  SHOWS,
  startShow,
} from '../../../../../src/dashboard/features/overlays/layers.ts';
import { moveBy } from '../../../../../src/dashboard/lib/moveBy.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';
import { findOverlayErrors } from '../../../../../src/service/domain/streams/overlays.ts';
import { StreamUpdate } from '../../../../../src/service/domain/streams/record.ts';
import { exampleUpload } from '../../../../../src/service/domain/uploads/operations.ts';
import { compileBody } from '../../../../../src/service/server/http/validation.ts';

const FACTS = {
  'item.title': 'A $& song',
  'item.artist': '',
  'item.album': 'One',
  'playlist.name': '',
  'stream.name': 'Night',
};

test('a field is put where the cursor is, in place of what is selected', () => {
  expect(insertField('Now:  by', 'item.title', 5)).toBe('Now: {{item.title}} by');
  expect(insertField('Now: x', 'stream.name', 5, 6)).toBe('Now: {{stream.name}}');
  expect(insertField('By ', 'item.artist')).toBe('By {{item.artist}}');
});

test('a preview fills in each field as it is, and keeps what is none', () => {
  expect(fillText('{{item.title}} / {{ item.album }}', FACTS)).toBe('A $& song / One');
  expect(fillText(' {{item.artist}} ', FACTS)).toBe('');
  expect(fillText('{{next.title}} {', FACTS)).toBe('{{next.title}} {');
});

test('what the form begins with is taken by the server', () => {
  const check = compileBody(StreamUpdate);
  const shows = SHOWS.map(({ value }) => ({ ...NEW_TEXT, show: startShow(value) }));
  const overlays = { layers: [...shows, newPicture('upl-1')], required: false };
  expect(check({ overlays })).toEqual({ value: { overlays } });
  expect(findOverlayErrors(overlays, { upload: () => ({ track: 'video' }), scene: () => undefined })).toEqual([]);
  expect(shows.map(({ show }) => findShowKind(show))).toEqual(SHOWS.map(({ value }) => value));
});

test('pictures are stills without sound; one that is chosen stays, whatever became of it', () => {
  const upload = (objectID: string, more: Partial<Upload>): Upload => ({ ...exampleUpload, objectID, ...more });
  const video = { codec: 'png', width: 1, height: 1, framerate: 25 };
  const uploads = [
    upload('film', {}),
    upload('logo', { video, audio: null }),
    upload('song', { video: null }),
    upload('new', { video: null, audio: null }),
    upload('gone', { state: 'failed' }),
  ];
  const list = (chosen?: string) => listPictures(uploads, chosen).map(({ objectID }) => objectID);
  expect(list()).toEqual(['logo']);
  expect(list('gone')).toEqual(['logo', 'gone']);
  expect(listPictures(undefined)).toEqual([]);
  expect(nameLayer(newPicture('logo'), [upload('logo', { name: 'Logo.png' })])).toBe('Picture: Logo.png');
  expect(nameLayer(newPicture('lost'), uploads)).toBe('Picture: lost');
  expect(nameLayer({ ...NEW_TEXT, text: ' Hi ' }, uploads)).toBe('Text: Hi');
});

test('a layer moves by one place, and no further than the end', () => {
  const layers = ['a', 'b', 'c'].map((text): OverlayLayer => ({ ...NEW_TEXT, text }));
  const order = (index: number, by: 1 | -1) => moveBy(layers, index, by).map(({ text }) => text);
  expect(order(0, 1)).toEqual(['b', 'a', 'c']);
  expect(order(2, -1)).toEqual(['a', 'c', 'b']);
  expect(order(0, -1)).toEqual(['a', 'b', 'c']);
  expect(order(2, 1)).toEqual(['a', 'b', 'c']);
});

test('a text that is empty, or shown for the whole interval, is told before it is sent', () => {
  const find = (more: Partial<OverlayLayer>) =>
    findLayersMistake({ layers: [{ ...NEW_TEXT, ...more }], sceneID: null, required: false });
  expect(find({})).toBeNull();
  expect(find({ text: ' ' })).toContain('Enter a text');
  expect(find({ text: 'a'.repeat(501) })).toContain('500 characters');
  expect(find({ text: 'Next: {{next.title}}' })).toContain('{{item.title}}, {{item.artist}}');
  expect(find({ text: 'a\u0007b' })).toContain('control characters');
  const every = { firstSeconds: null, lastSeconds: null, everySeconds: 60, forSeconds: 60 };
  expect(find({ show: every })).toContain('less than the interval');
  expect(find({ show: { ...every, forSeconds: 59 } })).toBeNull();
});
