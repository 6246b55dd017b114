/** Tests what a pasted destination changes in its Secret, or the advice that people get. */
import { describe, expect, test } from 'vitest';
import { readChanges } from '../../../../../src/service/domain/destinations/secret-changes.ts';

describe('a login', () => {
  const known = { rtmpUrl: 'rtmp://h.example/app', hasLogin: true };
  const changes = (input: object, current: object | undefined = known) => readChanges(input, true, current).changes;

  test('is changed by either of its halves where there is one, and ended by an empty one or by SRT', () => {
    expect(changes({ rtmpPassword: 'new' })).toEqual({ rtmpPassword: 'new' });
    expect(changes({ rtmpUser: 'new' })).toEqual({ rtmpUser: 'new' });
    for (const none of [{ rtmpUser: '' }, { rtmpPassword: '' }, { rtmpUser: '', rtmpPassword: ' ' }])
      expect(changes(none)).toEqual({ rtmpUser: '', rtmpPassword: '' });
    expect(changes({ rtmpUrl: 'srt://h.example:9000' })).toMatchObject({ rtmpUser: '', rtmpPassword: '' });
    expect(changes({ rtmpUrl: 'rtmp://bob:pw@h2.example/app' })).toEqual({
      rtmpUrl: 'rtmp://h2.example/app',
      rtmpUser: 'bob',
      rtmpPassword: 'pw',
    });
    expect(() => changes({ rtmpPassword: 'new' }, { rtmpUrl: known.rtmpUrl })).toThrow();
    expect(() => changes({ rtmpUser: '', rtmpPassword: 'new' })).toThrow();
  });

  test('that is not asked for is not kept', () => {
    const input = { name: 'x', rtmpUrl: known.rtmpUrl, rtmpKey: 'k', rtmpUser: '', rtmpPassword: '' };
    expect(readChanges(input, true)).toEqual({
      changes: { rtmpUrl: known.rtmpUrl, rtmpKey: 'k' },
      status: { rtmpUrl: known.rtmpUrl, rtmpKeyHint: '' },
    });
  });
});

test.each([
  ['rtmp://h.example/mystream', { rtmpKey: '' }, { rtmpUrl: 'rtmp://h.example/mystream', rtmpKey: '' }],
  ['rtmp://h.example/mystream/', { rtmpKey: '' }, { rtmpUrl: 'rtmp://h.example/mystream/', rtmpKey: '' }],
  ['rtmps://h.example:8443/live/abcd-7x2q', {}, { rtmpUrl: 'rtmps://h.example:8443/live', rtmpKey: 'abcd-7x2q' }],
])('%s needs no other key beside it', (rtmpUrl, key, changes) => {
  expect(readChanges({ name: 'x', rtmpUrl, ...key }, true).changes).toEqual(changes);
});

test('an address that may be complete is taken with an empty key, and not where the key was forgotten', () => {
  const message = expect.stringMatching(/if the URL is complete without one, give an empty key/);
  expect(() => readChanges({ name: 'x', rtmpUrl: 'rtmp://h.example/app' }, true)).toThrow(
    expect.objectContaining({ extras: { errors: [{ path: '/rtmpKey', message }] } }),
  );
});

test.each(['rtmp://a.rtmp.youtube.com/live2', 'rtmp://live.twitch.tv/app/', 'rtmp://h.example', 'rtmp://h.example/'])(
  '%s without a key is refused with the next step',
  (rtmpUrl) => {
    expect(() => readChanges({ name: 'x', rtmpUrl }, true)).toThrow(
      expect.objectContaining({
        extras: { errors: [{ path: '/rtmpKey', message: expect.stringMatching(/give the stream key/) }] },
      }),
    );
  },
);

test('a change of the address alone shows no key that it may end with', () => {
  const { status } = readChanges({ rtmpUrl: 'rtmp://h.example/live/abcd-7x2q' }, true, { rtmpKeyHint: '7x2q' });
  expect(status.rtmpUrl).toBe('rtmp://h.example/live/…');
});
