/** Tests what a form sends of where viewers see a stream, and which mistakes it shows. */
import { describe, expect, test } from 'vitest';
import {
  buildViewersValues,
  findPlatformChange,
  type ViewersValues,
  validateViewers,
} from '../../../../../src/dashboard/features/destinations/formValues.ts';
import type { Destination } from '../../../../../src/service/client/index.ts';

type Platform = NonNullable<Destination['platform']>;
const YOUTUBE: Platform = {
  kind: 'youtube',
  policy: 'Repair',
  url: null,
  channel: null,
  videoId: 'aqz-KE-bpKQ',
  hasToken: true,
};
const of = (platform: Platform | null) => ({ platform }) as Destination;
const type = (more: Partial<ViewersValues>, before: Platform | null = null) => ({
  ...buildViewersValues(before),
  ...more,
});
const change = (more: Partial<ViewersValues>, before: Platform | null = null) =>
  findPlatformChange(type(more, before), of(before)).platform;

test('what stays as it is is not sent', () => {
  for (const platform of [
    null,
    YOUTUBE,
    { ...YOUTUBE, kind: 'watch', url: 'https://cdn.example/x', videoId: null, policy: 'Observe', hasToken: false },
    { ...YOUTUBE, kind: 'twitch', channel: 'name', videoId: null, policy: 'Observe', hasToken: false },
  ] satisfies (Platform | null)[])
    expect(findPlatformChange(buildViewersValues(platform), of(platform))).toEqual({});
  expect(change({ videoId: ' https://youtu.be/aqz-KE-bpKQ' }, YOUTUBE)).toBeUndefined();
});

test.each([
  [
    { viewersAt: 'watch', watchUrl: ' https://cdn.example/x ' },
    { kind: 'watch', url: 'https://cdn.example/x' },
  ],
  [
    { viewersAt: 'twitch', channel: '@Name' },
    { kind: 'twitch', channel: 'name' },
  ],
  [
    { viewersAt: 'youtube', videoId: 'https://youtu.be/aqz-KE-bpKQ', repairs: true },
    // Without a token nothing can be repaired.
    { kind: 'youtube', policy: 'Observe', videoId: 'aqz-KE-bpKQ' },
  ],
  [
    { viewersAt: 'youtube', refreshToken: ' 1//x ', repairs: true },
    { kind: 'youtube', policy: 'Repair', refreshToken: '1//x' },
  ],
] as [Partial<ViewersValues>, object][])('%j is sent', (typed, sent) => {
  expect(change(typed)).toEqual(sent);
});

test('another place, no place, and a token that is taken away are sent', () => {
  expect(change({ viewersAt: 'nowhere' }, YOUTUBE)).toBeNull();
  expect(change({ viewersAt: 'twitch', channel: 'name' }, YOUTUBE)).toEqual({ kind: 'twitch', channel: 'name' });
  expect(change({ endToken: true }, YOUTUBE)).toEqual({
    kind: 'youtube',
    policy: 'Observe',
    videoId: 'aqz-KE-bpKQ',
    refreshToken: '',
  });
});

describe('mistakes', () => {
  const find = (values: ViewersValues, before: Platform | null = null) => {
    const rules = validateViewers(of(before));
    return Object.entries(rules).flatMap(
      ([field, rule]) => rule(String(values[field as keyof typeof rules]), values) ?? [],
    );
  };

  test.each([
    [{ viewersAt: 'watch' }, /^Enter the address/],
    [{ viewersAt: 'watch', watchUrl: 'https://youtu.be/aqz-KE-bpKQ' }, /page of YouTube: choose “On YouTube”\.$/],
    [{ viewersAt: 'watch', watchUrl: 'ftp://x.example/' }, /^Must begin with/],
    [{ viewersAt: 'twitch' }, /^Enter the channel/],
    [{ viewersAt: 'twitch', channel: 'two words' }, /^Must be the login name/],
    [{ viewersAt: 'youtube' }, /or a token\.$/],
    [{ viewersAt: 'youtube', videoId: 'https://www.youtube.com/@name' }, /^Must be the id of a video/],
  ] as [Partial<ViewersValues>, RegExp][])('%j is one', (typed, text) => {
    expect(find(type(typed))).toEqual([expect.stringMatching(text)]);
  });

  test('fields that are not shown have none, and a token stands in for a video', () => {
    expect(find(type({ watchUrl: 'nonsense', channel: 'two words' }))).toEqual([]);
    expect(find(type({ viewersAt: 'youtube', refreshToken: 'x' }))).toEqual([]);
    expect(find(type({ videoId: '' }, YOUTUBE), YOUTUBE)).toEqual([]);
    expect(find(type({ videoId: '', endToken: true }, YOUTUBE), YOUTUBE)).toHaveLength(1);
  });
});
