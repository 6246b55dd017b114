/** Tests that a stream of kubectl, which may name what no account has, can be sent back as it is. */
import { expect, test } from 'vitest';
import { checkReferences, type References, withNamed } from '../../../../../src/service/domain/streams/requests.ts';

const NOTHING: References = {
  destination: () => undefined,
  upload: () => undefined,
  playlist: () => undefined,
  scene: () => undefined,
};
const STREAM: Parameters<typeof withNamed>[1] = {
  destinations: [{ destinationID: 'main', enabled: true }],
  videoUploadObjectID: 'film',
  playlistIDs: ['evening'],
  audioPlaylistIDs: ['songs'],
  overlays: { layers: [], sceneID: 'corner', required: false },
  slateUploadObjectID: 'pause',
  cards: { imageUploadObjectID: 'wall' },
};
const check = (input: Parameters<typeof checkReferences>[2]) =>
  checkReferences(withNamed(NOTHING, STREAM), 'ada', input);

test('what a stream names already stands, also where the account does not have it', () => {
  check({ ...STREAM, destinationIDs: ['main'], videoUploadObjectID: 'film', overlays: { sceneID: 'corner' } });
  check({ destinationID: 'main' });
});

test('what it does not name is looked for, beside what it names', () => {
  const refused = [
    { destinationIDs: ['main', 'other'] },
    { videoUploadObjectID: 'other' },
    { slateUploadObjectID: 'other' },
    { playlistIDs: ['evening', 'other'] },
    { overlays: { sceneID: 'other' } },
    { cards: { imageUploadObjectID: 'other' } },
  ];
  for (const input of refused) expect(() => check(input), JSON.stringify(input)).toThrow(/exist/);
  // An id that is named for another use is still checked for this one.
  expect(() => check({ playlistIDs: ['songs'] })).toThrow(/kind audio/);
});
