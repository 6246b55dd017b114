/**
 * Where the known platforms take streams, and where each shows its stream key.
 * Sources: YouTube's page on RTMPS ingestion (developers.google.com/youtube/v3/live/guides/rtmps-ingestion), Twitch's list of
 * ingest servers (dev.twitch.tv/docs/video-broadcast), Facebook's Live Producer and Kick's creator dashboard. All of them take
 * RTMPS at port 443, which passes more firewalls than RTMP's 1935.
 * Pure: no I/O, no clock.
 */
import { tidyUrl } from '../../../core/lib/pasted.ts';

export type PresetId = 'youtube' | 'twitch' | 'facebook' | 'kick' | 'custom';

export interface Preset {
  id: PresetId;
  label: string;
  /** Empty where only the owner of the server knows it. */
  rtmpUrl: string;
  /** Hosts that belong to it, by their ends. */
  hosts: readonly string[];
  /** The platform's own page that shows the key. */
  keysUrl?: string;
  /** How to come by the key, as a sentence. */
  keyHelp: string;
  /** A hint that a person should know beforehand. */
  note?: string;
}

const CUSTOM: Preset = {
  id: 'custom',
  label: 'Custom',
  rtmpUrl: '',
  hosts: [],
  keyHelp: 'The owner of the server gives it to you. It may also be called stream name.',
};

export const PRESETS: readonly Preset[] = [
  {
    id: 'youtube',
    label: 'YouTube',
    rtmpUrl: 'rtmps://a.rtmps.youtube.com:443/live2',
    hosts: ['youtube.com'],
    keysUrl: 'https://studio.youtube.com/',
    keyHelp: 'In YouTube Studio choose Create, Go live, Stream, and copy the stream key.',
    note: 'YouTube ends a broadcast when the stream is interrupted, unless you schedule it in YouTube Studio (Create, Go live, Manage) with this key and switch auto-stop off.',
  },
  {
    id: 'twitch',
    label: 'Twitch',
    rtmpUrl: 'rtmps://ingest.global-contribute.live-video.net:443/app',
    hosts: ['twitch.tv', 'ingest.global-contribute.live-video.net', 'contribute.live-video.net'],
    keysUrl: 'https://dashboard.twitch.tv/settings/stream',
    keyHelp: 'In Twitch’s creator dashboard open Settings, Stream, and copy the primary stream key.',
  },
  {
    id: 'facebook',
    label: 'Facebook',
    rtmpUrl: 'rtmps://live-api-s.facebook.com:443/rtmp',
    hosts: ['facebook.com'],
    keysUrl: 'https://www.facebook.com/live/producer',
    keyHelp: 'In Live Producer choose streaming software, and copy the stream key.',
    note: 'Facebook ends a broadcast after some hours. Use a persistent stream key for the next broadcast.',
  },
  {
    id: 'kick',
    label: 'Kick',
    rtmpUrl: 'rtmps://fa723fc1b171.global-contribute.live-video.net:443/app',
    hosts: ['kick.com', 'fa723fc1b171.global-contribute.live-video.net'],
    keysUrl: 'https://dashboard.kick.com/channel/stream',
    keyHelp: 'In Kick’s creator dashboard open Stream URL & key, and copy both: Kick may show you another address.',
  },
  CUSTOM,
];

export const presetById = (id: string): Preset => PRESETS.find((preset) => preset.id === id) ?? CUSTOM;

/** The platform that an ingest URL belongs to; Custom for one that is not known. Of two that fit, the longer name says more. */
export function findPreset(rtmpUrl: string): Preset {
  const hostname = URL.parse(tidyUrl(rtmpUrl))?.hostname;
  if (hostname === undefined) return CUSTOM;
  const fits = PRESETS.flatMap((preset) =>
    preset.hosts
      .filter((host) => hostname === host || hostname.endsWith(`.${host}`))
      .map((host) => ({ preset, length: host.length })),
  );
  return fits.sort((a, b) => b.length - a.length)[0]?.preset ?? CUSTOM;
}
