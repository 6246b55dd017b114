/** Checks the tracks that a client chooses for an upload, before the file is known. Pure: no I/O, no clock. */

import { SENTENCES } from '../../../core/lib/sentences.ts';
import type { TrackChoice } from '../../../core/resources/upload/spec.ts';
import { validationFailed } from '../../lib/errors.ts';

export const hasChoice = (tracks: TrackChoice | undefined): boolean => Object.keys(tracks ?? {}).length > 0;

/** Throws `validation_failed` for a choice that no file can have. `path`: JSON pointer to the choice. */
export function checkChoice({ audio, audioRight }: TrackChoice = {}, path: string): void {
  if (audioRight !== undefined && (audio === undefined || audio === audioRight))
    throw validationFailed([{ path: `${path}/audioRight`, message: SENTENCES.rightSide }]);
}
