/** One connection to a live preview: HTTP-FLV into a <video> through Media Source Extensions. */
import type { Api } from '../../api/api.ts';

export interface FeedEvents {
  /** Pictures move. */
  playing: () => void;
  /** Pictures stand still: the feed may still go on. */
  waiting: () => void;
  /** It broke off, ended or froze; the feed is closed by then. */
  ended: () => void;
  /** This browser cannot play it at all. */
  unsupported: () => void;
}

/** Pictures that stand still for this long, while the feed is open, are a broken feed. */
const FROZEN_MS = 10_000;
/** For this long a person takes it for a pause of the picture. */
const STILL_MS = 3_000;
const WATCH_MS = 1_000;

const CONFIG = {
  isLive: true,
  // A worker would need blob: scripts in the Content-Security-Policy; one preview is cheap on the main thread.
  enableWorker: false,
  stashInitialSize: 128 * 1024,
  lazyLoad: false,
  // Latency is caught up by playing a little faster, and by a jump when it has grown beyond what that mends.
  liveSync: true,
  liveSyncMaxLatency: 3,
  liveSyncTargetLatency: 1.2,
  liveSyncPlaybackRate: 1.15,
  liveBufferLatencyChasing: true,
  liveBufferLatencyMaxLatency: 8,
  liveBufferLatencyMinRemain: 1.2,
  autoCleanupSourceBuffer: true,
  autoCleanupMaxBackwardDuration: 30,
  autoCleanupMinBackwardDuration: 10,
} as const;

/** Closes when `signal` aborts. Tells `events` at most one of `ended` and `unsupported`, and nothing after the abort. */
export async function playFeed(
  video: HTMLVideoElement,
  source: ReturnType<Api['preview']>,
  events: FeedEvents,
  signal: AbortSignal,
): Promise<void> {
  let mpegts: typeof import('mpegts.js').default;
  try {
    mpegts = (await import('mpegts.js')).default;
  } catch {
    // The chunk did not load: the server is away, or has a newer page. Trying again is right in both cases.
    if (!signal.aborted) events.ended();
    return;
  }
  if (signal.aborted) return;
  if (!mpegts.getFeatureList().mseLivePlayback) return events.unsupported();
  mpegts.LoggingControl.enableAll = false;

  const player = mpegts.createPlayer(
    { type: 'flv', isLive: true, url: source.url },
    { ...CONFIG, headers: source.headers },
  );
  const closing = new AbortController();
  const close = (): void => {
    if (closing.signal.aborted) return;
    closing.abort();
    player.destroy();
  };
  const end = (): void => {
    if (closing.signal.aborted) return;
    close();
    events.ended();
  };
  signal.addEventListener('abort', close, { signal: closing.signal });
  player.on(mpegts.Events.ERROR, end);
  player.on(mpegts.Events.LOADING_COMPLETE, end);
  watch(video, { playing: events.playing, waiting: events.waiting, frozen: end }, closing.signal);
  player.attachMediaElement(video);
  player.load();
  // Muted playback may start by itself; where a browser refuses even that, the play button is there.
  Promise.resolve(player.play()).catch(() => undefined);
}

/** Follows whether the pictures move. */
function watch(
  video: HTMLVideoElement,
  on: { playing: () => void; waiting: () => void; frozen: () => void },
  signal: AbortSignal,
): void {
  let seen = video.currentTime;
  let movedAt = Date.now();
  video.addEventListener(
    'timeupdate',
    () => {
      if (video.currentTime === seen) return;
      seen = video.currentTime;
      movedAt = Date.now();
      on.playing();
    },
    { signal },
  );
  const timer = setInterval(() => {
    // Browsers stop pictures nobody sees; that is no fault of the feed.
    if (document.hidden || video.paused) movedAt = Date.now();
    else if (Date.now() - movedAt > FROZEN_MS) on.frozen();
    else if (Date.now() - movedAt > STILL_MS) on.waiting();
  }, WATCH_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
}
