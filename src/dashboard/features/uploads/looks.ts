/** Says what an upload looks like with the overlays of its streams. Pure: no I/O, no clock. */
import type { Upload } from '../../../service/client/index.ts';

type Look = Upload['looks'][number];

/** A sentence for a look that is not ready; undefined for one that is. */
function describeLook({ profile, state, error }: Look): string | undefined {
  if (error)
    return `With overlays at ${profile} it could not be made, and plays without. ${error.message} ${error.fix}`;
  return state === 'pending' ? `Being made with overlays at ${profile}. It plays as before meanwhile.` : undefined;
}

/** Looks of one quality say the same. */
export const listLookNotes = ({ looks }: Pick<Upload, 'looks'>): string[] => [
  ...new Set(looks.flatMap((look) => describeLook(look) ?? [])),
];

/** `with overlays at 720p30`, or that there are none; undefined where no stream has any. */
export function formatLooks({ looks, overlays }: Pick<Upload, 'looks' | 'overlays'>): string | undefined {
  if (overlays === 'NONE') return 'without overlays';
  const ready = new Set(looks.flatMap(({ state, profile }) => (state === 'ready' ? [profile] : [])));
  return ready.size > 0 ? `with overlays at ${[...ready].join(', ')}` : undefined;
}
