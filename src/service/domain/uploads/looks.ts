/** Shows what was made of an upload with the overlays of streams, and the cards of a song. Pure: no I/O, no clock. */
import { parseCardProfile } from '../../../core/resources/upload/card.ts';
import { parseLookProfile } from '../../../core/resources/upload/look.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { findRendition } from '../../../core/resources/upload/spec.ts';
import type { Upload } from './record.ts';
import type { ShowError } from './sounds.ts';

type Shown = Upload['looks'];

/** One of an earlier choice of tracks is left out. `parse` returns the quality of what is shown; undefined for anything else. */
function listMade(upload: Resource, showError: ShowError, parse: (profile: string) => string | undefined): Shown {
  return (upload.status?.renditions ?? []).flatMap(({ profile: name }) => {
    const profile = parse(name);
    const made = profile === undefined ? undefined : findRendition(upload, name);
    if (profile === undefined || !made) return [];
    return [{ profile, state: made.state, error: made.error ? showError(made.error) : null }];
  });
}

export const showLooks = (upload: Resource, showError: ShowError): { looks: Shown; cards: Shown } => ({
  looks: listMade(upload, showError, (profile) => parseLookProfile(profile)?.profile),
  cards: listMade(upload, showError, parseCardProfile),
});
