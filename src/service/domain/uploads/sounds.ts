/** Shows the sounds of an upload, and what was measured for them. Pure: no I/O, no clock. */
import { parseSoundProfile, type SoundLoudness } from '../../../core/resources/upload/loudness.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { findRendition, type RenditionStatus } from '../../../core/resources/upload/spec.ts';
import type { Upload } from './record.ts';

type Sound = Upload['sounds'][number];
export type ShowError = (error: NonNullable<RenditionStatus['error']>) => NonNullable<Sound['error']>;

function showLoudness({ sourceLufs, sourceTruePeakDb, sourceRangeLu }: SoundLoudness): NonNullable<Upload['loudness']> {
  return {
    integratedLufs: sourceLufs ?? null,
    truePeakDb: sourceTruePeakDb ?? null,
    rangeLu: sourceRangeLu ?? null,
  };
}

/** One of an earlier choice of tracks is left out. The source is measured with each sound, so any of them tells. */
export function showSounds(upload: Resource, showError: ShowError): Pick<Upload, 'loudness' | 'sounds'> {
  const found = (upload.status?.renditions ?? []).flatMap(({ profile }) => {
    const target = parseSoundProfile(profile);
    const rendition = target && findRendition(upload, profile);
    return rendition ? [{ ...rendition, target }] : [];
  });
  const measured = found.find(({ state, loudness }) => state === 'ready' && loudness)?.loudness;
  const sounds = found.map(({ target, state, loudness, error }): Sound => {
    const { gainDb = null, integratedLufs = null, truePeakDb = null, limitedBy = null } = loudness ?? {};
    return {
      ...target,
      state,
      gainDb,
      integratedLufs,
      truePeakDb,
      limitedBy,
      error: error ? showError(error) : null,
    };
  });
  return { loudness: measured ? showLoudness(measured) : null, sounds };
}
