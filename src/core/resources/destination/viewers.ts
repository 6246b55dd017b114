/**
 * Reads where viewers see a stream as people give it: the address of a video or of a channel in the place of its id, a name with an `@`.
 * The API server and the page read it here. Pure: no I/O, no clock.
 */
import { tidyText, tidyUrl } from '../../lib/pasted.ts';
import { brokenRule, TWITCH_CHANNEL, WATCH_ADDRESS, YOUTUBE_VIDEO } from '../../lib/sentences.ts';
import { findIngestUrlProblem, readIngest } from './ingest.ts';

const isHost = (hostname: string, ...names: string[]): boolean =>
  names.some((name) => hostname === name || hostname.endsWith(`.${name}`));

/** An address as people copy it, also without its scheme; undefined for what has no host and path. */
function readAddress(text: string): URL | undefined {
  const url = tidyUrl(text);
  const address = /^https?:\/\//i.test(url) ? url : /^[\w.-]+\.[a-z]{2,}\//i.test(url) && `https://${url}`;
  return (address && URL.parse(address)) || undefined;
}

/** The platform whose page an address is. */
export function findPlatformPage(text: string): 'youtube' | 'twitch' | undefined {
  const hostname = readAddress(text)?.hostname ?? '';
  if (isHost(hostname, 'youtube.com', 'youtu.be', 'youtube-nocookie.com')) return 'youtube';
  return isHost(hostname, 'twitch.tv') ? 'twitch' : undefined;
}

const listParts = ({ pathname }: URL): string[] => pathname.split('/').filter((part) => part !== '');

/** The paths of YouTube that a video's id follows. */
const VIDEO_PATHS = ['live', 'embed', 'shorts', 'v', 'video'];

/** Returns the id of a video in an address of YouTube; any other text, and an address without one, as it is. */
export function readVideoId(text: string): string {
  const url = findPlatformPage(text) === 'youtube' ? readAddress(text) : undefined;
  if (!url) return tidyText(text);
  const [first = '', second] = listParts(url);
  if (isHost(url.hostname, 'youtu.be')) return first;
  return (VIDEO_PATHS.includes(first) ? second : url.searchParams.get('v')) ?? tidyText(text);
}

/** The first parts of Twitch's paths that a channel's name follows, and those that no channel is called. */
const BEFORE_CHANNEL = ['popout', 'embed', 'moderator', 'u'];
const NO_CHANNEL = ['videos', 'directory', 'settings', 'search', 'downloads', 'p', 'collections', 'team'];

/** Returns the name of a channel in an address of Twitch, or after an `@`; an address without one as it is. */
export function readChannel(text: string): string {
  const url = findPlatformPage(text) === 'twitch' ? readAddress(text) : undefined;
  if (!url) return tidyText(text).replace(/^@/, '').toLowerCase();
  const [first = '', second] = listParts(url);
  const name = url.searchParams.get('channel') ?? (BEFORE_CHANNEL.includes(first) ? second : first);
  return name === undefined || name === '' || NO_CHANNEL.includes(name) ? tidyText(text) : name.toLowerCase();
}

const PAGES = {
  youtube: 'is a page of YouTube; give the kind youtube, and this address as videoId',
  twitch: 'is a page of Twitch; give the kind twitch, and this address as channel',
};

/** Why an address cannot be watched, as far as its text shows; a sentence that follows the name of its field. `url` is tidied. */
export function findWatchProblem(url: string): string | undefined {
  const broken = brokenRule(WATCH_ADDRESS, url);
  if (broken !== undefined) return broken;
  const page = findPlatformPage(url);
  if (page) return PAGES[page];
  if (/^rtmp/i.test(url)) return findIngestUrlProblem(url);
  return URL.canParse(url) ? undefined : 'must be a URL, such as https://example.com/live/stream.m3u8';
}

/** The host of an address without a problem, as it will be connected to. */
export const readWatchHost = (url: string): string =>
  readIngest(url).ingest?.host ?? URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';

export const findVideoProblem = (videoId: string): string | undefined => brokenRule(YOUTUBE_VIDEO, videoId);
export const findChannelProblem = (channel: string): string | undefined => brokenRule(TWITCH_CHANNEL, channel);
