/**
 * Plays the first minute of an upload from its beginning to its end, with controls. A request for a missing one starts
 * its preparation, and the upload shows when it is ready.
 */
import { Loader } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { Upload } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { isolate } from '../../lib/isolate.ts';
import { Dialog } from '../../ui/dialog.tsx';
import classes from './player.module.css';

type ClipState = 'loading' | 'there' | 'nothing' | 'failed' | 'unsupported';

const SAYINGS: Partial<Record<ClipState, string>> = {
  nothing:
    'The first minute could not be prepared. Play the file on your computer. If that works, export it as MP4 with ' +
    'H.264 and AAC, and add it again.',
  failed: 'The preview did not load. Close it and try again in a moment.',
  unsupported: 'This browser cannot play the preview. Streams are not affected.',
};

/** RFC 9110, section 15.5.10: the upload is not as it would have to be. */
const CONFLICT = 409;

/** Plays into `video`; resolves when it is over with the text to show, if any. */
async function play(
  video: HTMLVideoElement,
  source: { url: string; headers: Record<string, string> },
  onState: (state: ClipState) => void,
  signal: AbortSignal,
): Promise<void> {
  const { default: mpegts } = await import('mpegts.js');
  if (signal.aborted) return;
  if (!mpegts.isSupported()) return onState('unsupported');
  mpegts.LoggingControl.enableAll = false;
  const { url, headers } = source;
  const player = mpegts.createPlayer(
    { type: 'flv', isLive: false, url },
    { enableWorker: false, lazyLoad: false, headers },
  );
  signal.addEventListener('abort', () => player.destroy(), { once: true });
  player.on(mpegts.Events.ERROR, (_type: string, _detail: string, info?: { code?: number }) =>
    onState(info?.code === CONFLICT ? 'nothing' : 'failed'),
  );
  video.addEventListener('loadeddata', () => onState('there'), { signal });
  player.attachMediaElement(video);
  player.load();
  Promise.resolve(player.play()).catch(() => undefined);
}

/** `upload`: its current state, so that the clip plays as soon as it is ready. */
export function ClipPreview({ upload, onClose }: { upload: Upload; onClose: () => void }) {
  const { objectID, name, preview } = upload;
  const api = useApi();
  const video = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<ClipState>('loading');
  // Once it is there it is played, also when the upload changes meanwhile.
  const [isReady, setReady] = useState(preview === 'ready');
  if (preview === 'ready' && !isReady) setReady(true);
  const isMade = state === 'nothing' && !isReady && preview !== 'failed';
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked for again when it is ready.
  useEffect(() => {
    if (!video.current) return;
    setState('loading');
    const stop = new AbortController();
    const onState = (next: ClipState) => {
      if (!stop.signal.aborted) setState(next);
    };
    play(video.current, api.uploadPreview(objectID), onState, stop.signal).catch(() => onState('failed'));
    return () => stop.abort();
  }, [api, objectID, isReady]);
  const saying = isMade ? undefined : SAYINGS[state];
  return (
    <Dialog title={isolate(name)} onClose={onClose} wide>
      {saying && <p role="alert">{saying}</p>}
      <div className={classes.clip} hidden={saying !== undefined}>
        {(state === 'loading' || isMade) && (
          <div className={classes.clipLoader} role="status">
            <Loader size={30} color="#fff" aria-hidden />
            {isMade && 'The first minute is being prepared. Playback starts when it is ready.'}
          </div>
        )}
        <video
          ref={video}
          data-testid="clip-preview"
          data-state={state}
          controls
          muted
          playsInline
          data-autofocus
          aria-label={`First minute of ${name}`}
        />
      </div>
    </Dialog>
  );
}
