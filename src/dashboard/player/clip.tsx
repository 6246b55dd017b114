/** The first minute of an upload, to be played as a film is: with its own controls, from the beginning, to its end. */
import { Loader } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import classes from './player.module.css';

type State = 'loading' | 'there' | 'nothing' | 'failed' | 'unsupported';

const SAYINGS: Partial<Record<State, string>> = {
  nothing: 'There is nothing to see yet: an upload is prepared when a stream plays it. Give it to one, and come back.',
  failed: 'The preview did not come. Close this and try again in a moment.',
  unsupported: 'This browser cannot play it. Streams are not affected.',
};

/** RFC 9110, section 15.5.10: the upload is not as it would have to be. */
const CONFLICT = 409;

/** Plays into `video`; resolves when it is over with what to say, if anything. */
async function play(
  video: HTMLVideoElement,
  source: { url: string; headers: Record<string, string> },
  tell: (state: State) => void,
  signal: AbortSignal,
): Promise<void> {
  const { default: mpegts } = await import('mpegts.js');
  if (signal.aborted) return;
  if (!mpegts.isSupported()) return tell('unsupported');
  mpegts.LoggingControl.enableAll = false;
  const { url, headers } = source;
  const player = mpegts.createPlayer(
    { type: 'flv', isLive: false, url },
    { enableWorker: false, lazyLoad: false, headers },
  );
  signal.addEventListener('abort', () => player.destroy(), { once: true });
  player.on(mpegts.Events.ERROR, (_type: string, _detail: string, info?: { code?: number }) =>
    tell(info?.code === CONFLICT ? 'nothing' : 'failed'),
  );
  video.addEventListener('loadeddata', () => tell('there'), { signal });
  player.attachMediaElement(video);
  player.load();
  Promise.resolve(player.play()).catch(() => undefined);
}

export function ClipPreview({ objectID, name, onClose }: { objectID: string; name: string; onClose: () => void }) {
  const api = useApi();
  const video = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<State>('loading');
  useEffect(() => {
    if (!video.current) return;
    const stop = new AbortController();
    const tell = (next: State) => {
      if (!stop.signal.aborted) setState(next);
    };
    play(video.current, api.uploadPreview(objectID), tell, stop.signal).catch(() => tell('failed'));
    return () => stop.abort();
  }, [api, objectID]);
  const saying = SAYINGS[state];
  return (
    <Dialog title={name} onClose={onClose} wide>
      {saying && <p role="alert">{saying}</p>}
      <div className={classes.clip} hidden={saying !== undefined}>
        {state === 'loading' && <Loader className={classes.clipLoader ?? ''} size={30} color="#fff" />}
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
