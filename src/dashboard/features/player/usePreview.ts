/** Keeps a preview playing for as long as it is wanted: opens it, and opens it again when it breaks off. */
import { type RefObject, useEffect, useState } from 'react';
import type { Api } from '../../api/api.ts';
import { useWho } from '../../api/context.tsx';
import { playFeed } from './feed.ts';
import { failuresAfter, retryDelay } from './retry.ts';

export type LivePreviewState = 'off' | 'connecting' | 'playing' | 'waiting' | 'interrupted' | 'unsupported';

/** A tab that nobody looks at for this long gives its preview back to the server. */
const HIDDEN_MS = 60_000;

/** False once the page has been hidden for a while, true again as soon as it is seen. */
function usePageSeen(): boolean {
  const [seen, setSeen] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setSeen(false), HIDDEN_MS);
      else setSeen(true);
    };
    document.addEventListener('visibilitychange', look);
    look();
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return seen;
}

export function usePreview(
  video: RefObject<HTMLVideoElement | null>,
  api: Api,
  streamId: string,
  wanted: boolean,
): LivePreviewState {
  const [state, setState] = useState<LivePreviewState>('off');
  const { isOver } = useWho();
  const run = usePageSeen() && wanted && !isOver;

  useEffect(() => {
    const element = video.current;
    if (!run || !element) return;
    const stop = new AbortController();
    let failures = 0;
    let retry: ReturnType<typeof setTimeout> | undefined;

    const open = () => {
      let playingSince: number | undefined;
      const events = {
        playing: () => {
          playingSince ??= Date.now();
          setState('playing');
        },
        // Before the first picture it is being loaded.
        waiting: () => playingSince !== undefined && setState('waiting'),
        ended: () => {
          failures = failuresAfter(failures, playingSince === undefined ? 0 : Date.now() - playingSince);
          // A good one ends after some minutes, as every preview does: the next one follows.
          setState(failures === 0 ? 'connecting' : 'interrupted');
          retry = setTimeout(open, failures === 0 ? 0 : retryDelay(failures - 1));
        },
        unsupported: () => setState('unsupported'),
      };
      void playFeed(element, api.preview(streamId), events, stop.signal);
    };
    setState('connecting');
    open();
    return () => {
      stop.abort();
      clearTimeout(retry);
      setState('off');
    };
  }, [run, video, api, streamId]);
  return state;
}
