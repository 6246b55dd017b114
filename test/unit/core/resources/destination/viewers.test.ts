/** Tests that what people paste leads to the video, the channel or the address that they mean. */
import { describe, expect, test } from 'vitest';
import {
  findChannelProblem,
  findPlatformPage,
  findVideoProblem,
  findWatchProblem,
  readChannel,
  readVideoId,
  readWatchHost,
} from '../../../../../src/core/resources/destination/viewers.ts';

describe('a video of YouTube', () => {
  test.each([
    'aqz-KE-bpKQ',
    ' aqz-KE-bpKQ\n',
    'https://www.youtube.com/watch?v=aqz-KE-bpKQ',
    'https://www.youtube.com/watch?app=desktop&v=aqz-KE-bpKQ&t=3s',
    'http://m.youtube.com/watch?v=aqz-KE-bpKQ',
    'youtube.com/watch?v=aqz-KE-bpKQ',
    'https://youtu.be/aqz-KE-bpKQ?si=xyz',
    'youtu.be/aqz-KE-bpKQ',
    '<https://www.youtube.com/live/aqz-KE-bpKQ?feature=share>',
    'https://www.youtube.com/embed/aqz-KE-bpKQ',
    'https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ',
    'https://www.youtube.com/shorts/aqz-KE-bpKQ',
    'https://studio.youtube.com/video/aqz-KE-bpKQ/livestreaming',
    'https://studio.youtube.com/video/aqz-KE-bpKQ/edit',
  ])('%s', (text) => {
    expect(readVideoId(text)).toBe('aqz-KE-bpKQ');
    expect(findVideoProblem(readVideoId(text))).toBeUndefined();
  });

  test.each([
    'https://www.youtube.com/@name/live',
    'https://www.youtube.com/',
    'https://www.youtube.com/watch',
    'https://studio.youtube.com/channel/UC123/livestreaming',
    'https://example.com/watch?v=aqz-KE-bpKQ',
    'a b c d e f',
    '',
  ])('is not named by %j, and the refusal shows what is', (text) => {
    expect(findVideoProblem(readVideoId(text))).toContain('watch?v=');
  });
});

describe('a channel of Twitch', () => {
  test.each([
    'some_name',
    '@some_name',
    ' Some_Name ',
    'https://www.twitch.tv/some_name',
    'twitch.tv/Some_Name/videos?filter=all',
    'https://m.twitch.tv/some_name',
    'https://www.twitch.tv/popout/some_name/chat',
    'https://player.twitch.tv/?channel=some_name&parent=example.com',
    'https://dashboard.twitch.tv/u/some_name/stream-manager',
  ])('%s', (text) => {
    expect(readChannel(text)).toBe('some_name');
    expect(findChannelProblem(readChannel(text))).toBeUndefined();
  });

  test.each([
    'https://www.twitch.tv/videos/123',
    'https://www.twitch.tv/directory',
    'https://twitch.tv/',
    'a name',
    '',
  ])('is not named by %j', (text) => expect(findChannelProblem(readChannel(text))).toContain('login name'));
});

describe('a watch address', () => {
  test.each([
    ['https://cdn.example.com/live/stream.m3u8?token=a', 'cdn.example.com'],
    ['http://[2001:db8::1]:8080/live.flv', '2001:db8::1'],
    ['rtmp://live.example.com/app/name', 'live.example.com'],
    ['RTMPS://live.example.com:444/app/name', 'live.example.com'],
    ['http://0x7f.1/x', '127.0.0.1'],
    ['rtmp://0x7f.1/app/x', '127.0.0.1'],
  ])('%s is one, at the host that it will be opened at', (url, host) => {
    expect(findWatchProblem(url)).toBeUndefined();
    expect(readWatchHost(url)).toBe(host);
  });

  test.each([
    ['ftp://example.com/x', 'begin with'],
    ['example.com/x.m3u8', 'begin with'],
    ['https://', 'begin with'],
    ['https://ann:pw@example.com/x', 'user name or password'],
    ['https://www.youtube.com/watch?v=aqz-KE-bpKQ', 'kind youtube'],
    ['https://www.twitch.tv/name', 'kind twitch'],
    ['rtmp://exa mple.com/app', 'URL'],
    ['https://exa mple.com/app', 'URL'],
  ])('%s is none', (url, reason) => expect(findWatchProblem(url)).toContain(reason));
});

test('a page of a platform is told from one that only looks like it', () => {
  expect(findPlatformPage('https://youtu.be/x')).toBe('youtube');
  for (const other of ['https://notyoutube.com/x', 'https://youtube.com.example/x', 'https://example.com/youtube.com'])
    expect(findPlatformPage(other)).toBeUndefined();
});
