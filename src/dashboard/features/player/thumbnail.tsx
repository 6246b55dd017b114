/** Shows a picture of a stream, renewed now and then; until the first one, that of its media. */
import { useEffect, useRef, useState } from 'react';
import { sleep } from '../../../core/lib/clock.ts';
import { useApi, useWho } from '../../api/context.tsx';
import { Poster } from '../../ui/poster.tsx';
import { drawSnapshot } from './snapshot.ts';
import classes from './thumbnail.module.css';

const RENEW_MS = 30_000;
const AGAIN_MS = 5_000;

interface ThumbnailProps {
  streamId: string;
  posterUrl: string | null;
  live: boolean;
}

export function Thumbnail({ streamId, posterUrl, live }: ThumbnailProps) {
  const api = useApi();
  const { isOver } = useWho();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    const element = canvas.current;
    if (!live || isOver || !element) return;
    const stop = new AbortController();
    const renew = async () => {
      for (;;) {
        // Nobody sees a page that is hidden, and its browser plays nothing there.
        const done = !document.hidden && (await drawSnapshot(element, api.preview(streamId), stop.signal));
        if (done) setDrawn(true);
        await sleep(done ? RENEW_MS : AGAIN_MS, stop.signal);
      }
    };
    renew().catch(() => undefined);
    return () => stop.abort();
  }, [api, streamId, live, isOver]);
  return (
    <div className={classes.frame} data-drawn={drawn || undefined}>
      <Poster url={posterUrl} kind="VIDEO" size="full" />
      <canvas ref={canvas} width={480} height={270} aria-hidden data-testid="thumbnail" data-drawn={drawn} />
    </div>
  );
}
