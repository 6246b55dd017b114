/** Lists the choices of a track that an upload's file leaves to its owner. Pure: no I/O, no clock. */
import type { Upload, UploadUpdate } from '../../../service/client/index.ts';
import { formatSound, nameCodec } from './text.ts';

type Track = Upload['declaredTracks'][number];
type Tracks = NonNullable<UploadUpdate['tracks']>;
export type ChoiceKind = Track['kind'];

interface TrackOption {
  value: string;
  label: string;
  disabled: boolean;
  /** The choice of all kinds that this option makes. */
  tracks: Tracks;
}

export interface TrackChoices {
  kind: ChoiceKind;
  /** The option that is chosen. */
  value: string;
  options: TrackOption[];
}

const AUTOMATIC = '';

/** `2: English, stereo AAC, Commentary`. */
function describeTrack({ index, kind, codec, language, title, channels, playable }: Track, locale: string): string {
  const sound = kind === 'AUDIO' && channels !== null ? formatSound({ codec, channels }) : nameCodec(codec);
  const words = [language && nameLanguage(language, locale), sound, title, !playable && 'cannot be played'];
  return `${index}: ${words.filter(Boolean).join(', ')}`;
}

const describePair = (left: Track, right: Track): string => `${left.index} on the left, ${right.index} on the right`;

function nameLanguage(code: string, locale: string): string {
  try {
    return new Intl.DisplayNames([locale], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** Two mono tracks beside each other may be the sides of one recording. */
function listPairs(tracks: readonly Track[]): [Track, Track][] {
  return tracks.flatMap((left, at) => {
    const right = tracks[at + 1];
    const isMono = (track: Track) => track.playable && track.channels === 1;
    return right && isMono(left) && isMono(right) ? [[left, right] as [Track, Track]] : [];
  });
}

function omit(tracks: Tracks, kind: ChoiceKind): Tracks {
  const { video, audio, audioRight } = tracks;
  if (kind === 'AUDIO') return video === undefined ? {} : { video };
  return { ...(audio !== undefined && { audio }), ...(audioRight !== undefined && { audioRight }) };
}

/** Undefined where the file leaves no choice. */
export function listTrackChoices(
  { type, tracks: chosen, declaredTracks }: Pick<Upload, 'type' | 'tracks' | 'declaredTracks'>,
  kind: ChoiceKind,
  locale = 'en',
): TrackChoices | undefined {
  const tracks = declaredTracks.filter((track) => track.kind === kind);
  const key = kind === 'AUDIO' ? 'audio' : 'video';
  const index = chosen?.[key] ?? null;
  const isShown = kind === 'AUDIO' || type === 'VIDEO';
  if (!isShown || (tracks.length < 2 && index === null)) return undefined;
  const now: Tracks = Object.fromEntries(Object.entries(chosen ?? {}).filter(([, one]) => one !== null));
  const others = omit(now, kind);
  const [first, second] = tracks.filter((track) => track.automatic);
  const automatic = first && (second ? describePair(first, second) : describeTrack(first, locale));
  const options: TrackOption[] = [
    {
      value: AUTOMATIC,
      label: automatic ? `Automatic (${automatic})` : 'Automatic',
      disabled: false,
      tracks: others,
    },
    ...tracks.map((track) => ({
      value: String(track.index),
      label: describeTrack(track, locale),
      disabled: !track.playable,
      tracks: { ...others, [key]: track.index },
    })),
    ...(kind === 'AUDIO' ? listPairs(tracks) : []).map(([left, right]) => ({
      value: `${left.index},${right.index}`,
      label: describePair(left, right),
      disabled: false,
      tracks: { ...others, audio: left.index, audioRight: right.index },
    })),
  ];
  const right = kind === 'AUDIO' ? (chosen?.audioRight ?? null) : null;
  const value = index === null ? AUTOMATIC : right === null ? String(index) : `${index},${right}`;
  const isListed = options.some((option) => option.value === value);
  const missing = { value, label: `${value}: not in the file`, disabled: true, tracks: now };
  return { kind, value, options: isListed ? options : [...options, missing] };
}
