/** Tests how a request says where viewers see a stream, and what it is told of their view. */
import { describe, expect, test } from 'vitest';
import { toPascalCase } from '../../../../../src/core/lib/codes/code-text.ts';
import { PLATFORM_CODES, type PlatformReason, SEEN } from '../../../../../src/core/lib/codes/platforms.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { readPlatform, showPlatformLive } from '../../../../../src/service/domain/destinations/platform.ts';
import type { PlatformInput } from '../../../../../src/service/domain/destinations/record.ts';
import { AppError } from '../../../../../src/service/lib/errors.ts';
import { meta } from '../../../../kit/make/operator.ts';

const read = (given: PlatformInput, allowPrivate = false) => readPlatform(given, { allowPrivate }).platform;

test.each([
  [{ kind: 'watch', url: ' <https://cdn.example/live.m3u8> ' }, { url: 'https://cdn.example/live.m3u8' }],
  [
    { kind: 'watch', url: 'rtmp://live.example.com/app/name', channel: null },
    { url: 'rtmp://live.example.com/app/name' },
  ],
  [{ kind: 'twitch', channel: 'https://www.twitch.tv/Name' }, { channel: 'name' }],
  [{ kind: 'twitch', url: 'https://www.twitch.tv/name' }, { channel: 'name' }],
  [{ kind: 'youtube', videoId: 'https://youtu.be/aqz-KE-bpKQ' }, { videoId: 'aqz-KE-bpKQ' }],
  [{ kind: 'youtube', url: 'https://www.youtube.com/live/aqz-KE-bpKQ' }, { videoId: 'aqz-KE-bpKQ' }],
] as [PlatformInput, object][])('%j is understood', (given, expected) => {
  expect(read(given)).toEqual({ kind: given?.kind, policy: 'Observe', ...expected });
});

test.each([
  [{ kind: 'watch' }, '/platform/url'],
  [{ kind: 'watch', url: 'https://youtu.be/aqz-KE-bpKQ' }, '/platform/url'],
  [{ kind: 'watch', url: 'https://cdn.example/x', videoId: 'aqz-KE-bpKQ' }, '/platform/videoId'],
  [{ kind: 'twitch' }, '/platform/channel'],
  [{ kind: 'twitch', channel: 'name', refreshToken: 'x' }, '/platform/refreshToken'],
  [{ kind: 'youtube' }, '/platform/videoId'],
  [{ kind: 'youtube', videoId: 'https://www.youtube.com/@name' }, '/platform/videoId'],
  [{ kind: 'youtube', videoId: 'aqz-KE-bpKQ', policy: 'Repair' }, '/platform/policy'],
  [{ kind: 'twitch', channel: 'name', policy: 'Repair' }, '/platform/policy'],
  [{ kind: 'youtube', refreshToken: 'two words' }, '/platform/refreshToken'],
] as [PlatformInput, string][])('%j is refused at %s', (given, path) => {
  expect(() => read(given)).toThrow(
    expect.objectContaining({ code: 'validation_failed', extras: { errors: [expect.objectContaining({ path })] } }),
  );
});

test.each([
  'http://10.0.0.1/x',
  'http://[::1]/x',
  'http://0x7f.1/x',
  'rtmp://192.168.1.1/app/x',
  'http://api.svc/x',
  'http://nginx/x',
])('%s is private, and allowed where private ones are', (url) => {
  const refused = (() => {
    try {
      return read({ kind: 'watch', url });
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toBeInstanceOf(AppError);
  expect(refused).toMatchObject({ code: 'destination_forbidden', extras: { errors: [{ path: '/platform/url' }] } });
  expect(read({ kind: 'watch', url }, true)).toMatchObject({ url });
});

test('link-local addresses are refused even where private ones are allowed', () => {
  expect(() => read({ kind: 'watch', url: 'http://169.254.169.254/latest' }, true)).toThrow(AppError);
});

describe('the view of the viewers', () => {
  const now = new Date('2026-06-01T12:00:00Z');
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  const show = (reason: string, status: 'True' | 'False' | 'Unknown', expiresIn = 60) =>
    showPlatformLive(
      {
        metadata: meta('dst-1'),
        spec: { secretName: 's', platform: { kind: 'twitch', policy: 'Observe', channel: 'name' } },
        status: {
          platform: {
            checkedAt: at(-5),
            expiresAt: at(expiresIn),
            viewers: 7,
            issues: [
              { code: 'keyframes_rare', severity: 'warning' },
              { code: 'of_the_next_release', severity: 'error' },
            ],
          },
          conditions: [{ type: 'PlatformLive', status, reason, message: '', lastTransitionTime: at(-90) }],
        },
      } as Destination,
      now,
    );

  test.each(Object.keys(PLATFORM_CODES) as PlatformReason[])('%s is told with its meaning and its fix', (code) => {
    const { meaning, fix } = PLATFORM_CODES[code];
    expect(show(toPascalCase(code), 'False')).toMatchObject({ status: 'false', code, message: meaning, fix });
  });

  test('is true without a code, and has what the platform says of the media', () => {
    expect(show(SEEN, 'True')).toMatchObject({
      status: 'true',
      code: null,
      message: 'Viewers see the stream.',
      since: at(-90),
      checkedAt: at(-5),
      viewers: 7,
      issues: [
        { code: 'keyframes_rare', severity: 'warning', fix: expect.any(String) },
        { code: 'of_the_next_release', severity: 'error', fix: null },
      ],
    });
  });

  test('is unknown once nobody has confirmed it in time, and says false for a reason of a newer release', () => {
    expect(show(SEEN, 'True', 0)).toMatchObject({ status: 'unknown', code: 'not_checked', viewers: null, issues: [] });
    expect(show('SomethingNew', 'False')).toMatchObject({
      status: 'false',
      code: null,
      message: expect.stringMatching('do not see'),
    });
  });

  test('is null where nobody is asked to look', () => {
    expect(showPlatformLive({ metadata: meta('dst-1'), spec: { secretName: 's' } } as Destination, now)).toBeNull();
  });
});
