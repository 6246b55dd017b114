/**
 * Lists platforms whose application is one known word. More text behind it is a stream key. As part of the address it
 * would be shown, and the platform could do nothing with it. Pure: no I/O, no clock.
 */
import type { Ingest } from './ingest.ts';

/** Ends of host names → application. */
const APPLICATIONS: readonly [host: string, app: string][] = [
  ['rtmp.youtube.com', 'live2'],
  ['rtmps.youtube.com', 'live2'],
  ['twitch.tv', 'app'],
  ['live-video.net', 'app'],
  ['facebook.com', 'rtmp'],
  ['restream.io', 'live'],
  ['castr.io', 'static'],
  ['live.cloudflare.com', 'live'],
];

const findApplication = (host: string) => APPLICATIONS.find(([end]) => host === end || host.endsWith(`.${end}`));

/**
 * Whether an RTMP address is complete without a key: some servers take all of the path as the name of the stream
 * (`rtmp://host/mystream`). Platforms have a key for each channel.
 */
export const isWhole = ({ host, path }: Ingest): boolean => path.replaceAll('/', '') !== '' && !findApplication(host);

/** Why the address cannot be meant; a sentence that follows its name. */
export function platformProblem({ host, path }: Ingest): string | undefined {
  const known = findApplication(host);
  if (!known || !path.startsWith(`${known[1]}/`) || path === `${known[1]}/`) return undefined;
  return `continues after "/${known[1]}", where this platform expects the stream key; end the URL there, and give the key as rtmpKey`;
}
