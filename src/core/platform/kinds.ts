/** Connects each kind of platform with its observer and its settings. */
import { readSecretFile } from '../settings/secret-file.ts';
import type { ObserverTable } from './observers.ts';
import type { PlatformConfig } from './settings.ts';
import { createTwitchObserver } from './twitch/observe.ts';
import { createWatchObserver } from './watch/observe.ts';
import { createYoutubeObserver } from './youtube/observe.ts';

/** Without the settings of a kind, its observer reports Unknown for each of its destinations. Throws ConfigError. */
export function buildObservers(config: PlatformConfig): ObserverTable {
  const twitch = {
    ...config.twitch,
    clientSecret: readSecretFile('TWITCH_CLIENT_SECRET', config.twitch.clientSecret),
  };
  const youtube = {
    ...config.youtube,
    apiKey: readSecretFile('YOUTUBE_API_KEY', config.youtube.apiKey),
    clientSecret: readSecretFile('YOUTUBE_CLIENT_SECRET', config.youtube.clientSecret),
  };
  const { ffmpeg, confine, allowPrivateWatch: allowPrivate } = config;
  return {
    watch: (deps) => createWatchObserver(deps, { ffmpeg, confine, allowPrivate }),
    twitch: (deps) => createTwitchObserver(deps, twitch),
    youtube: (deps) => createYoutubeObserver(deps, youtube),
  };
}
