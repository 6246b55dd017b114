/** A single picture of a live preview. One is taken after the other, for each is a connection, of which a browser has six. */
import type { Api } from '../../api/api.ts';
import { playFeed } from './feed.ts';

const TAKE_MS = 12_000;

let line: Promise<unknown> = Promise.resolve();

/** Draws the picture on air; resolves with whether there was one. Rejects with the signal's reason. */
export function drawSnapshot(canvas: HTMLCanvasElement, source: ReturnType<Api['preview']>, signal: AbortSignal) {
  const taken = line.then(() => {
    signal.throwIfAborted();
    return take(canvas, source, signal);
  });
  line = taken.catch(() => undefined);
  return taken;
}

async function take(canvas: HTMLCanvasElement, source: ReturnType<Api['preview']>, signal: AbortSignal) {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), TAKE_MS);
  const leave = () => resolve(false);
  signal.addEventListener('abort', leave);
  try {
    const draw = () => {
      canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
      resolve(true);
    };
    const events = {
      playing: draw,
      waiting: () => undefined,
      ended: () => resolve(false),
      unsupported: () => resolve(false),
    };
    await playFeed(video, source, events, over.signal);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    over.abort();
  }
}
