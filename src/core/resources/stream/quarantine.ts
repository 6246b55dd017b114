/** Leaves items out of a program that is on air while their uploads are in quarantine. Pure: no I/O, no clock. */
import type { Upload } from '../upload/resource.ts';
import { isLeftOut } from './item-place.ts';
import type { Playing, ProgramItem, Track } from './playing.ts';
import { listTrackItems, mapTrackItems } from './track-items.ts';

/** An item that keeps its place, and that is not played. */
export const leaveOut = ({ id, name }: Pick<ProgramItem, 'id' | 'name'>, upload: Upload | undefined): ProgramItem => ({
  id,
  name,
  rendition: '',
  ...(upload?.spec.quarantine?.cut && { cut: true }),
});

/**
 * Returns what is played without the uploads that are in quarantine; the same object where there are none. A program that stays, since its
 * successor cannot be played yet, loses them too.
 */
export function leaveOutQuarantined<P extends Pick<Playing, 'video' | 'audio'>>(
  played: P,
  uploads: ReadonlyMap<string, Upload>,
): P {
  const isHeld = ({ id }: ProgramItem) => uploads.get(id)?.spec.quarantine !== undefined;
  const isPlayed = (item: ProgramItem) => isHeld(item) && !isLeftOut(item);
  const { video, audio } = played;
  if (![video, ...(audio ? [audio] : [])].some((track) => listTrackItems(track).some(isPlayed))) return played;
  const leave = (track: Track): Track =>
    mapTrackItems(track, (item) => (isHeld(item) ? leaveOut(item, uploads.get(item.id)) : item));
  return { ...played, video: leave(video), ...(audio && { audio: leave(audio) }) };
}
