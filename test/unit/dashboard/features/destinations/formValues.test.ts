import { expect, test } from 'vitest';
import {
  findAddressKeyNeed,
  findAddressMistake,
  findLeastBitrateChange,
  findLeastBitrateMistake,
  showLeastBitrate,
} from '../../../../../src/dashboard/features/destinations/formValues.ts';
import type { Destination } from '../../../../../src/service/client/index.ts';
import { readChanges } from '../../../../../src/service/domain/destinations/secret-changes.ts';
import type { AppError } from '../../../../../src/service/lib/errors.ts';

/** Whether the API takes a new destination whose key is empty, or not given. */
const isTaken = (rtmpUrl: string, key: { rtmpKey?: string }): boolean => {
  try {
    readChanges({ rtmpUrl, ...key }, true);
    return true;
  } catch {
    return false;
  }
};

test.each([
  ['rtmp://media.example/mystream', 'optional'],
  ['rtmps://media.example:8443/mystream', 'optional'],
  ['rtmp://10.0.0.7/mystream/', 'optional'],
  [' “RTMP://media.example/mystream?user=me” ', 'optional'],
  ['rtmp://me:secret@media.example/mystream', 'optional'],
  ['rtmp://media.example/live/mystream', 'none'],
  ['rtmps://a.rtmps.youtube.com:443/live2/abcd-efgh', 'none'],
  ['srt://media.example:9000', 'none'],
  ['srt://media.example:9000?streamid=#!::r=live,m=publish', 'none'],
  ['rtmp://media.example', 'required'],
  ['rtmp://media.example/', 'required'],
  ['rtmps://a.rtmps.youtube.com:443/live2', 'required'],
  ['rtmps://fa723fc1b171.global-contribute.live-video.net:443/app', 'required'],
  ['rtmp://media.example/live/{stream_key}', 'required'],
  ['srt://media.example:9000?streamid={stream_key}', 'required'],
  ['https://media.example/live', 'required'],
  ['', 'required'],
])('the page asks for the key of %s as the API does: %s', (rtmpUrl, need) => {
  expect(findAddressKeyNeed(rtmpUrl)).toBe(need);
  expect(isTaken(rtmpUrl, { rtmpKey: '' })).toBe(need !== 'required');
  expect(isTaken(rtmpUrl, {})).toBe(need === 'none');
});

/** Returns the complaint of the API about the address of a new destination. */
function findRefusal(rtmpUrl: string): string | undefined {
  try {
    readChanges({ rtmpUrl, rtmpKey: 'abcd-efgh' }, true);
    return undefined;
  } catch (error) {
    const { errors } = (error as AppError).extras as { errors: { message: string }[] };
    return errors[0]?.message;
  }
}

test.each([
  'https://example.com/app',
  'live.example.com/app',
  'rtmp://',
  'rtmp://live.example.com:0/app',
  'rtmp://live example.com/app',
  'rtmp://bad_host!/app',
  'srt://media.example:9000?mode=listener',
  'srt://media.example:9000?passphrase=…',
  'rtmp://media.example/{app}/live/x',
])('the page says of the address %s what the API says, whatever the key is', (rtmpUrl) => {
  const refusal = findRefusal(rtmpUrl);
  expect(refusal).toBeDefined();
  expect(findAddressMistake(rtmpUrl)?.toLowerCase()).toBe(`${refusal}.`.toLowerCase());
});

test('an address that can be one, and one that stays, is no mistake', () => {
  for (const url of [
    ' rtmp://media.example/live ',
    'rtmp://media.example/live/{stream_key}',
    'srt://media.example:9000',
  ])
    expect(findAddressMistake(url)).toBeNull();
  const shown = 'srt://media.example:9000?passphrase=…';
  expect(findAddressMistake(shown, shown)).toBeNull();
  expect(findAddressMistake('  ')).toBe('Enter the destination’s address.');
});

test.each([
  ['', null, {}],
  ['0', null, { leastBitrateKbps: 0 }],
  [' 3000 ', null, { leastBitrateKbps: 3000 }],
  ['3000', 3000, {}],
  ['0', 0, {}],
  ['', 3000, { leastBitrateKbps: null }],
])('a least bitrate of "%s" where it was %j sends %j', (leastBitrateKbps, before, sent) => {
  const destination = { leastBitrateKbps: before } as Destination;
  expect(findLeastBitrateMistake(leastBitrateKbps)).toBeNull();
  expect(findLeastBitrateChange({ leastBitrateKbps }, destination)).toEqual(sent);
  expect(showLeastBitrate(destination)).toBe(before === null ? '' : `${before}`);
});

test.each(['50001', '-1', '1.5', '1e3', 'much'])('a least bitrate of "%s" is a mistake', (text) => {
  expect(findLeastBitrateMistake(text)).toBe('Enter a whole number from 0 to 50,000, or leave it empty.');
});
