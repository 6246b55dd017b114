/**
 * Shows a poster in a box of fixed shape, so that nothing moves when it comes; until then, and where there is none, an icon says what kind
 * of media it is. `<Poster url={upload.posterUrl} kind={upload.type} name={upload.name} />` is as wide as a row's.
 */
import { IconMusic, IconPhoto, IconVideo } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Picture } from '../api/api.ts';
import { useApi } from '../api/context.tsx';
import type { PosterKind } from './checkboxItem.ts';
import classes from './poster.module.css';

const ICONS = {
  VIDEO: [IconVideo, 'Video'],
  AUDIO: [IconMusic, 'Audio'],
  IMAGE: [IconPhoto, 'Image'],
} as const;

interface PosterProps {
  url: string | null | undefined;
  kind: PosterKind;
  /** Subject of the picture. Without it, the picture is decoration: the name stands beside it. */
  name?: string;
  /** For the row of a table, or as wide as its place. */
  size?: 'small' | 'full';
}

export function Poster({ url, kind, name, size }: PosterProps) {
  const api = useApi();
  const [failed, setFailed] = useState<string>();
  const [Icon, word] = ICONS[kind];
  const picture = url && url !== failed ? api.picture(url) : undefined;
  const shown = { alt: name === undefined ? '' : `Picture of ${name}`, onFail: () => setFailed(url ?? undefined) };
  const isSilent = picture !== undefined || name === undefined;
  return (
    <span className={classes.poster} data-size={size} data-testid="poster">
      <Icon size={22} stroke={1.6} {...(isSilent ? { 'aria-hidden': true } : { 'aria-label': word })} />
      {picture?.load ? (
        <Drawn picture={picture} key={url} {...shown} />
      ) : (
        picture && <Plain src={picture.url} {...shown} />
      )}
    </span>
  );
}

interface ShownProps {
  alt: string;
  onFail: () => void;
}

const Plain = ({ src, alt, onFail }: ShownProps & { src: string }) => (
  <img src={src} alt={alt} loading="lazy" decoding="async" draggable={false} onError={onFail} />
);

/** A picture that is loaded with a key in a header, once it is near the visible part of the page. */
function Drawn({ picture, alt, onFail }: ShownProps & { picture: Picture }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is the key of the element.
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const over = new AbortController();
    const draw = async () => {
      const bitmap = await picture.load?.(over.signal).then(createImageBitmap);
      if (!bitmap || over.signal.aborted) return;
      element.width = bitmap.width;
      element.height = bitmap.height;
      element.getContext('2d')?.drawImage(bitmap, 0, 0);
      bitmap.close();
    };
    const seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        seen.disconnect();
        draw().catch(() => {
          if (!over.signal.aborted) onFail();
        });
      },
      { rootMargin: '50%' },
    );
    seen.observe(element);
    return () => {
      seen.disconnect();
      over.abort();
    };
  }, []);
  const said = alt === '' ? { 'aria-hidden': true } : { role: 'img', 'aria-label': alt };
  return <canvas ref={canvas} width={1} height={1} {...said} />;
}
