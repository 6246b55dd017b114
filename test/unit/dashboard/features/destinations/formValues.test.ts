import { expect, test } from 'vitest';
import { findAddressKeyNeed } from '../../../../../src/dashboard/features/destinations/formValues.ts';
import { readChanges } from '../../../../../src/service/domain/destinations/secret-changes.ts';

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
