/** The live preview of a stream, with its own controls and something to say while there is nothing to see. */
import { ActionIcon, Loader } from '@mantine/core';
import {
  IconAlertTriangle,
  IconMaximize,
  IconMinimize,
  IconMoon,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconVolume,
  IconVolumeOff,
} from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/context.tsx';
import classes from './player.module.css';
import { type LivePreviewState, usePreview } from './usePreview.ts';

function useFullscreen(frame: RefObject<HTMLElement | null>) {
  const [full, setFull] = useState(false);
  useEffect(() => {
    const look = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === frame.current);
    document.addEventListener('fullscreenchange', look);
    return () => document.removeEventListener('fullscreenchange', look);
  }, [frame]);
  const toggle = () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void frame.current?.requestFullscreen?.().catch(() => undefined);
  };
  return { full, toggle };
}

function Poster({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className={classes.poster} data-testid="preview-poster">
      {icon}
      <p className={classes.posterTitle}>{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

const busy = <Loader size={30} color="#fff" />;

/** States in which a preview is to be had. The streamer serves its preview while a destination is away, too. */
const PREVIEWED: readonly string[] = ['live', 'reconnecting'];

interface CoverProps extends Pick<PlayerProps, 'phase' | 'meaning' | 'resting'> {
  state: LivePreviewState;
  paused: boolean;
}

/** Covers the picture; nothing while it plays. */
function Cover({ state, phase, paused, meaning, resting }: CoverProps) {
  if (phase === 'starting') return <Poster icon={busy} title="Going on air…" />;
  if (phase === 'failed')
    return (
      <Poster icon={<IconAlertTriangle size={34} stroke={1.4} aria-hidden />} title="Not on air">
        {meaning}
      </Poster>
    );
  if (!PREVIEWED.includes(phase))
    return <Poster icon={<IconMoon size={34} stroke={1.4} aria-hidden />} title={resting} />;
  if (paused) return <Poster icon={null} title="Preview paused" />;
  if (state === 'unsupported')
    return (
      <Poster icon={<IconAlertTriangle size={34} stroke={1.4} aria-hidden />} title="No preview in this browser">
        This browser cannot play live H.264. The stream itself is not affected.
      </Poster>
    );
  if (state === 'waiting')
    return (
      <Poster icon={busy} title="Waiting for the picture…">
        The stream itself is not affected.
      </Poster>
    );
  if (state === 'interrupted')
    return (
      <Poster icon={busy} title="Preview interrupted, reconnecting…">
        The stream itself is not affected.
      </Poster>
    );
  return state === 'playing' ? null : <Poster icon={busy} title="Loading the preview…" />;
}

interface PlayerProps {
  streamId: string;
  name: string;
  phase: string;
  /** It has a picture, and no viewer sees it. */
  isUnseen?: boolean;
  /** Explains the phase, in a sentence. */
  meaning: string;
  /** Said while the stream is off air, for example `Off air since Fri, 18:00`. */
  resting: string;
}

export function Player({ streamId, name, phase, isUnseen = false, meaning, resting }: PlayerProps) {
  const frame = useRef<HTMLElement>(null);
  const video = useRef<HTMLVideoElement>(null);
  const [paused, setPaused] = useState(false);
  const [muted, setMuted] = useState(true);
  const { full, toggle: toggleFullscreen } = useFullscreen(frame);
  const available = PREVIEWED.includes(phase);
  const state = usePreview(video, useApi(), streamId, available && !paused);

  const togglePause = () => available && setPaused((before) => !before);
  const toggleMute = () => setMuted((before) => !before);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const act = { k: togglePause, m: toggleMute, f: toggleFullscreen }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  return (
    <section ref={frame} className={classes.frame} aria-label={`Live preview of ${name}`} onKeyDown={onKeyDown}>
      <video
        ref={video}
        className={classes.video}
        data-testid="preview"
        data-state={state}
        muted={muted}
        autoPlay
        playsInline
        aria-label={`Live picture of ${name}`}
      />
      <Cover state={state} phase={phase} paused={paused} meaning={meaning} resting={resting} />
      {available && (
        <div className={classes.controls}>
          <ActionIcon
            className={classes.control ?? ''}
            aria-label={paused ? 'Play the preview (k)' : 'Pause the preview (k)'}
            onClick={togglePause}
          >
            {paused ? <IconPlayerPlayFilled size={19} aria-hidden /> : <IconPlayerPauseFilled size={19} aria-hidden />}
          </ActionIcon>
          <ActionIcon
            className={classes.control ?? ''}
            aria-label={muted ? 'Unmute the preview (m)' : 'Mute the preview (m)'}
            onClick={toggleMute}
          >
            {muted ? <IconVolumeOff size={20} aria-hidden /> : <IconVolume size={20} aria-hidden />}
          </ActionIcon>
          <span className={classes.caption}>
            {state === 'playing' && (isUnseen ? 'Not reaching viewers' : 'Live preview')}
          </span>
          <ActionIcon
            className={classes.control ?? ''}
            aria-label={full ? 'Leave full screen (f)' : 'Full screen (f)'}
            onClick={toggleFullscreen}
          >
            {full ? <IconMinimize size={20} aria-hidden /> : <IconMaximize size={20} aria-hidden />}
          </ActionIcon>
        </div>
      )}
    </section>
  );
}
